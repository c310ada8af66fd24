"""What a model hands back: predictions for the two parts that are scored, and facts about its training."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Predictions:
    """Probabilities: of shape (rows,) for two classes and (rows, classes) for more."""

    validation: NDArray[np.floating[Any]]
    test: NDArray[np.floating[Any]]
    facts: dict[str, Any] = field(default_factory=dict)
