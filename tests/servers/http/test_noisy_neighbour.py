"""What one organization sends does not hold up another."""

import gzip
import http.client
import json
import threading
import time
import zlib
from collections.abc import Callable
from statistics import median

import pytest
from backports import zstd

from gateway_core.testing import Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

PROVIDER = """
[orgs.{org}.providers.own]
api_format = "systemone"
base_url = "http://203.0.113.22"
models = ["m"]
"""
CONFIG = PROVIDER.format(org="acme") + PROVIDER.format(org="noisy")
SMALL = {"model": "m", "state": "s", "questions": {"q": {"type": "noul", "instructions": "Q?"}}}
ANSWER = {"model": "m", "answers": {}, "usage": {"input_tokens": 3, "output_tokens": 2}}
SIZE = 16 * 1024 * 1024
TEXT = b'{"model":"absent","questions":{},"state":"' + b"x" * SIZE + b'"}'
ARRAYS = b'{"model":"absent","questions":{},"state":[' + b"[[1]]," * (SIZE // 6) + b"1]}"
KEYS = b'{"model":"absent","questions":{},"state":{' + b'"a":1,' * (SIZE // 6) + b'"b":1}}'
FORM = (
    b'--b\r\ncontent-disposition: form-data; name="request"\r\n\r\n'
    b'{"model":"absent","questions":{}}'
    b'\r\n--b\r\ncontent-disposition: form-data; name="image"\r\n\r\n'
    + bytes(SIZE)
    + b"\r\n--b--\r\n"
)
JSON = {"content-type": "application/json"}
NOISE = {
    "zstd": ("/v1/systemone", zstd.compress(TEXT), JSON | {"content-encoding": "zstd"}),
    "gzip": ("/v1/decisions", gzip.compress(ARRAYS), JSON | {"content-encoding": "gzip"}),
    "deflate": ("/v1/decisions", zlib.compress(KEYS), JSON | {"content-encoding": "deflate"}),
    "plain": ("/v1/systemone", ARRAYS, JSON),
    "form": ("/v1/systemone", FORM, {"content-type": "multipart/form-data; boundary=b"}),
    "question": ("/v1/decide", zstd.compress(TEXT), JSON | {"content-encoding": "zstd"}),
    "mcp": ("/mcp", gzip.compress(ARRAYS), JSON | {"content-encoding": "gzip"}),
}


def post(gateway: GatewayProcess, key: str, path: str, body: bytes, headers: dict[str, str]) -> int:
    port = int(gateway.url.rpartition(":")[2])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", path, body, headers | {"authorization": f"Bearer {key}"})
        reply = connection.getresponse()
        reply.read()
        return reply.status
    finally:
        connection.close()


def times(gateway: GatewayProcess, key: str, number: int) -> list[float]:
    found = []
    for _ in range(number):
        began = time.monotonic()
        status = post(gateway, key, "/v1/systemone", json.dumps(SMALL).encode(), JSON)
        found.append(time.monotonic() - began)
        assert status == 200
    return found


@pytest.mark.parametrize(("path", "body", "headers"), NOISE.values(), ids=NOISE.keys())
def test_large_bodies_of_one_organization_do_not_hold_up_another(
    start: Callable[..., GatewayProcess], path: str, body: bytes, headers: dict[str, str]
) -> None:
    with ScriptedUpstream() as upstream:
        upstream.answer(Reply(body=ANSWER))
        gateway = start(CONFIG, env={"HTTP_PROXY": upstream.url})
        victim, noisy = gateway.key(org="acme"), gateway.key(org="noisy")
        assert post(gateway, noisy, path, body, headers) in (403, 413)
        alone = median(times(gateway, victim, 30))
        ended, sent = threading.Event(), []

        def flood() -> None:
            while not ended.is_set():
                sent.append(post(gateway, noisy, path, body, headers))

        floods = [threading.Thread(target=flood) for _ in range(3)]
        for thread in floods:
            thread.start()
        beside = median(times(gateway, victim, 60))
        ended.set()
        for thread in floods:
            thread.join(60)
    assert set(sent) <= {403, 413, 503}
    # In one piece on the event loop, each of these takes tens of milliseconds.
    assert beside < max(alone * 20, 0.1)
