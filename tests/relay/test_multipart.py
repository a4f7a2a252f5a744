"""Forms: the JSON in the first part is spliced, and every other byte is left alone."""

import json
from typing import Any

import pytest

from gateway_core.errors import RelayRefused
from gateway_core.relay.body import read_body

TYPE = 'multipart/form-data; boundary="b0-unda_ry"'
JSON = b'{"model": "p/m", "questions": {}, "assets": {}}'
IMAGE = bytes(range(256)) + b"\r\n--b0-undary--\r\n\r\n--b"


def part(name: str, content: bytes, more: bytes = b"") -> bytes:
    head = f'Content-Disposition: form-data; name="{name}"'.encode()
    return b"--b0-unda_ry\r\n" + head + more + b"\r\n\r\n" + content + b"\r\n"


END = b"--b0-unda_ry--\r\n"
FORM = part("request", JSON, b"\r\nContent-Type: application/json") + part("asset-0", IMAGE) + END


def test_only_the_model_in_the_first_part_changes() -> None:
    body = read_body(FORM, TYPE)
    assert body.model == "p/m"
    assert body.json == JSON
    assert body.naming("m") == FORM.replace(b'"p/m"', b'"m"')


def test_a_preamble_is_refused_and_an_epilogue_stays() -> None:
    assert read_body(FORM + b"epilogue", TYPE).naming("m").endswith(b"--\r\nepilogue")
    with pytest.raises(RelayRefused):
        read_body(b"preamble\r\n" + FORM, TYPE)


def test_one_part_is_enough() -> None:
    assert read_body(part("request", JSON) + END, TYPE).model == "p/m"


def test_unquoted_names_and_boundaries_are_understood() -> None:
    form = FORM.replace(b'name="request"', b"name=request")
    assert read_body(form, "Multipart/Form-Data; Boundary=b0-unda_ry").model == "p/m"


REFUSED: dict[str, tuple[bytes, str]] = {
    "another part first": (part("asset-0", b"x") + part("request", JSON) + END, TYPE),
    "request twice": (part("request", JSON) + part("request", JSON) + END, TYPE),
    "request in other letters": (part("request", JSON) + part("REQUEST", JSON) + END, TYPE),
    "request in an encoded name": (
        part("request", JSON) + part("x\"; name*=\"utf-8''request", JSON) + END,
        TYPE,
    ),
    "two dispositions": (
        part("request", JSON, b'\r\nContent-Disposition: form-data; name="x"') + END,
        TYPE,
    ),
    "an encoded part": (
        part("request", JSON, b"\r\nContent-Transfer-Encoding: base64") + END,
        TYPE,
    ),
    "no end": (part("request", JSON), TYPE),
    "no name": (part("request", JSON).replace(b'; name="request"', b"") + END, TYPE),
    "no head": (b"--b0-unda_ry\r\n" + JSON + b"\r\n" + END, TYPE),
    "bare newlines": (FORM.replace(b"\r\n", b"\n"), TYPE),
    "another boundary": (FORM, "multipart/form-data; boundary=other"),
    "no boundary": (FORM, "multipart/form-data"),
    "an empty boundary": (FORM, 'multipart/form-data; boundary=""'),
    "two boundaries": (FORM, TYPE + "; boundary=other"),
    "another subtype": (FORM, TYPE.replace("form-data", "mixed")),
    "no JSON": (part("request", b"{") + END, TYPE),
    "empty": (b"", TYPE),
    "only an end": (END, TYPE),
}


@pytest.mark.parametrize(("content", "content_type"), REFUSED.values(), ids=REFUSED.keys())
def test_a_form_that_two_readers_could_see_differently_is_refused(
    content: bytes, content_type: str
) -> None:
    with pytest.raises(RelayRefused) as caught:
        read_body(content, content_type)
    assert caught.value.reason == "invalid_request"


def test_an_openai_body_in_a_form_is_refused() -> None:
    inner = json.dumps({"model": "m", "questions": []}).encode()
    with pytest.raises(RelayRefused) as caught:
        read_body(part("request", inner) + END, TYPE)
    assert caught.value.reason == "format_mismatch"


@pytest.mark.anyio
async def test_a_form_goes_upstream_as_a_form(open_scene: Any, acme: str, upstream: Any) -> None:
    form = FORM.replace(b'"p/m"', b'"TypeSafe/jev-latest"')
    async with open_scene(acme) as scene:
        result = await scene.post(form, scene.key(), headers={"content-type": TYPE})
    assert result.status == 200
    received = upstream.requests[0]
    assert received.headers["content-type"] == TYPE
    assert received.body == FORM.replace(b'"p/m"', b'"jev-latest"')
