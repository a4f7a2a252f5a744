"""The line of the access log: what is noted of one request as it goes through the gateway."""

from time import perf_counter, time
from typing import Final

import msgspec

from gateway_core.causes import Cause
from gateway_core.logs import stamp

ACCESS_LOGGER: Final = "s1gw.access"


def elapsed_ms(started: float) -> float:
    """Return the milliseconds since ``started`` on ``perf_counter``'s clock, to the microsecond."""
    # Cutting whole microseconds off takes a quarter of the time of rounding to them.
    return int(1e6 * (perf_counter() - started)) / 1000


def _now() -> str:
    return stamp(time())


class AccessEntry(msgspec.Struct, kw_only=True, eq=False, gc=False):
    """What is told of one request afterwards; filled as far as the request comes.

    It never holds a body, a credential or an address. The access log's line in JSON has these
    fields, in this order.

    Attributes:
        time: when it came.
        level: the importance of its line.
        request_id: the id that is on the reply as well.
        logger: the name of the log.
        method: the HTTP method.
        route: the path asked for.
        status: the reply's HTTP status.
        code: the code of the reply's error envelope, if it is one.
        key: the id of the caller's key, which is not the key.
        org: the caller's organization.
        dialect: the plugin's dialect that answered.
        provider: the id of the provider that was asked.
        model: the model that the caller named, or the beginning of what it sent as one.
        sent_model: the model that went upstream.
        upstream_status: the upstream's HTTP status.
        cause: why the provider failed, if it did; see ``Cause``.
        bytes_in: the size of the request's body as it came.
        bytes_out: the size of the reply's body.
        latency_ms: from the request's head to the reply's last byte, in milliseconds to the
            microsecond.
        upstream_ms: the time the provider took, likewise.
        input_tokens: from the reply's usage.
        output_tokens: from the reply's usage.
    """

    time: str = msgspec.field(default_factory=_now)
    level: str = "info"
    request_id: str = "-"
    logger: str = ACCESS_LOGGER
    method: str = "-"
    route: str = "-"
    status: int = 0
    code: str | None = None
    key: str | None = None
    org: str | None = None
    dialect: str | None = None
    provider: str | None = None
    model: str | None = None
    sent_model: str | None = None
    upstream_status: int | None = None
    cause: Cause | None = None
    bytes_in: int = 0
    bytes_out: int = 0
    latency_ms: float = 0.0
    upstream_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
