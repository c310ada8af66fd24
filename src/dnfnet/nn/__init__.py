"""The paper in pure torch: one equation per function, one component per module."""

from dnfnet.nn.dnnf import DNNF, DenseBlock
from dnfnet.nn.ensemble import Ensemble, nets_of
from dnfnet.nn.gates import exact_and, exact_or, projected_and, soft_and, soft_or
from dnfnet.nn.heads import GroupHeads
from dnfnet.nn.layout import Layout
from dnfnet.nn.localization import Localization, UniformLocalization
from dnfnet.nn.network import DNFNet
from dnfnet.nn.runs import Runs
from dnfnet.nn.selection import Beta, FeatureSelection, binary_threshold, elastic_net, straight_through_sign

__all__ = [
    "DNNF",
    "Beta",
    "DNFNet",
    "DenseBlock",
    "Ensemble",
    "FeatureSelection",
    "GroupHeads",
    "Layout",
    "Localization",
    "Runs",
    "UniformLocalization",
    "binary_threshold",
    "elastic_net",
    "exact_and",
    "exact_or",
    "nets_of",
    "projected_and",
    "soft_and",
    "soft_or",
    "straight_through_sign",
]
