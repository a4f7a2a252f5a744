"""Bodies are read strictly and change in nothing but the model."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.instructions import InstructionCounter
from gateway_core.errors import RelayRefused
from gateway_core.relay.body import read_body, read_json_body
from gateway_core.types import Format

WHITE = st.text(" \t\n\r", max_size=3)
NUMBERS = st.sampled_from(
    ["0", "-0", "1E400", "-1.5e-3", "0.1234567890123456789", str(2**64), str(10**40), "1e+2"]
)
ESCAPES = st.sampled_from(
    [r"\"", r"\\", r"\/", r"\b", r"\u0041", r"\ud83d\ude00", r"\uD800", r"\udfff", r"\\ud800"]
)
CHARACTERS = st.text(
    st.characters(min_codepoint=0x20, exclude_characters='"\\', exclude_categories=["Cs"]),
    max_size=5,
)
STRINGS = st.lists(st.one_of(CHARACTERS, ESCAPES), max_size=4).map(lambda p: f'"{"".join(p)}"')
SCALARS = st.one_of(NUMBERS, STRINGS, st.sampled_from(["true", "false", "null"]))


def _container(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    items = st.tuples(WHITE, values, WHITE).map("".join)
    members = st.tuples(WHITE, STRINGS, WHITE, st.just(":"), items).map("".join)
    return st.one_of(
        st.lists(items, max_size=3).map(lambda found: f"[{','.join(found)}]"),
        st.lists(members, max_size=3).map(lambda found: f"{{{','.join(found)}}}"),
    )


VALUES = st.recursive(SCALARS, _container, max_leaves=8)
MODEL_KEYS = st.sampled_from(['"model"', r'"\u006dodel"', r'"mod\u0065l"'])
OTHERS = st.dictionaries(
    STRINGS.filter(lambda key: json.loads(key) not in ("model", "questions")), VALUES, max_size=4
)


@st.composite
def bodies(draw: st.DrawFn) -> tuple[str, str, str]:
    """Return what stands before the model's value, the value, and what stands after it."""
    members = [(key, value) for key, value in draw(OTHERS).items()]
    members.append(('"questions"', draw(st.sampled_from(["{}", "[]", '{"q":{"q":1,"q":2}}']))))
    members.append((draw(MODEL_KEYS), draw(STRINGS.filter(lambda text: json.loads(text).strip()))))
    members = draw(st.permutations(members))
    place = next(i for i, (key, _) in enumerate(members) if json.loads(key) == "model")
    spaced = [f"{draw(WHITE)}{key}{draw(WHITE)}:{draw(WHITE)}" for key, _ in members]
    parts = [f"{key}{value}{draw(WHITE)}" for key, (_, value) in zip(spaced, members, strict=True)]
    value = members[place][1]
    after = parts[place][len(spaced[place]) + len(value) :]
    head = f"{draw(WHITE)}{{" + "".join(f"{part}," for part in parts[:place]) + spaced[place]
    tail = after + "".join(f",{part}" for part in parts[place + 1 :]) + f"}}{draw(WHITE)}"
    return head, value, tail


def names_are_distinct(text: str) -> bool:
    pairs: list[list[str]] = []

    def note(found: list[tuple[str, Any]]) -> None:
        pairs.append([name for name, _ in found])

    json.loads(text, object_pairs_hook=note)
    return len(set(pairs[-1])) == len(pairs[-1])


@given(bodies(), st.text(min_size=1, max_size=8).filter(str.strip))
def test_only_the_models_value_changes(parts: tuple[str, str, str], model: str) -> None:
    head, value, tail = parts
    text = head + value + tail
    if not names_are_distinct(text):
        with pytest.raises(RelayRefused):
            read_json_body(text.encode())
        return
    body = read_json_body(text.encode())
    assert body.model == json.loads(value)
    spliced = body.naming(model)
    if model == body.model:
        assert spliced == text.encode()
        return
    assert spliced.startswith(head.encode())
    assert spliced.endswith(tail.encode())
    middle = spliced[len(head.encode()) : len(spliced) - len(tail.encode())]
    assert json.loads(middle) == model


@given(st.one_of(st.binary(max_size=30), VALUES.map(str.encode), bodies().map("".join)))
def test_what_is_taken_is_json_with_distinct_names(content: Any) -> None:
    raw = content if isinstance(content, bytes) else content.encode()
    try:
        body = read_json_body(raw)
    except RelayRefused:
        return
    found = json.loads(raw)
    assert body.model == found["model"]
    assert names_are_distinct(raw.decode())
    assert isinstance(found["questions"], dict) == (body.format is Format.SYSTEMONE)


@given(bodies().map("".join), st.data())
def test_damage_is_noticed_as_the_standard_parser_notices_it(
    text: str, data: st.DataObject
) -> None:
    raw = text.encode()
    place = data.draw(st.integers(0, len(raw) - 1))
    damaged = raw[:place] + data.draw(st.sampled_from([b"", b"{", b'"', b"\x01", b"\xff", b","]))
    damaged += raw[place + 1 :]
    try:
        read_json_body(damaged)
    except RelayRefused:
        return
    assert isinstance(json.loads(damaged.decode("utf-8")), dict)


Q = '"questions":{}'
REFUSED = {
    "empty": (b"", None),
    "white space": (b" \n", None),
    "no JSON": (b"{nope", None),
    "an array": (b"[]", None),
    "a number": (b"1", None),
    "trailing text": (f'{{"model":"m",{Q}}} x'.encode(), None),
    "not a number": (f'{{"model":"m",{Q},"n":NaN}}'.encode(), None),
    "byte order mark": (b"\xef\xbb\xbf" + f'{{"model":"m",{Q}}}'.encode(), None),
    "utf-16": (f'{{"model":"m",{Q}}}'.encode("utf-16"), None),
    "bad utf-8 in a value": (b'{"model":"m","questions":{},"state":"\xff"}', None),
    "surrogates as bytes": (b'{"model":"m","questions":{},"state":"\xed\xa0\x80"}', None),
    "model twice": (f'{{"model":"m",{Q},"model":"m"}}'.encode(), None),
    "model twice, spelt otherwise": (f'{{"model":"m",{Q},"mod\\u0065l":"n"}}'.encode(), None),
    "an unknown key twice": (f'{{"model":"m",{Q},"x":1,"x":1}}'.encode(), None),
    "a surrogate key twice": (f'{{"model":"m",{Q},"\\ud800":1,"\\uD800":2}}'.encode(), None),
    "an emoji key twice": (
        f'{{"model":"m",{Q},"\\ud83d\\ude00":1,"\U0001f600":"\\ud800"}}'.encode(),
        None,
    ),
    "no model": (f"{{{Q}}}".encode(), "model"),
    "model null": (f'{{"model":null,{Q}}}'.encode(), "model"),
    "model a number": (f'{{"model":1,{Q}}}'.encode(), "model"),
    "model blank": (f'{{"model":" \\t",{Q}}}'.encode(), "model"),
    "model an object": (f'{{"model":{{}},{Q}}}'.encode(), "model"),
    "no questions": (b'{"model":"m"}', "questions"),
    "questions null": (b'{"model":"m","questions":null}', "questions"),
    "questions a string": (b'{"model":"m","questions":"{}"}', "questions"),
    "deep nesting": (b'{"model":"m","questions":' + b"[" * 200_000, None),
    "deep nesting with surrogates": (b'{"a":"\\ud800","questions":' + b"[" * 200_000, None),
}


@pytest.mark.parametrize(("content", "field"), REFUSED.values(), ids=REFUSED.keys())
def test_a_body_that_breaks_a_rule_is_refused_without_being_quoted(
    content: bytes, field: str | None
) -> None:
    with pytest.raises(RelayRefused) as caught:
        read_body(content)
    assert (caught.value.reason, caught.value.field) == ("invalid_request", field)
    assert "(byte" not in str(caught.value)
    assert "column" not in str(caught.value)


TAKEN = {
    "huge numbers": b'{"n":[1E400,18446744073709551616,0.1234567890123456789],',
    "nested duplicates": b'{"state":{"a":1,"a":2,"model":"x"},',
    "lone surrogates": b'{"\\ud800":"\\udfff","\\ua800":"\\\\ud800",',
    "white space": b' \t\r\n{ "a" \n: 1 ,',
    "unknown fields": '{"\u00fcnknown":"\U0001f600",'.encode(),
    "a model of another name": b'{"Model":"x","questions ":1,',
}


@pytest.mark.parametrize("head", TAKEN.values(), ids=TAKEN.keys())
def test_odd_but_valid_json_stays_byte_for_byte(head: bytes) -> None:
    tail = b', "questions" : [] } '
    body = read_body(head + b'"model" : "p/m"' + tail)
    assert body.format is Format.OPENAI
    assert body.naming("m") == head + b'"model" : "m"' + tail
    assert body.naming("p/m") is body.content


def test_a_large_body_is_copied_once_and_never_built() -> None:
    state = json.dumps([{"text": "line " * 10, "n": n} for n in range(80_000)])
    content = f'{{"model":"p/m","state":{state},"questions":{{}}}}'.encode()
    read_body(b'{"model":"m","questions":{}}')
    tracemalloc.start()
    try:
        with InstructionCounter() as counter:
            spliced = read_body(content).naming("m")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The objects of such a body take many times its size, and a loop over it as many instructions.
    assert most < 1.5 * len(content)
    assert counter.total < 5_000
    assert len(spliced) == len(content) - 2
