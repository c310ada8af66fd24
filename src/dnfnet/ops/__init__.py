"""How a block of formulas is computed: one dispatcher over plain torch and a fused CPU kernel."""

from dnfnet.ops.dispatch import Backend, backend, dnnf, use
from dnfnet.ops.localization import local_weights, localize
from dnfnet.ops.memory import release
from dnfnet.ops.packed import PackCache, Packed, can_pack

__all__ = [
    "Backend",
    "PackCache",
    "Packed",
    "backend",
    "can_pack",
    "dnnf",
    "local_weights",
    "localize",
    "release",
    "use",
]
