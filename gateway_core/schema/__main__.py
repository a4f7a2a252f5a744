"""Write the published schemas: ``python -m gateway_core.schema [FOLDER]``."""

import sys
from pathlib import Path

from gateway_core.schema import PUBLISHED, text_of


def main(folder: Path) -> None:
    """Write every published schema below ``folder``."""
    folder.mkdir(exist_ok=True)
    for name, schema in PUBLISHED.items():
        (folder / name).write_text(text_of(schema), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "schema"))
