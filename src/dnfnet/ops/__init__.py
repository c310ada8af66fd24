"""How a block of formulas is computed."""

from dnfnet.ops.reference import dnnf

__all__ = ["dnnf"]
