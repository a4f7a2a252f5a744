"""A client is made to wait while too much of its body is unread, and only then."""

import asyncio

import pytest

from gateway_core.servers.http.body import HIGH_WATER, RequestBody

pytestmark = pytest.mark.anyio
PIECE = b"x" * (HIGH_WATER // 2 + 1)


class Client:
    """Counts how often it is made to wait."""

    def __init__(self) -> None:
        self.held = 0

    def hold(self) -> None:
        self.held += 1

    def proceed(self) -> None: ...


async def test_a_client_whose_body_is_read_as_it_comes_is_never_held() -> None:
    client = Client()
    body = RequestBody(client)
    for _ in range(10):
        body.feed(PIECE)
        async with asyncio.timeout(30):
            assert await body.more() == [PIECE]
    assert client.held == 0


async def test_a_client_whose_body_nobody_reads_is_held() -> None:
    client = Client()
    body = RequestBody(client)
    body.feed(PIECE)
    assert client.held == 0
    body.feed(PIECE)
    assert client.held == 1


async def test_what_was_read_before_does_not_count_when_reading_stops() -> None:
    client = Client()
    body = RequestBody(client)
    body.feed(PIECE)
    await body.more()
    body.feed(PIECE)
    assert client.held == 0
    body.feed(PIECE)
    assert client.held == 1
