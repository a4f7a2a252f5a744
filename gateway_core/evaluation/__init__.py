"""From labelled examples to evidence: fits, thresholds, comparisons and a report.

The numerics are those of numpy and scipy, which come with the extra ``s1gw[calibration]``.
"""
