"""The paper's own figures: Tables 1, 2 and 3, as (mean, sem); None where the authors ran out of memory."""

from __future__ import annotations

from collections.abc import Mapping

Target = tuple[float, float] | None

_SIZES = (128, 512, 2048)


def _row(*values: Target) -> dict[tuple[str, int], Target]:
    """Name nine figures by data set and number of formulas, in the order of the paper's columns."""
    names = [(dataset, n) for dataset in ("eye", "gesture", "gas") for n in _SIZES]
    return dict(zip(names, values, strict=True))


_EXPERIMENT_3 = _row(
    (0.8134, 0.0142),
    (0.8163, 0.0096),
    (0.9652, 0.0143),
    (1.1411, 0.0093),
    (1.1320, 0.0083),
    (1.3015, 0.0317),
    (0.0227, 0.0019),
    (0.0265, 0.0012),
    (0.0516, 0.0061),
)

# Test log-loss of Experiments 1 to 7, by data set and number of formulas (Tables 1 and 2).
EXPERIMENT_TARGETS: Mapping[int, Mapping[tuple[str, int], Target]] = {
    1: _row(
        (0.9864, 0.0038),
        (1.0138, 0.0083),
        None,
        (1.3139, 0.0067),
        (1.3368, 0.0084),
        None,
        (0.2423, 0.0598),
        (0.3862, 0.0594),
        None,
    ),
    2: _row(
        (0.9034, 0.0058),
        (0.9336, 0.0058),
        (1.3011, 0.0431),
        (1.1391, 0.0059),
        (1.1812, 0.0117),
        (1.8633, 0.1026),
        (0.0351, 0.0048),
        (0.0421, 0.0046),
        (0.0778, 0.0080),
    ),
    3: _EXPERIMENT_3,
    4: _row(
        (0.7621, 0.0079),
        (0.7125, 0.0077),
        (0.6903, 0.0049),
        (0.9742, 0.0079),
        (0.9120, 0.0123),
        (0.8770, 0.0088),
        (0.0162, 0.0013),
        (0.0149, 0.0008),
        (0.0145, 0.0011),
    ),
    5: _row(
        (0.8150, 0.0046),
        (0.8031, 0.0046),
        (0.7969, 0.0054),
        (0.9732, 0.0082),
        (0.9479, 0.0081),
        (0.9438, 0.0111),
        (0.0222, 0.0018),
        (0.0205, 0.0021),
        (0.0200, 0.0022),
    ),
    6: _EXPERIMENT_3,
    7: _row(
        (0.8403, 0.0068),
        (0.8128, 0.0077),
        None,
        (1.1265, 0.0066),
        (1.1101, 0.0077),
        None,
        (0.0488, 0.0038),
        (0.0445, 0.0024),
        None,
    ),
}

# Test log-loss or ROC AUC, times 100 (Table 3).
COMPARISON_TARGETS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "otto": {"dnf-net": (45.600, 0.445), "xgboost": (45.705, 0.361), "fcn": (47.898, 0.480)},
    "gesture": {"dnf-net": (86.798, 0.810), "xgboost": (81.408, 0.806), "fcn": (102.070, 0.964)},
    "gas": {"dnf-net": (1.425, 0.104), "xgboost": (2.219, 0.219), "fcn": (5.814, 1.079)},
    "eye": {"dnf-net": (68.037, 0.651), "xgboost": (57.447, 0.664), "fcn": (78.797, 0.674)},
    "santander": {"dnf-net": (88.668, 0.128), "xgboost": (89.682, 0.165), "fcn": (86.722, 0.158)},
    "house": {"dnf-net": (95.451, 0.092), "xgboost": (95.525, 0.138), "fcn": (95.164, 0.103)},
}

# Shown beside another data set's figures, though it is not the same experiment.
STANDS_BESIDE = {"gas-drift": "gas"}
