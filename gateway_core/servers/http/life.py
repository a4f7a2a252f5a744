"""How far the process is in its life, which outlasts every configuration that it serves."""

import attrs


@attrs.define(eq=False)
class Life:
    """What readiness and health tell of the process itself.

    Attributes:
        draining: whether it is about to end, and each reply ends its connection.
        reload_faults: why the last reload was refused; empty once one has worked.
    """

    draining: bool = False
    reload_faults: tuple[str, ...] = ()
