"""What a caller may see of an upstream's message: schema words stay, content becomes ``[…]``."""

from gateway_core.outbound.redaction.codes import published_code, shown_param
from gateway_core.outbound.redaction.redact import GENERAL, MAX_LENGTH, Sent, redact

__all__ = ["GENERAL", "MAX_LENGTH", "Sent", "published_code", "redact", "shown_param"]
