"""The provider under test: how it is built, and what its upstream answers."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import attrs

from gateway_core.context import Endpoint, Sender
from gateway_core.outbound import Outbound
from gateway_core.provider import Provider, build_provider
from gateway_core.secret import Secret
from gateway_core.testing.answers import standard_answer, wrapped
from gateway_core.testing.checks.check import Needs
from gateway_core.testing.checks.ways_out import NoWayOut, WatchedSender
from gateway_core.testing.messages import Received, Reply
from gateway_core.testing.upstream import ScriptedUpstream
from gateway_core.types import DecisionReply, DecisionRequest, Operation
from gateway_core.urls import IN_PROCESS
from gateway_core.wire import Answer, Question, encode, read, wire_format

KEY: Final = Secret("s1gw-kit-key-7d3f19")
PATH: Final = "/team/a"
"""The path of the base URL: a provider that drops it cannot live behind a proxy's path."""
MODEL: Final = "kit-model"
_PATIENCE_S: Final = 60.0
"""A model in process takes its time on a busy machine, in seconds."""


def header_holds(received: Received, key: Secret) -> bool:
    """Say whether one of the headers holds ``key`` as it is."""
    return any(key.reveal() in value for value in received.headers.values())


@attrs.frozen(kw_only=True)
class Subject:
    """One provider class, with what it takes to build it.

    Attributes:
        provider_class: the class that the entry point names.
        dialect: the entry point's name.
        settings: the provider's own settings.
        models: the configured models.
        relaying: whether bodies pass through as they are, both ways.
        answer: what the upstream answers to a request, in the upstream's own format; of one that
            relays, the object that stands under the capabilities' ``reply_path``.
        carries: whether a request was made with a key.
        kept: what was found out about it once, for all checks.
    """

    provider_class: type
    dialect: str
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    models: tuple[str, ...] = (MODEL,)
    relaying: bool = True
    answer: Callable[[Received], Reply] = standard_answer
    carries: Callable[[Received, Secret], bool] = header_holds
    kept: dict[object, Any] = attrs.field(factory=dict, eq=False, repr=False)

    def build(
        self,
        sender: Sender | None = None,
        *,
        base_url: str = f"https://kit.example{PATH}",
        key: Secret | None = KEY,
        settings: Mapping[str, Any] | None = None,
    ) -> Provider:
        """Build the provider as the host does; without a sender it cannot send."""
        return build_provider(
            self.provider_class,
            name="subject",
            dialect=self.dialect,
            endpoint=Endpoint(base_url=base_url, api_key=key, models=self.models),
            settings=self.settings if settings is None else settings,
            sender=NoWayOut() if sender is None else sender,
        )

    @property
    def missing(self) -> Mapping[Needs, str]:
        """What checks may need and this provider does not have, with the reason."""
        if self.is_inside:
            sending = (Needs.ADDRESS, Needs.UPSTREAM, Needs.RELAYING)
            return dict.fromkeys(sending, "it answers in process")
        missing = {Needs.INSIDE: "it asks an upstream"}
        if not self.relaying:
            missing[Needs.RELAYING] = "its upstream speaks a format of its own"
        return missing

    @property
    def is_inside(self) -> bool:
        """Whether it answers in process; one that cannot even be built does not."""
        if "inside" not in self.kept:
            self.kept["inside"] = self._found_inside()
        return bool(self.kept["inside"])

    def _found_inside(self) -> bool:
        try:
            return self.build().url(Operation.DECIDE).startswith(IN_PROCESS)
        # What is wrong with the class is told by the check that builds it.
        except Exception:  # noqa: BLE001
            return False


@attrs.frozen(kw_only=True)
class Bench:
    """A provider, the scripted upstream that it talks to, and its way there."""

    subject: Subject
    provider: Provider
    upstream: ScriptedUpstream
    sender: WatchedSender

    def reply(self, received: Received) -> Reply:
        """Return what the upstream answers to a request, wrapped as the capabilities say."""
        return self.wrapped(self.subject.answer(received))

    def wrapped(self, reply: Reply) -> Reply:
        """Put a reply's object under ``reply_path``, where replies pass as they are."""
        path = self.provider.capabilities.reply_path if self.subject.relaying else ()
        return wrapped(reply, path)

    @property
    def upstream_sends(self) -> list[str]:
        """The URLs of the upstream to which something went by the host's way."""
        return [url for url in self.sender.sent if url.startswith(f"{self.upstream.url}/")]

    @property
    def body(self) -> bytes:
        """A decision body in the provider's format."""
        question = Question(text="Which team?", options=("sales", "billing"))
        return encode(question, self.model, self.provider.capabilities)

    @property
    def model(self) -> str:
        """The first configured model."""
        return self.provider.model

    async def ask(
        self, body: bytes | None = None, *, timeout_s: float = _PATIENCE_S, **fields: Any
    ) -> DecisionReply:
        """Ask the provider as the host does; ``fields`` are more of the request's."""
        wire = wire_format(self.provider.capabilities)
        fields = {"model": self.model, "body": self.body if body is None else body, **fields}
        return await self.provider.ask(DecisionRequest(format=wire, **fields), timeout_s)

    async def answer(self, question: Question) -> Answer:
        """Put a question as the decide chain does, and read the answer."""
        capabilities = self.provider.capabilities
        reply = await self.ask(encode(question, self.model, capabilities))
        return read(reply.body, question, capabilities)


@asynccontextmanager
async def bench(subject: Subject, *, key: Secret | None = KEY) -> AsyncIterator[Bench]:
    """Start an upstream that answers as ``subject`` says, and a provider that knows it."""
    outbound = Outbound(environ={})
    with ScriptedUpstream() as upstream:
        try:
            sender = WatchedSender(outbound.sender(Endpoint(), policy=None), upstream.url)
            base_url = upstream.url + PATH
            provider = subject.build(sender, base_url=base_url, key=key)
            on = Bench(subject=subject, provider=provider, upstream=upstream, sender=sender)
            upstream.answer(on.reply)
            yield on
        finally:
            await outbound.aclose()
