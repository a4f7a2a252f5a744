"""Checks of the URLs that a provider names."""

from urllib.parse import urlsplit

from gateway_core.provider import Provider
from gateway_core.testing.checks.check import Needs, check, require
from gateway_core.testing.checks.subject import KEY, PATH, Subject
from gateway_core.types import Operation


def _urls(provider: Provider) -> dict[Operation, str]:
    return {operation: provider.url(operation) for operation in Operation}


@check(
    "Every URL is absolute, http or https, and on the configured host.",
    why="The host vets the URL before a credential goes there; the operator chose the host.",
    needs=Needs.ADDRESS,
)
def urls_are_on_the_configured_host(subject: Subject) -> None:
    """Behind two bases: a plain one, and one with a literal address, a port and a path."""
    for base in ("https://kit.example", "http://[::1]:8765/x"):
        for operation, url in _urls(subject.build(base_url=base)).items():
            same = urlsplit(url)[:2] == urlsplit(base)[:2]
            require(same, f"for {operation} on {base} it named {url}")


@check(
    "The path of the base URL is kept.",
    why="Providers live behind proxies and below paths that belong to a team or a region.",
    needs=Needs.ADDRESS,
)
def urls_keep_the_base_path(subject: Subject) -> None:
    """``context.url`` keeps it; joining by hand tends to lose it."""
    for operation, url in _urls(subject.build()).items():
        kept = urlsplit(url).path.startswith(f"{PATH}/")
        require(kept, f"for {operation} it named the path {urlsplit(url).path!r}")


@check(
    "Slashes at the end of the base URL make no difference, and no path has an empty segment.",
    why="Both spellings are common, and a doubled slash ends as a 404 with most servers.",
    needs=Needs.ADDRESS,
)
def urls_ignore_trailing_slashes(subject: Subject) -> None:
    """The gateway's rules of joining, which ``context.url`` follows."""
    plain = _urls(subject.build())
    for ending in ("/", "//"):
        other = _urls(subject.build(base_url=f"https://kit.example{PATH}{ending}"))
        require(plain == other, f"a base URL that ends in {ending!r} gives other URLs")
    for url in plain.values():
        require("//" not in urlsplit(url).path, f"it named the path {urlsplit(url).path!r}")


@check(
    "No URL holds a credential.",
    why="URLs are logged by every server and proxy on the way.",
    needs=Needs.ADDRESS,
)
def urls_hold_no_credential(subject: Subject) -> None:
    """Neither in the query nor as a user name."""
    for operation, url in _urls(subject.build()).items():
        require(KEY.reveal() not in url, f"the URL for {operation} holds the key")
        require("@" not in urlsplit(url).netloc, f"the URL for {operation} holds a user name")
