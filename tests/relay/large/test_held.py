"""What the bodies of all requests may take together, and who gives way."""

import pytest

from gateway_core.errors import RelayRefused
from gateway_core.relay.large.held import Held


def nothing() -> None:
    pass


def test_bodies_beyond_the_bound_are_refused_with_a_time_to_wait() -> None:
    held = Held(100)
    with held.share("acme", nothing) as one:
        one.grow(60)
        with held.share("acme", nothing) as two, pytest.raises(RelayRefused) as caught:
            two.grow(41)
        assert caught.value.reason == "provider_overloaded"
        assert caught.value.headers["retry-after"] == "1"
        assert held.sum == 60
    assert held.sum == 0


def test_the_tenant_with_the_most_gives_way_by_what_is_still_coming_in() -> None:
    held, dropped = Held(100), []
    with (
        held.share("large", lambda: dropped.append("used")) as used,
        held.share("large", lambda: dropped.append("first")) as first,
        held.share("large", lambda: dropped.append("last")) as last,
        held.share("small", nothing) as small,
    ):
        used.grow(40)
        used.settle()
        first.grow(30)
        last.grow(20)
        small.grow(10)
        small.grow(25)
        assert dropped == ["last"]
        with pytest.raises(RelayRefused):
            last.grow(21)
        small.grow(40)
        assert dropped == ["last", "first"]
        with pytest.raises(RelayRefused):
            first.settle()
        assert held.sum == 80
    assert held.sum == 0


def test_a_tenant_that_asks_for_more_than_all_others_have_is_refused_itself() -> None:
    held, dropped = Held(100), []
    with (
        held.share("one", lambda: dropped.append("one")) as one,
        held.share("two", nothing) as two,
    ):
        one.grow(50)
        with pytest.raises(RelayRefused):
            two.grow(51)
        two.grow(50)
    assert dropped == []


def test_what_shrinks_makes_room() -> None:
    held = Held(100)
    with held.share("one", nothing) as one, held.share("two", nothing) as two:
        one.grow(100)
        one.grow(10)
        two.grow(90)
        assert held.sum == 100
