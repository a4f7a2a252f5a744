"""What one attempt puts on the wire and gives back."""

import asyncio
import logging
import re
import sys

import pytest

from gateway_core import Endpoint, Secret, __version__
from gateway_core.errors import ConfigError, DestinationUnusable, ProviderError
from gateway_core.outbound import Outbound
from gateway_core.outbound.head import HeadWriter
from gateway_core.time_limits import TimeLimit

pytestmark = pytest.mark.anyio
BODY = b'{"model":"m","questions":{}}'


async def test_a_request_carries_body_headers_and_our_own_user_agent(serve, sender) -> None:
    async with serve() as server:
        reply = await sender.send(
            "POST", server.url("/a b?c=d e"), headers={"X-One": "1"}, body=BODY
        )
    request = server.requests[0]
    assert request.line == "POST /a%20b?c=d%20e HTTP/1.1"
    assert request.body == BODY
    assert request.headers == {
        "host": f"127.0.0.1:{server.port}",
        "user-agent": f"s1gw/{__version__}",
        "accept-encoding": "gzip, deflate, zstd",
        "x-one": "1",
        "content-length": str(len(BODY)),
    }
    assert (reply.status, reply.body) == (200, b"{}")
    assert reply.headers == {"content-type": "application/json", "content-length": "2"}


async def test_a_get_without_body_has_no_content_length(serve, sender) -> None:
    async with serve() as server:
        await sender.send("GET", server.url(), headers={}, body=b"")
        await sender.send("POST", server.url(), headers={}, body=b"")
    assert "content-length" not in server.requests[0].headers
    assert server.requests[1].headers["content-length"] == "0"


async def test_the_endpoints_headers_win_and_its_secrets_are_sent(serve, outbound) -> None:
    endpoint = Endpoint(headers={"X-Team": "blue", "api-key": Secret("hush-hush")})
    sender = outbound.sender(endpoint)
    async with serve() as server:
        await sender.send("POST", server.url(), headers={"x-team": "red"}, body=BODY)
    assert server.requests[0].headers["x-team"] == "blue"
    assert server.requests[0].headers["api-key"] == "hush-hush"
    assert "hush-hush" not in f"{sender!r} {outbound!r}"


@pytest.mark.parametrize(
    "name",
    ["host", "Content-Length", "transfer-encoding", "connection", "te", "user-agent", "expect"],
)
async def test_a_call_cannot_replace_what_frames_the_message(serve, sender, name) -> None:
    async with serve() as server:
        await sender.send("POST", server.url(), headers={name: "evil"}, body=BODY)
        # The second time, it is known which of these names go upstream.
        await sender.send("POST", server.url(), headers={name: "evil"}, body=BODY)
    assert "evil" not in server.requests[0].headers.values()
    assert server.requests[1].headers == server.requests[0].headers


@pytest.mark.parametrize(
    "headers",
    [{"x": "a\r\nb: c"}, {"x": "a\nb"}, {"x": "a\rb"}, {"x": "a\0"}, {"x y": "z"}, {"x": "\u20ac"}],
)
async def test_a_header_that_http_forbids_is_refused_before_anything_is_sent(
    serve, sender, headers
) -> None:
    async with serve() as server:
        for _ in range(2):
            with pytest.raises(ProviderError):
                await sender.send("POST", server.url(), headers=headers, body=BODY)
    assert server.connections == 0


async def test_a_header_that_http_forbids_is_refused_after_a_good_one_of_its_name(
    serve, sender
) -> None:
    async with serve() as server:
        await sender.send("POST", server.url(), headers={"x": "%s", "y%d": "1"}, body=BODY)
        for bad in ("a\r\nb: c", "a\n", "\ra", "a\0", "\u20ac"):
            with pytest.raises(ProviderError):
                await sender.send("POST", server.url(), headers={"x": bad, "y%d": "1"}, body=BODY)
    assert len(server.requests) == 1
    assert (server.requests[0].headers["x"], server.requests[0].headers["y%d"]) == ("%s", "1")


async def test_a_header_that_is_named_twice_in_different_case_is_sent_once_as_named_last() -> None:
    headers = HeadWriter({})
    twice = {"content-type": "application/json", "x": "1", "Content-Type": "text/plain"}
    for _ in range(2):
        head = headers.head(headers.prefix("POST", "/", "h"), twice, 0)
        assert head.lower().count(b"content-type:") == 1
        assert b"content-type: text/plain\r\n" in head


async def test_any_number_of_sets_of_headers_can_be_sent(serve, sender) -> None:
    async with serve() as server:
        for number in range(200):
            name = f"x-{number % 100}"
            await sender.send("POST", server.url(), headers={name: f"{number}"}, body=BODY)
    assert [
        next(value for name, value in request.headers.items() if name.startswith("x-"))
        for request in server.requests
    ] == [str(number) for number in range(200)]


@pytest.mark.parametrize(
    "headers",
    [
        {"x": "a\nb"},
        {"x y": "z"},
        {"x": "\u20ac"},
        {"Content-Length": "1"},
        {"Content-Type": "a/b"},
    ],
)
async def test_an_impossible_configured_header_names_itself(outbound, headers) -> None:
    with pytest.raises(
        ConfigError, match=re.compile(f"headers.{next(iter(headers))}", re.IGNORECASE)
    ):
        outbound.sender(Endpoint(headers=headers))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://h/",
        "h/v1",
        "http://",
        "http://h:99999/",
        "http://h:0/",
        "http://user:pw@h/",
        "http://[::1/",
        "http://a b/",
        "http://h%41/",
        "http://\ud800/",
        "http://h/\ud800",
        "http://../",
    ],
)
async def test_an_unusable_url_is_told_apart(sender, url) -> None:
    with pytest.raises(DestinationUnusable):
        await sender.send("GET", url, headers={}, body=b"")


async def test_an_attempt_that_runs_out_of_time_closes_its_connection(serve, sender) -> None:
    async def silent(request, writer) -> None:
        await request.gone()

    async with serve(silent) as server:
        with pytest.raises(TimeoutError), TimeLimit(0.05):
            await sender.send("POST", server.url(), headers={}, body=BODY)
        await server.closed.wait()


async def test_nothing_of_a_request_is_logged(serve, sender, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    async with serve() as server:
        await sender.send(
            "POST", server.url("/path-mark"), headers={"x": "head-mark"}, body=b"body-mark"
        )
    assert "-mark" not in caplog.text


async def test_importing_the_package_imports_no_httpx() -> None:
    code = "import sys, gateway_core.outbound; sys.exit('httpx' in sys.modules)"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    assert await process.wait() == 0


async def test_two_environments_never_mix() -> None:
    environ = {"HTTP_PROXY": "http://127.0.0.1:1"}
    before = dict(environ)
    await Outbound(environ).aclose()
    assert environ == before
