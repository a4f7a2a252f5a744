"""A process that decodes and checks large bodies: ``python -m ... DESCRIPTOR``.

It ends with the process that started it: then its channel ends. Nothing that is in a body leaves
it but the name of the model.
"""

import json
import os
import socket
import sys
from typing import Final

import msgspec

from gateway_core.door.bodies import BodyLimit, decoded
from gateway_core.errors import RelayRefused
from gateway_core.relay.body import read_body
from gateway_core.relay.large.job import CheckedBody, Job, receive_message, send_message
from gateway_core.relay.large.spool import read_all, write_all
from gateway_core.relay.members import member_place

_NICENESS: Final = 5
"""Small requests, which the gateway's own process answers, come first."""
_LONGEST_MODEL: Final = 1_000_000
_jobs: Final = msgspec.json.Decoder(Job)


def check(job: Job, file: int, out: int) -> CheckedBody:
    """Decode and check the body in ``file``; write it to ``out`` if it was encoded.

    Raises:
        RelayRefused: it is not what it has to be.
    """
    limit = BodyLimit(job.limit, job.limit_set_by)
    content = decoded(read_all(file, job.size), job.encoding, limit)
    if job.encoding:
        write_all(out, content)
    return _decision(content, job.content_type) if job.decision else CheckedBody(size=len(content))


def _decision(content: bytes, content_type: str) -> CheckedBody:
    body = read_body(content, content_type)
    if len(body.model) > _LONGEST_MODEL:
        raise RelayRefused("invalid_request", "the model's name is too long", "model")
    start, end = member_place("model", body.json, body.members)
    return CheckedBody(
        size=len(content),
        format=body.format,
        model=json.dumps(body.model),
        place=(body.start + start, body.start + end),
        multipart=body.multipart,
    )


def _answer(job: Job, file: int, out: int) -> CheckedBody:
    try:
        return check(job, file, out)
    except RelayRefused as error:
        return CheckedBody(
            reason=error.reason,
            message=str(error),
            field=error.field,
            headers=dict(error.headers),
        )


def main(channel: socket.socket) -> None:
    """Check one body after the other until the channel ends."""
    os.nice(_NICENESS)
    while True:
        try:
            message, files = receive_message(channel, files=2)
        except EOFError:
            return
        try:
            send_message(channel, _answer(_jobs.decode(message), *files))
        finally:
            for file in files:
                os.close(file)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
