"""``s1gw serve``: what must not be served is refused before anything listens."""

import pytest


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[http]\nport = 'x'", 'http.port: expected a port from 0 to 65535, got "x"'),
        ("[http]\naut = 'keys'", 'http.aut: unknown key; did you mean "auth"?'),
        ("[htp]\nport = 1", 'htp: unknown key; did you mean "http"?'),
        ("[http", "is not TOML"),
    ],
)
def test_http_is_not_served_with_a_broken_table(spawn, write_config, text, fault) -> None:
    write_config(text)
    done = spawn("serve", "--http", "--port", "0")

    assert done.returncode == 1
    assert fault in done.stderr
    assert "listening" not in done.stderr
    assert "Traceback" not in done.stderr
