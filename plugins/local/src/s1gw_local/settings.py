"""The settings of the embedded engine."""

import attrs


@attrs.frozen(kw_only=True)
class LocalSettings:
    """What may be set under ``[providers.NAME.settings]``.

    Attributes:
        temperature: what similarities are divided by, in place of the fitted values; larger
            is less sure.
        cache_size: how many options' vectors are kept, about 1.6 KB each.
    """

    temperature: float | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.gt(0))
    )
    cache_size: int = attrs.field(default=4096, validator=attrs.validators.ge(0))
