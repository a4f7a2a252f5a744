"""Where the JSON stands in a multipart System One request.

Images travel as ``multipart/form-data`` (RFC 7578) whose first part, ``request``, is the JSON.
The form is read strictly, since whatever two readers see differently is a way past the checks.
"""

import re
from email.message import Message
from email.parser import BytesHeaderParser
from typing import Final

from gateway_core.errors import RelayRefused

_REQUEST: Final = "request"
_BOUNDARY: Final = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")
_NAME: Final = re.compile(rb";\s*name\s*([*=])", re.IGNORECASE)
_LONGEST_HEAD: Final = 8192


def request_part(content: bytes, content_type: str) -> tuple[int, int]:
    """Return where the content of the first part, ``request``, starts and ends.

    Raises:
        RelayRefused: ``invalid_request`` for anything but a well-formed form with ``request``
            as its first part and as no other.
    """
    delimiter = b"--" + _boundary(content_type)
    if not content.startswith(delimiter + b"\r\n"):
        raise _invalid("the body does not begin with the boundary of its content type")
    first = _part(content, len(delimiter) + 2, delimiter)
    if first[0] != _REQUEST:
        raise _invalid("the first part of a multipart body must be named request")
    position = first[2]
    while not content.startswith(b"\r\n" + delimiter + b"--", position):
        name, _, position = _part(content, position + len(delimiter) + 4, delimiter)
        if name.casefold() == _REQUEST:
            raise _invalid("a multipart body must have one part named request")
    return first[1], first[2]


def _boundary(content_type: str) -> bytes:
    message = Message()
    message["content-type"] = content_type
    boundary = message.get_boundary("")
    known = message.get_content_type() == "multipart/form-data"
    if not known or content_type.lower().count("boundary") != 1 + boundary.lower().count(
        "boundary"
    ):
        raise _invalid("a multipart body must be multipart/form-data with one boundary")
    if not _BOUNDARY.fullmatch(boundary):
        raise _invalid("the boundary of the content type is malformed")
    return boundary.encode("ascii")


def _part(content: bytes, start: int, delimiter: bytes) -> tuple[str, int, int]:
    """Return the name of the part at ``start``, and where its content starts and ends."""
    head_end = content.find(b"\r\n\r\n", start, start + _LONGEST_HEAD)
    end = content.find(b"\r\n" + delimiter, head_end + 2)
    if head_end < 0 or end < head_end + 4:
        raise _invalid("the multipart body is malformed")
    follows = content[end + len(delimiter) + 2 : end + len(delimiter) + 4]
    if follows not in (b"\r\n", b"--"):
        raise _invalid("the multipart body is malformed")
    return _name(content[start:head_end]), head_end + 4, end


def _name(head: bytes) -> str:
    fields = BytesHeaderParser().parsebytes(head)
    name = fields.get_param("name", header="content-disposition")
    once = len(fields.get_all("content-disposition", [])) == 1 and _NAME.findall(head) == [b"="]
    if not once or not isinstance(name, str):
        raise _invalid("a part of the multipart body has no plain name")
    if fields.get("content-transfer-encoding", "binary").lower() not in ("binary", "8bit"):
        raise _invalid("a part of the multipart body is encoded")
    return name


def _invalid(message: str) -> RelayRefused:
    return RelayRefused("invalid_request", message, "body")
