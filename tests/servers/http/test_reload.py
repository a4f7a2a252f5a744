"""A reload: checked whole, served in one step, and nobody under way notices."""

import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
import trustme

from gateway_core.testing import Gate, Reply, ScriptedUpstream
from gateway_core.testing.process import GatewayProcess

Starter = Callable[..., GatewayProcess]
PATIENCE_S = 60
ANSWER = {"model": "m", "answers": {}, "usage": {}}
BODY = {"model": "m", "state": "never-log-this", "questions": {"q": {"type": "noul"}}}
RELOADS = 100
OPEN = ("--auth", "disabled")
both = pytest.mark.parametrize("workers", ["1", "2"])


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as found:
        found.answer(Reply(body=ANSWER))
        yield found


def config(upstream: ScriptedUpstream, model: str = "m", http: str = "", more: str = "") -> str:
    return f"""
    [http]
    {http}
    [providers.fake]
    api_format = "systemone"
    base_url = "{upstream.url}"
    models = ["{model}"]
    {more}
    """


def ask(gateway: GatewayProcess, model: str = "m", **options: object) -> httpx.Response:
    body = {**BODY, "model": model}
    return httpx.post(f"{gateway.url}/v1/systemone", json=body, timeout=PATIENCE_S, **options)


def path_of(gateway: GatewayProcess) -> Path:
    return Path(gateway.env["S1GW_CONFIG"])


def reload(gateway: GatewayProcess, pattern: str = r"reloaded \(SIGHUP\)") -> None:
    """Send the signal, and wait for one more line that tells how it went."""
    wanted = gateway.log.count("(SIGHUP)") + 1
    gateway.send_signal(signal.SIGHUP)
    gateway.wait_for(rf"(?s)(?:\(SIGHUP\).*?){{{wanted}}}")
    gateway.wait_for(pattern)


@both
def test_a_signal_has_the_file_read_again(
    start: Starter, upstream: ScriptedUpstream, workers: str
) -> None:
    gateway = start(config(upstream), *OPEN, "--workers", workers)
    assert ask(gateway, "fake/m").status_code == 200
    path_of(gateway).write_text(config(upstream, model="other"))
    reload(gateway)
    for _ in range(6):
        assert ask(gateway, "fake/other").status_code == 200
    assert {ask(gateway, "fake/m").status_code for _ in range(6)} == {403}


@both
@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[http\n", "is not TOML"),
        ("[http]\nportt = 1\n", "portt"),
        ('[providers.fake]\ndialect = "nobody-has-it"\n', "nobody-has-it"),
        ('[providers.fake]\nmodels = ["m"]\napi_key = { env = "UNSET_HERE" }\n', "UNSET_HERE"),
    ],
    ids=["no toml", "unknown key", "unknown dialect", "unset variable"],
)
def test_a_fault_keeps_what_was_served_and_shows(
    start: Starter, upstream: ScriptedUpstream, workers: str, text: str, fault: str
) -> None:
    gateway = start(config(upstream), *OPEN, "--workers", workers)
    path_of(gateway).write_text(text)
    reload(gateway, r"going on with the configuration that was read before")
    assert fault in gateway.log
    assert {ask(gateway).status_code for _ in range(6)} == {200}
    seen = [httpx.get(f"{gateway.url}/healthz", timeout=PATIENCE_S).json() for _ in range(6)]
    assert seen == [{"status": "ok", "reload": "refused"}] * 6
    report = httpx.get(f"{gateway.url}/v1/health", timeout=PATIENCE_S).json()
    assert any(fault in line for line in report["config_errors"])
    path_of(gateway).write_text(config(upstream))
    reload(gateway)
    assert httpx.get(f"{gateway.url}/healthz", timeout=PATIENCE_S).json() == {"status": "ok"}


@both
def test_a_request_under_way_ends_with_what_it_began_with(
    start: Starter, upstream: ScriptedUpstream, workers: str
) -> None:
    gate = Gate()
    upstream.answer(Reply(body=ANSWER, gate=gate))
    gateway = start(config(upstream), *OPEN, "--workers", workers)
    found: list[httpx.Response] = []
    call = threading.Thread(target=lambda: found.append(ask(gateway, "fake/m")))
    call.start()
    upstream.wait_received()
    path_of(gateway).write_text(config(upstream, model="other"))
    reload(gateway)
    assert ask(gateway, "fake/m").status_code == 403
    gate.open()
    call.join(PATIENCE_S)
    assert found[0].json() == ANSWER


class Asking(threading.Thread):
    """A client that asks on one kept connection until it is told to stop."""

    def __init__(self, gateway: GatewayProcess) -> None:
        super().__init__()
        self.gateway = gateway
        self.statuses: list[int] = []
        self.ended = threading.Event()

    def run(self) -> None:
        with httpx.Client(base_url=self.gateway.url, timeout=PATIENCE_S) as client:
            while not self.ended.is_set():
                self.statuses.append(client.post("/v1/systemone", json=BODY).status_code)


def processes(gateway: GatewayProcess) -> list[int]:
    children = Path(f"/proc/{gateway.pid}/task/{gateway.pid}/children").read_text().split()
    return [gateway.pid, *map(int, children)]


def descriptors(gateway: GatewayProcess) -> int:
    return sum(len([*Path(f"/proc/{pid}/fd").iterdir()]) for pid in processes(gateway))


def resident_kb(gateway: GatewayProcess) -> int:
    lines = [Path(f"/proc/{pid}/status").read_text() for pid in processes(gateway)]
    return sum(int(text.partition("VmRSS:")[2].split()[0]) for text in lines)


def reload_to(gateway: GatewayProcess, upstream: ScriptedUpstream, number: int) -> int:
    """Have the file name one model more, wait until it is served, and return ``number``."""
    extra = f"more-{number}"
    path_of(gateway).write_text(config(upstream, model=f'm", "{extra}'))
    gateway.send_signal(signal.SIGHUP)
    while extra not in httpx.get(f"{gateway.url}/v1/decisions/models", timeout=PATIENCE_S).text:
        pass
    return number


@both
def test_a_hundred_reloads_under_load_fail_nobody_and_keep_nothing(
    start: Starter, upstream: ScriptedUpstream, workers: str
) -> None:
    gateway = start(config(upstream), *OPEN, "--workers", workers)
    asking = [Asking(gateway) for _ in range(3)]
    for client in asking:
        client.start()
    served = [reload_to(gateway, upstream, number) for number in range(RELOADS // 4)]
    before, memory = descriptors(gateway), resident_kb(gateway)
    served += [reload_to(gateway, upstream, number) for number in range(len(served), RELOADS)]
    after, later_memory = descriptors(gateway), resident_kb(gateway)
    for client in asking:
        client.ended.set()
        client.join(PATIENCE_S)
    gateway.stop()
    assert gateway.log.count("reloaded (SIGHUP)") == RELOADS
    assert {status for client in asking for status in client.statuses} == {200}
    assert after <= before + 4
    assert later_memory <= memory + 4096 * int(workers)


@both
def test_what_is_read_at_the_start_alone_is_named_in_one_line(
    start: Starter, upstream: ScriptedUpstream, workers: str
) -> None:
    gateway = start(config(upstream), *OPEN, "--workers", workers)
    changed = config(upstream, model="other", http='host = "::1"\nmax_connections = 7')
    path_of(gateway).write_text(changed)
    reload(gateway)
    gateway.wait_for("from the next start only: http.host, http.max_connections;")
    assert ask(gateway, "fake/other").status_code == 200


def test_what_counts_for_limits_outlasts_a_reload(
    start: Starter, upstream: ScriptedUpstream
) -> None:
    limited = "[orgs.acme.limits]\nrpm = 3\n"
    gateway = start(limited, orgs=["acme"])
    headers = {"x-api-key": gateway.org_keys["acme"]}
    url = f"{gateway.url}/v1/decisions/models"
    seen = [httpx.get(url, headers=headers, timeout=PATIENCE_S).status_code for _ in range(3)]
    path_of(gateway).write_text(limited + "[orgs.other]\n")
    reload(gateway)
    assert [*seen, httpx.get(url, headers=headers, timeout=PATIENCE_S).status_code] == [
        *(200, 200, 200),
        429,
    ]


def test_a_limit_can_be_changed(start: Starter) -> None:
    gateway = start("[orgs.acme.limits]\nrpm = 1\n", orgs=["acme"])
    headers = {"x-api-key": gateway.org_keys["acme"]}
    url = f"{gateway.url}/v1/decisions/models"
    assert httpx.get(url, headers=headers, timeout=PATIENCE_S).status_code == 200
    assert httpx.get(url, headers=headers, timeout=PATIENCE_S).status_code == 429
    path_of(gateway).write_text("[orgs.acme.limits]\nrpm = 50\n")
    reload(gateway)
    assert httpx.get(url, headers=headers, timeout=PATIENCE_S).status_code == 200


def test_faults_that_it_began_with_do_not_keep_it_from_a_reload(
    start: Starter, upstream: ScriptedUpstream
) -> None:
    fault = '[providers.lame]\napi_key = { env = "UNSET_HERE" }\n'
    gateway = start(config(upstream, more=fault), *OPEN)
    path_of(gateway).write_text(config(upstream, model="other", more=fault))
    reload(gateway)
    assert ask(gateway, "fake/other").status_code == 200


@both
def test_a_changed_file_is_applied_where_that_is_asked_for(
    start: Starter, upstream: ScriptedUpstream, workers: str
) -> None:
    gateway = start(config(upstream), *OPEN, "--reload", "--workers", workers)
    assert ask(gateway).status_code == 200
    replaced = path_of(gateway).with_name("new.toml")
    replaced.write_text(config(upstream, model="other"))
    replaced.replace(path_of(gateway))
    gateway.wait_for(r"reloaded \(config.toml has changed\)")
    assert {ask(gateway, "fake/other").status_code for _ in range(6)} == {200}


@both
def test_a_secret_that_is_replaced_is_used_for_new_requests(
    start: Starter, upstream: ScriptedUpstream, tmp_path: Path, workers: str
) -> None:
    """As Kubernetes does it: the folder's files are links into another that a link leads to."""
    for version in ("one", "two"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "key").write_text(f"never-log-this-{version}")
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    (mounted / "..data").symlink_to(tmp_path / "one")
    (mounted / "key").symlink_to("..data/key")
    secret = f'api_key = {{ file = "{mounted}/key" }}'
    gateway = start(config(upstream, more=secret), *OPEN, "--reload", "--workers", workers)
    assert ask(gateway).status_code == 200
    (mounted / "..new").symlink_to(tmp_path / "two")
    (mounted / "..new").replace(mounted / "..data")
    gateway.wait_for(r"reloaded \(key has changed\)")
    for _ in range(4):
        assert ask(gateway).status_code == 200
    sent = [received.headers["authorization"] for received in upstream.requests]
    assert sent == ["Bearer never-log-this-one", *["Bearer never-log-this-two"] * 4]


def serial(gateway: GatewayProcess, trust: ssl.SSLContext) -> int:
    plain = socket.create_connection(("127.0.0.1", gateway.port), PATIENCE_S)
    with trust.wrap_socket(plain, server_hostname="127.0.0.1") as client:
        found = client.getpeercert()
    assert found is not None
    return int(str(found["serialNumber"]), 16)


@both
def test_a_certificate_that_is_replaced_is_shown_to_new_connections(
    start: Starter, upstream: ScriptedUpstream, tmp_path: Path, workers: str
) -> None:
    authority = trustme.CA()
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"

    def issue(kind: trustme.KeyType) -> None:
        issued = authority.issue_cert("127.0.0.1", key_type=kind)
        chain.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(str(key))

    issue(trustme.KeyType.RSA)
    files = ("--tls-certificate", str(chain), "--tls-key", str(key))
    gateway = start(config(upstream), *OPEN, *files, "--workers", workers)
    before = serial(gateway, trust)
    with httpx.Client(base_url=gateway.url, verify=trust, timeout=PATIENCE_S) as kept:
        assert kept.post("/v1/systemone", json=BODY).status_code == 200
        # Of another kind, so that one context could hold both.
        issue(trustme.KeyType.ECDSA)
        reload(gateway)
        assert kept.post("/v1/systemone", json=BODY).status_code == 200
    assert {serial(gateway, trust) for _ in range(8)}.isdisjoint({before})
    assert len({serial(gateway, trust) for _ in range(8)}) == 1
    renewed = serial(gateway, trust)
    key.write_text("half a key")
    reload(gateway, "http.tls_certificate and http.tls_key cannot be used")
    with closing(socket.create_connection(("127.0.0.1", gateway.port), PATIENCE_S)):
        assert {serial(gateway, trust) for _ in range(4)} == {renewed}
