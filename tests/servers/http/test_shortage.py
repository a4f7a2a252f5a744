"""Out of descriptors the gateway says so, and blames neither the upstream nor the caller."""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from gateway_core.testing import Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

CONFIG = """
[orgs.acme.providers.own]
api_format = "systemone"
base_url = "http://203.0.113.41"
models = ["m"]
"""
SMALL = b'{"model": "m", "state": "s", "questions": {"q": {"type": "noul", "instructions": "Q?"}}}'
LARGE = SMALL.replace(b'"s"', b'"%b"' % (b"s" * 400_000))
CALLS = [
    ("POST", "/v1/systemone", SMALL),
    ("POST", "/v1/systemone", LARGE),
    ("GET", "/openapi.json", b""),
]


@contextmanager
def no_descriptor_left(pid: int) -> Iterator[None]:
    """Leave a process the descriptors that it has, and no other."""
    used = {int(each.name) for each in Path(f"/proc/{pid}/fd").iterdir()}
    lowest_free = next(number for number in range(len(used) + 1) if number not in used)
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))


def ask(connection: HTTPConnection, call: tuple[str, str, bytes], key: str) -> tuple[int, bytes]:
    method, path, body = call
    connection.request(method, path, body, {"authorization": f"Bearer {key}"})
    with connection.getresponse() as reply:
        return reply.status, reply.read()


@pytest.fixture
def gateway(start: Callable[..., GatewayProcess]) -> Iterator[GatewayProcess]:
    with ScriptedUpstream() as proxy:
        proxy.answer(Reply(body={"model": "m", "answers": {}}))
        yield start(CONFIG, env={"HTTP_PROXY": proxy.url})


@pytest.mark.parametrize("call", CALLS, ids=["an upstream", "a large body", "a first use"])
def test_a_call_that_cannot_be_served_is_refused_with_503_and_served_later(
    gateway: GatewayProcess, call: tuple[str, str, bytes]
) -> None:
    key = gateway.key(org="acme")
    connection = HTTPConnection("127.0.0.1", gateway.port, timeout=30)
    assert ask(connection, ("GET", "/healthz", b""), key)[0] == 200

    with no_descriptor_left(gateway.pid):
        status, body = ask(connection, call, key)
    assert (status, b"short of descriptors" in body) == (503, True)

    assert ask(connection, call, key)[0] == 200
    connection.close()
    # It is our failure, and no upstream's.
    gateway.wait_for(rf" error \[\w+\] s1gw\.access: .*route={call[1]} status=503")
