"""Arguments of the estimators that belong together."""

from __future__ import annotations

from typing import Any

# The paper's settings, but for what its grid search varies (Appendix D).
PAPER: dict[str, Any] = {
    "n_groups": None,
    "pieces": 1,
    "conjunctions": (6, 9, 12, 15),
    "lengths": (2, 4, 6),
    "keep_probs": (0.1, 0.3, 0.5, 0.7, 0.9),
    "localization": "gaussian",
    "structure": "dnf",
    "learning_rate": 0.05,
    "schedule": "plateau",
    "weight_decay": 0.0,
    "shared_steps": False,
    "dropout": 0.0,
    "together": 0.0,
    "batch_size": 2048,
    "max_epochs": 1000,
    "patience": 30,
    "lr_patience": 10,
    "validation_fraction": 0.125,
    "metric": "paper",
    "calibrate": False,
}
