"""A new provider's distribution, written from templates: complete, and with passing tests."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from string import Template
from typing import Final

from gateway_core.errors import ConfigError
from gateway_core.version import __version__

_TEMPLATES: Final = Path(__file__).with_name("templates")
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SUFFIX: Final = ".tmpl"
_PREFIX: Final = "s1gw-"


class TemplateKind(StrEnum):
    """What the upstream of a new provider speaks."""

    SYSTEMONE = "systemone"
    OPENAI = "openai"
    CUSTOM = "custom"


_FOLDERS: Final = {
    TemplateKind.SYSTEMONE: "relaying",
    TemplateKind.OPENAI: "relaying",
    TemplateKind.CUSTOM: "custom",
}
_PATHS: Final = {
    TemplateKind.SYSTEMONE: "/v1/systemone",
    TemplateKind.OPENAI: "/v1/decisions",
    TemplateKind.CUSTOM: "",
}
_TITLES: Final = {
    TemplateKind.SYSTEMONE: "System One",
    TemplateKind.OPENAI: "OpenAI Decisions",
    TemplateKind.CUSTOM: "",
}


def write_distribution(name: str, kind: TemplateKind, parent: Path) -> Path:
    """Write the distribution ``s1gw-NAME`` below ``parent`` and return its folder.

    Raises:
        ConfigError: the name cannot be a dialect, or the folder exists.
    """
    if fault := _fault(name):
        raise ConfigError(f"the name {name!r} {fault}")
    folder = parent / f"{_PREFIX}{name}"
    if folder.exists():
        raise ConfigError(f"{folder} exists already; choose another name or folder")
    for path, text in render(name, kind).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return folder


def _fault(name: str) -> str | None:
    """Say why ``name`` cannot be a new dialect; None when it can."""
    if not _NAME.fullmatch(name):
        return "must be lower-case words of letters and digits, joined by hyphens"
    if name.startswith(_PREFIX):
        return f"must not begin with {_PREFIX!r}, which is put before it"
    if name.startswith("test"):
        return "must not begin with 'test': pytest would take the provider for one of its tests"
    return None


def render(name: str, kind: TemplateKind) -> Mapping[str, str]:
    """Return the files of the distribution: their paths, with slashes, and their texts."""
    words = _words(name, kind)
    return {
        path.replace("PACKAGE", words["package"]): Template(text).substitute(words)
        for path, text in _templates(kind)
    }


def _templates(kind: TemplateKind) -> Iterator[tuple[str, str]]:
    for root in (_TEMPLATES / "common", _TEMPLATES / _FOLDERS[kind]):
        for path in sorted(root.rglob(f"*{_SUFFIX}")):
            relative = path.relative_to(root).as_posix()
            yield relative.removesuffix(_SUFFIX), path.read_text(encoding="utf-8")


def _words(name: str, kind: TemplateKind) -> Mapping[str, str]:
    title = " ".join(part.capitalize() for part in name.split("-"))
    major, minor, *_ = __version__.split(".")
    return {
        "dialect": name,
        "distribution": f"{_PREFIX}{name}",
        "package": f"s1gw_{name.replace('-', '_')}",
        "class_name": f"{title.replace(' ', '')}Provider",
        "title": title,
        "base_url": f"https://api.{name}.example",
        "key_variable": f"{name.replace('-', '_').upper()}_API_KEY",
        "model": f"{name}-1",
        "path": _PATHS[kind],
        "format_name": kind.name,
        "format_title": _TITLES[kind],
        "since": f"{major}.{minor}",
        "before": f"{major}.{int(minor) + 1}",
    }
