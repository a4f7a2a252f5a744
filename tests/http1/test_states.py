"""The table of a connection's states holds together."""

import attrs
import pytest

from gateway_core.http1.states import TABLE, ClientTimeouts, State, seconds


def test_every_state_has_a_row() -> None:
    assert set(TABLE) == set(State)


@pytest.mark.parametrize("state", set(State) - {State.OPENED})
def test_every_state_is_reached_from_another(state: State) -> None:
    assert any(state in row.follows for row in TABLE.values())


@pytest.mark.parametrize("state", set(State) - {State.CLOSING, State.SHUT})
def test_every_state_can_end_both_ways(state: State) -> None:
    assert {State.CLOSING, State.SHUT} <= set(TABLE[state].follows)


def test_nothing_is_answered_after_the_end() -> None:
    assert TABLE[State.CLOSING].follows == {}
    assert set(TABLE[State.SHUT].follows) == {State.CLOSING}


def test_only_a_whole_request_may_take_any_time() -> None:
    timeouts = ClientTimeouts()
    endless = [state for state in State if seconds(state, timeouts) is None]
    assert endless == [State.ANSWERING]


def test_every_time_limit_of_clients_is_some_state_s() -> None:
    names = {field.name for field in attrs.fields(ClientTimeouts)}
    assert names == {row.timeout for row in TABLE.values()} - {None}


@pytest.mark.parametrize("state", State)
def test_a_row_says_what_it_means_and_what_expires(state: State) -> None:
    row = TABLE[state]
    assert row.meaning
    assert bool(row.expires) == (row.timeout is not None)
