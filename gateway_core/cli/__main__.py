"""``python -m gateway_core.cli``: the command, where no script is on the path."""

from gateway_core.cli import main

main(prog_name="s1gw")
