"""Bodies that do not come whole in one piece: taken in within bounds, decoded and checked."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from gateway_core.door.access import AccessEntry
from gateway_core.door.bodies import BodyLimit, IncomingBody, decoded, decoder_of, too_large
from gateway_core.errors import RelayRefused
from gateway_core.http1.messages import Headers
from gateway_core.relay.body import DecisionBody, read_body
from gateway_core.relay.large.checking import Checkers
from gateway_core.relay.large.held import Held, Share
from gateway_core.relay.large.job import CheckedBody, Job
from gateway_core.relay.large.spool import SMALL, Spool
from gateway_core.types import Format

_ROOM: Final = 16 * 1024
_NO_CODING: Final = ("", "identity")


class Intake:
    """Takes bodies in.

    A small one is decoded and checked at once. A large one is left to another process: that work
    takes as long as the client wants, and the event loop has others to serve.
    """

    def __init__(self, most_held: int, checkers: Checkers | None = None) -> None:
        """Hold at most ``most_held`` bytes of bodies at once."""
        self._held = Held(most_held)
        self._checkers = checkers or Checkers()

    @property
    def held(self) -> int:
        """The bytes of bodies that are held now."""
        return self._held.sum

    async def aclose(self) -> None:
        """End the processes that check bodies."""
        await self._checkers.aclose()

    @asynccontextmanager
    async def whole(
        self,
        tenant: str,
        headers: Headers,
        body: IncomingBody,
        limit: BodyLimit,
        access: AccessEntry,
    ) -> AsyncIterator[bytes]:
        """A block with a whole body, decoded; it counts as held while the block runs.

        Args:
            tenant: whose body it is.
            headers: the request's.
            body: what comes in.
            limit: how large it may be.
            access: what is noted of the request.

        Raises:
            RelayRefused: ``request_too_large``, ``unsupported_content_encoding``,
                ``invalid_request``, or ``provider_overloaded``.
        """
        async with self._taken(tenant, headers, body, limit, access, decision=False) as taken:
            yield taken[1]

    @asynccontextmanager
    async def decision(
        self,
        tenant: str,
        headers: Headers,
        body: IncomingBody,
        limit: BodyLimit,
        access: AccessEntry,
    ) -> AsyncIterator[DecisionBody]:
        """A block with a decision body, as ``whole`` gives it, that was checked."""
        async with self._taken(tenant, headers, body, limit, access, decision=True) as taken:
            found, content = taken
            if found is None:
                yield read_body(content, _text(headers, b"content-type"))
            else:
                yield _large_body(found, content)

    @asynccontextmanager
    async def _taken(
        self,
        tenant: str,
        headers: Headers,
        body: IncomingBody,
        limit: BodyLimit,
        access: AccessEntry,
        *,
        decision: bool,
    ) -> AsyncIterator[tuple[CheckedBody | None, bytes]]:
        encoding = _text(headers, b"content-encoding").strip().lower()
        encoding = "" if encoding in _NO_CODING else encoding
        # What cannot be undone is refused before it is read.
        decoder_of(encoding)
        _check_length(headers, limit)
        spool = Spool()
        with self._held.share(tenant, spool.close) as share:
            try:
                await _collect(body, spool, share, limit, access)
                content = _small(spool, encoding, limit)
                if content is not None:
                    spool.close()
                    share.grow(len(content))
                    yield None, content
                    return
            except BaseException:
                spool.close()
                raise
            job = Job(
                size=spool.size,
                limit=limit.most,
                limit_set_by=limit.set_by,
                encoding=encoding,
                content_type=_text(headers, b"content-type"),
                decision=decision,
            )
            found, content = await self._checkers.check(tenant, spool, job)
            share.grow(found.size)
            yield found, content


async def _collect(
    body: IncomingBody, spool: Spool, share: Share, limit: BodyLimit, access: AccessEntry
) -> None:
    while pieces := await body.more():
        for piece in pieces:
            access.bytes_in += len(piece)
            if access.bytes_in > limit.most:
                raise too_large(limit)
            if access.bytes_in > share.size:
                # Counting every piece of a body that comes byte by byte would take long.
                share.grow(access.bytes_in + _ROOM)
            spool.add(piece)
    share.settle()


def _small(spool: Spool, encoding: str, limit: BodyLimit) -> bytes | None:
    """Return a body decoded, if both what came in and what comes out is small."""
    if spool.size > SMALL:
        return None
    try:
        return decoded(spool.content(), encoding, limit._replace(most=min(limit.most, SMALL)))
    except RelayRefused as error:
        if error.reason == "request_too_large" and limit.most > SMALL:
            return None
        raise


def _check_length(headers: Headers, limit: BodyLimit) -> None:
    declared = headers.get(b"content-length")
    if declared is not None and declared.isdigit() and int(declared[-18:]) > limit.most:
        raise too_large(limit)


def _large_body(checked: CheckedBody, content: bytes) -> DecisionBody:
    model: str = json.loads(checked.model)
    return DecisionBody(
        content=content,
        json=b"" if checked.multipart else content,
        format=Format(checked.format),
        model=model,
        members={},
        place=checked.place,
    )


def _text(headers: Headers, name: bytes) -> str:
    return headers.get(name, b"").decode("latin-1")
