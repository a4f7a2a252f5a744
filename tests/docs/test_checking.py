"""The example of docs/checking.md says what the command says."""

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs/checking.md").read_text()


def test_the_example_is_what_the_command_prints(tmp_path: Path) -> None:
    blocks = dict(re.findall(r"^```(toml|console)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
    command, _, told = blocks["console"].partition("\n")
    (tmp_path / "config.toml").write_text(blocks["toml"])
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "-m", "gateway_core.cli", *command.split()[2:]],
        env={**environ, "S1GW_CONFIG": str(tmp_path / "config.toml")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stderr) == (1, told)
