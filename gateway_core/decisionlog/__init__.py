"""The decision log: what was asked of whom and how sure it was, kept locally when switched on.

Content is left out unless the configuration asks for it; what stands in its place are digests
that are keyed with a secret of the log, so that a guess at a question cannot be confirmed from
an export. Logged answers are for measuring and calibrating.
"""
