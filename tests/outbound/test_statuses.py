"""Each status means one error, and brings along what the upstream said."""

import json

import pytest

from gateway_core.errors import (
    KeyRejected,
    ModelNotFound,
    Overloaded,
    PaymentRequired,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    RequestTooLarge,
    UpstreamRejected,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (300, ProviderError),
        (301, ProviderError),
        (302, ProviderError),
        (304, ProviderError),
        (307, ProviderError),
        (308, ProviderError),
        (400, UpstreamRejected),
        (401, KeyRejected),
        (402, PaymentRequired),
        (403, KeyRejected),
        (404, ModelNotFound),
        (405, ProviderError),
        (407, ProviderError),
        (408, ProviderTimeout),
        (409, ProviderError),
        (412, ProviderError),
        (413, RequestTooLarge),
        (415, ProviderError),
        (422, UpstreamRejected),
        (429, RateLimited),
        (500, ProviderError),
        (501, ProviderError),
        (502, ProviderError),
        (503, Overloaded),
        (504, ProviderTimeout),
        (524, ProviderError),
        (529, Overloaded),
        (599, ProviderError),
    ],
)
async def test_a_status_becomes_its_error(serve, sender, status, error) -> None:
    body = b"" if status == 304 else json.dumps({"detail": "said-by-upstream"}).encode()
    head = f"HTTP/1.1 {status} X\r\nretry-after: 287441\r\nx-typesafe-request-id: r1\r\n"
    reply = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
    async with serve(reply) as server:
        for _ in range(2):
            with pytest.raises(ProviderError) as caught:
                await sender.send("POST", server.url(), headers={}, body=b"{}")
    assert type(caught.value) is error
    assert caught.value.status == status
    assert caught.value.retry_after == "287441"
    assert caught.value.headers["x-typesafe-request-id"] == "r1"
    assert caught.value.upstream_message == (None if status == 304 else "said-by-upstream")
    assert "said-by-upstream" not in str(caught.value)
    assert str(status) in str(caught.value)
    assert server.connections == 1


@pytest.mark.parametrize("status", [200, 201, 202, 206, 299])
async def test_every_2xx_is_a_reply(serve, sender, status) -> None:
    async with serve(f"HTTP/1.1 {status} X\r\ncontent-length: 2\r\n\r\n[]".encode()) as server:
        reply = await sender.send("POST", server.url(), headers={}, body=b"{}")
    assert (reply.status, reply.body) == (status, b"[]")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_the_target_of_a_redirect_is_never_contacted(serve, sender, status) -> None:
    async with serve() as target:
        location = target.url("/steal")
        reply = f"HTTP/1.1 {status} X\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n"
        async with serve(reply.encode()) as server:
            with pytest.raises(ProviderError, match="upstream redirected"):
                await sender.send("POST", server.url(), headers={}, body=b"{}")
    assert target.connections == 0
