"""Checks of what a provider sends, and of what it makes of the reply."""

import asyncio
from typing import Final
from urllib.parse import urlsplit

from gateway_core.errors import KeyMissing, ProviderError
from gateway_core.secret import Secret
from gateway_core.testing.checks.check import Needs, RuleError, check, require
from gateway_core.testing.checks.subject import KEY, Bench, Subject, bench
from gateway_core.testing.checks.tour import toured
from gateway_core.testing.messages import Received, Reply
from gateway_core.types import DecisionRequest, Operation
from gateway_core.wire import wire_format

_OTHER: Final = Secret("s1gw-kit-other-key-b20c")
_PATIENCE_S: Final = 20.0
_LONG: Final = 300_000
_SPELLED: Final = (
    b' {"questions" : {}, "n":1E400, "big":18446744073709551616, "n":2, "s":"\\ud800 \xc3\xa9"}\n'
)


@check(
    "One decision is one request, to the very URL that the host vetted, and nowhere else.",
    why="Another URL may be one that the policy forbids; a second request is paid for twice.",
    needs=Needs.UPSTREAM,
)
def one_request_goes_to_the_given_url(subject: Subject) -> None:
    """The URL is another than ``build_url`` gives, so that rebuilding it shows.

    It holds when an upstream refuses, too. What goes out by another way than the host's is for
    ``everything_goes_the_hosts_way`` to find.
    """
    asyncio.run(_one_request(subject))
    elsewhere = sorted(set(toured(subject).decided_elsewhere))
    require(not elsewhere, f"it sent something to {', '.join(elsewhere)}")


async def _one_request(subject: Subject) -> None:
    async with bench(subject) as on:
        request = DecisionRequest(
            format=wire_format(on.provider.capabilities), body=on.body, model=on.model
        )
        await on.provider.hooks.decide(request=request, url=f"{on.upstream.url}/vetted")
        targets = [url.replace(on.upstream.url, "") for url in on.sender.sent]
    require(targets in ([], ["/vetted"]), f"it sent to {', '.join(targets)}")
    methods = {sent.method for sent in on.upstream.requests}
    require(methods == {"POST"}, f"it sent {', '.join(methods) or 'nothing'}")


@check(
    "The body goes upstream byte for byte.",
    why="Rewritten numbers, escapes, duplicate keys or key order change what a caller asked.",
    needs=Needs.RELAYING,
)
async def the_body_goes_as_given(subject: Subject) -> None:
    """With spaces, repeated keys and numbers that parsing would lose; and one that is long."""
    async with bench(subject) as on:
        on.upstream.answer(Reply(body={}))
        for body in (_SPELLED, _SPELLED + b" " * _LONG):
            await on.ask(body)
            require(on.upstream.requests[-1].body == body, "the upstream received other bytes")


@check(
    "The content type and the allowed headers of the request go along.",
    why="Images travel as multipart, and features are switched on by headers.",
    needs=Needs.RELAYING,
)
async def content_type_and_headers_go_along(subject: Subject) -> None:
    """``request.content_type`` and ``request.headers`` are part of what is asked."""
    kind = "multipart/form-data; boundary=kit"
    async with bench(subject) as on:
        on.upstream.answer(Reply(body={}))
        await on.ask(content_type=kind, headers={"x-kit-feature": "on"})
        headers = on.upstream.requests[-1].headers
        require(headers.get("content-type") == kind, "the content type was another")
        require(headers.get("x-kit-feature") == "on", "an allowed header did not arrive")


@check(
    "The configured key goes in a header, and nowhere else.",
    why="Without it the upstream refuses; in a URL or a body it would be logged and stored.",
    needs=Needs.UPSTREAM,
)
async def the_key_goes_in_a_header(subject: Subject) -> None:
    """In whichever header the upstream reads; of a provider that signs, what is made with it."""
    async with bench(subject) as on:
        await on.ask()
        received = on.upstream.requests[-1]
        require(subject.carries(received, KEY), "no header holds the key")
        require(KEY.reveal() not in received.path, "the URL holds the key")
        require(KEY.reveal().encode() not in received.body, "the body holds the key")


@check(
    "A key that comes with the call is used in place of the configured one.",
    why="One customer's call must never be made with another's credential.",
    needs=Needs.UPSTREAM,
)
async def the_key_of_the_call_is_used(subject: Subject) -> None:
    """``context.api_key(request)`` gives the right one."""
    async with bench(subject) as on:
        await on.ask(api_key=_OTHER)
        first = on.upstream.requests[-1]
        await on.ask()
        second = on.upstream.requests[-1]
        require(subject.carries(first, _OTHER), "the key of the call was not sent")
        require(not subject.carries(first, KEY), "the configured key was sent as well")
        require(not subject.carries(second, _OTHER), "the key of one call was sent with the next")


@check(
    "Without a key, a keyless provider sends no credential, and any other sends nothing.",
    why="An empty credential is refused in confusing ways, and content must not leave in vain.",
    needs=Needs.UPSTREAM,
)
async def no_key_means_no_credential(subject: Subject) -> None:
    """``context.required_api_key(request)`` raises the right error."""
    async with bench(subject) as on:
        await on.ask()
        headers = on.upstream.requests[-1].headers
        usual = {"authorization", *(name for name in headers if KEY.reveal() in headers[name])}
    async with bench(subject, key=None) as on:
        if on.provider.capabilities.keyless:
            await on.ask()
            sent = usual & on.upstream.requests[-1].headers.keys()
            require(not sent, f"it sent {', '.join(sorted(sent))}")
            return
        try:
            await on.ask()
        except KeyMissing:
            require(not on.upstream.requests, "it sent a request without the key it needs")
        except ProviderError as error:
            raise RuleError(f"it raised {type(error).__name__} instead of KeyMissing") from error
        else:
            raise RuleError("it is not keyless, and asked without a key")


@check(
    "The reply comes back as it came: bytes, status and headers.",
    why="The relay promises unchanged bytes, and clients read limits and ids from headers.",
    needs=Needs.RELAYING,
)
async def the_reply_comes_back_as_it_came(subject: Subject) -> None:
    """With spellings that parsing would lose, and a header of the upstream's own."""
    body = b' {"answers" : {}, "x": 1E2, "x": 1.50} '
    async with bench(subject) as on:
        on.upstream.answer(Reply(body=body, headers={"X-Kit-Reply": "as it is"}))
        reply = await on.ask()
        require(reply.body == body, "the body is another")
        require(reply.status == 200, f"the status is {reply.status}")
        require(reply.headers.get("x-kit-reply") == "as it is", "a header of the reply is gone")


@check(
    "The probe asks for no decision.",
    why="Health is asked often; a probe that decides is paid for, and counts against limits.",
    needs=Needs.UPSTREAM,
)
async def the_probe_decides_nothing(subject: Subject) -> None:
    """A GET of the same path is a probe all the same."""
    async with bench(subject) as on:
        await on.provider.probe(_PATIENCE_S)
        require(not _decisions(on), "it posted to the decision URL")


def _decisions(on: Bench) -> list[Received]:
    path = urlsplit(on.provider.url(Operation.DECIDE)).path
    return [sent for sent in on.upstream.requests if sent.method == "POST" and sent.path == path]


@check(
    "A probe whose every request fails does not say that all is well.",
    why="A health check that cannot fail hides the outage that it is there to find.",
    needs=Needs.UPSTREAM,
)
async def the_probe_notices_a_failure(subject: Subject) -> None:
    """A provider that has nothing free to ask may send nothing, and say so."""
    async with bench(subject) as on:
        on.upstream.answer(Reply(status=500, body={}))
        result = await on.provider.probe(_PATIENCE_S)
        require(not on.upstream.requests or not result.ok, f"it said {result.detail!r}")
