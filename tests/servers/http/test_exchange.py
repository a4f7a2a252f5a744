"""What is shown of a request."""

from typing import cast

from gateway_core.http1.head import Head
from gateway_core.servers.http.body import BodySource, RequestBody
from gateway_core.servers.http.exchange import open_exchange


def test_a_request_is_shown_without_its_headers_and_its_body() -> None:
    headers = {b"authorization": b"Bearer never-log-this"}
    head = Head("POST", "/v1/systemone", headers, keep_alive=True)
    body = RequestBody(cast("BodySource", None))
    body.feed(b"never-log-this")
    assert repr(head) == "Head(POST /v1/systemone, 1 headers)"
    assert "never-log-this" not in repr(open_exchange(head, "192.0.2.1", body))
