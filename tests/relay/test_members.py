"""No spelling of a body hides a second ``model``: rights are checked on the one that is read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.errors import RelayRefused
from gateway_core.relay.body import read_json_body
from gateway_core.relay.members import MAX_MEMBERS, is_utf8, member_place, read_members

TEXTS = (
    "model",
    "questions",
    "Model",
    "model ",
    "",
    "\ud800",
    "m\u00f6del",
    "\U0001f600",
    '"',
    "\\",
)
FAKES = (',"model":"x"', '"model":"x",', '{"model":"x"}', '\\"model\\":', '","model":"', "}", '"}')
WHITE = st.text(" \t\n\r", max_size=2)


@st.composite
def spellings(draw: st.DrawFn, text: str) -> str:
    """Spell ``text`` as JSON, with whichever of its characters escaped."""
    parts = []
    for character in text:
        if character in '"\\' or "\ud800" <= character <= "\udfff" or draw(st.booleans()):
            units = character.encode("utf-16-be", "surrogatepass")
            codes = [units[place : place + 2].hex() for place in range(0, len(units), 2)]
            case = draw(st.sampled_from([str.upper, str.lower]))
            parts += [f"\\u{case(code)}" for code in codes]
        else:
            parts.append(character)
    return f'"{"".join(parts)}"'


FAKE_STRINGS = st.sampled_from(FAKES).flatmap(spellings) | st.sampled_from(FAKES).map(json.dumps)
NUMBERS = st.sampled_from(["1", "-0.5e-3", "1E400", "true", "null"])
LEAVES = FAKE_STRINGS | NUMBERS | st.sampled_from(TEXTS).flatmap(spellings)
NESTED = st.recursive(
    LEAVES,
    lambda values: st.one_of(
        st.lists(values, max_size=2).map(lambda found: f"[{', '.join(found)}]"),
        st.lists(st.tuples(st.sampled_from(TEXTS).flatmap(spellings), values), max_size=3).map(
            lambda found: "{" + " ,".join(f"{key}: {value}" for key, value in found) + "}"
        ),
    ),
    max_leaves=6,
)


USUAL = {
    "model": FAKE_STRINGS | NESTED,
    "questions": st.sampled_from(["{}", "[]", '{"model": "x", "model": ["y"]}']),
}


@st.composite
def objects(draw: st.DrawFn) -> str:
    """Return an object, keys of which are often repeated and often spelt otherwise."""
    others = draw(st.lists(st.sampled_from(TEXTS), max_size=3))
    names = draw(st.permutations([*draw(st.sampled_from([USUAL, ()])), *others]))
    members = []
    for name in names:
        before, between, after, end = (draw(WHITE) for _ in range(4))
        key = draw(spellings(name))
        members.append(f"{before}{key}{between}:{after}{draw(USUAL.get(name, NESTED))}{end}")
    return f"{draw(WHITE)}{{{draw(WHITE) if not members else ''}{','.join(members)}}}{draw(WHITE)}"


def pairs_of(text: str) -> list[tuple[str, Any]]:
    """Return the members by the standard library, which is slow and sees every one of them."""
    found: Any = json.loads(text, object_pairs_hook=lambda pairs: pairs)
    return [(name, value) for name, value in found]


@given(objects())
def test_the_members_are_those_that_the_standard_parser_sees(text: str) -> None:
    pairs, content = pairs_of(text), text.encode()
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        with pytest.raises(RelayRefused, match="twice"):
            read_members(content)
        return
    members = read_members(content)
    assert list(members) == names
    for name, value in pairs:
        start, end = member_place(name, content, members)
        assert bytes(members[name]) == content[start:end]
        told = json.loads(content[start:end], object_pairs_hook=lambda pairs: pairs)
        assert repr(told) == repr(value)


@given(objects(), st.sampled_from(["m", "a/b", '"', "\u00fc"]))
def test_a_body_that_is_taken_names_one_model_before_and_after(text: str, model: str) -> None:
    try:
        body = read_json_body(text.encode())
    except RelayRefused:
        return
    before = pairs_of(text)
    assert [value for name, value in before if name == "model"] == [body.model]
    after = [(name, model if name == "model" else value) for name, value in before]
    assert repr(pairs_of(body.naming(model).decode())) == repr(after)


@pytest.mark.parametrize("fake", FAKES)
@pytest.mark.parametrize("second", ['"model"', r'"\u006dodel"', r'"mode\u006C"'])
@pytest.mark.parametrize("odd", ["", r'"\ud800":"\udfff",'])
def test_a_second_model_is_found_after_whatever_looks_like_one(
    fake: str, second: str, odd: str
) -> None:
    state = json.dumps(fake)
    body = f'{{{odd}"state":{state},"questions":{{}},"model":"m"'
    assert read_json_body(f"{body}}}".encode()).model == "m"
    with pytest.raises(RelayRefused, match="twice"):
        read_json_body(f"{body},{second}:{state}}}".encode())


@pytest.mark.parametrize("character", ["\u00e9", "\u8a9e", "\U0001f600"])
@pytest.mark.parametrize("before", range(4))
def test_utf8_is_told_wherever_its_sequences_are_cut(character: str, before: int) -> None:
    text = b"x" * before + character.encode() * 300_000
    assert is_utf8(text)
    assert not is_utf8(text[:-1])
    assert not is_utf8(text[: len(text) // 2] + b"\xff" + text[len(text) // 2 :])
    assert not is_utf8(text + "\ud800".encode("utf-8", "surrogatepass"))


def test_keys_without_end_are_refused_before_they_take_the_memory() -> None:
    def body(members: int) -> bytes:
        return b"{%b}" % b",".join(b'"%012d":1' % number for number in range(members))

    assert len(read_members(body(MAX_MEMBERS))) == MAX_MEMBERS
    for odd in (b"", rb'"\ud800":0,'):
        with pytest.raises(RelayRefused, match="too many"):
            read_members(body(MAX_MEMBERS + 1).replace(b"{", b"{" + odd, 1))


def test_a_body_is_not_shown() -> None:
    assert "told" not in repr(read_json_body(b'{"model":"m","questions":{},"state":"told"}'))
