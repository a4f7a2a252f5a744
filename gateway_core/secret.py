"""A credential that cannot be shown by accident."""

from typing import Final, NoReturn, final

_SHOWN: Final = "Secret(***)"


@final
class Secret:
    """Text that ``str``, ``repr``, formatting and pickling do not reveal.

    Hiding goes by type, not by guessing from names: whatever is a ``Secret`` stays hidden
    wherever it is printed or logged.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        """Take the credential's text; raise ``ValueError`` when it is blank."""
        if not value.strip():
            raise ValueError("a secret must not be blank")
        self._value = value

    def reveal(self) -> str:
        """Return the text, for the one place that sends it."""
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __repr__(self) -> str:
        return _SHOWN

    __str__ = __repr__

    def __format__(self, _: str) -> str:
        return _SHOWN

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not serialised")
