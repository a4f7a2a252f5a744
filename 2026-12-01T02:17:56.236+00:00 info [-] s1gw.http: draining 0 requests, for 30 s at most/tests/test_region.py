"""The region travels with every question."""

import asyncio

from gateway_core.testing import Subject, bench
from gateway_core.wire import Question

from s1gw_acme import AcmeProvider

SUBJECT = Subject(provider_class=AcmeProvider, dialect="acme", settings={"region": "us"})


def test_the_region_is_sent() -> None:
    async def ask() -> str:
        async with bench(SUBJECT) as on:
            await on.answer(Question(text="Urgent?"))
            return on.upstream.requests[0].headers["x-acme-region"]

    assert asyncio.run(ask()) == "us"
