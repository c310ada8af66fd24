"""A trial: one configuration of one model on one partition with one seed, and the key that names it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# Part of every key. Raise it when the meaning of a trial changes (data preparation, partitions, training
# rules), so that old results can never be taken for new ones.
PROTOCOL = 1

Config = Mapping[str, Any]


def canonical(value: Any) -> str:
    """Write a value as JSON in the one form that equal values share."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True)
class Trial:
    """What a result is a pure function of.

    Parameters
    ----------
    dataset : str
        A name of the registry, or of a synthetic instance such as ``"syn4-d50"``.
    model : str
        ``"dnf-net"``, ``"xgboost"``, ``"fcn"`` or ``"synthetic-fcn"``.
    config : mapping
        The configuration, complete: an ablation is a configuration of ``"dnf-net"``.
    partition : int
        0 to 4.
    seed : int
        The paper has 1, 2 and 3.
    """

    dataset: str
    model: str
    config: Config
    partition: int
    seed: int

    @property
    def fields(self) -> dict[str, Any]:
        """The trial as plain values."""
        return {**{name: getattr(self, name) for name in self.__dataclass_fields__}, "config": dict(self.config)}

    @cached_property
    def key(self) -> str:
        """A name that is the same on every machine: a hash of the trial and the protocol."""
        text = canonical({"protocol": PROTOCOL, **self.fields})
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Trial:
        """Rebuild the trial of a stored record."""
        return cls(**{name: record[name] for name in cls.__dataclass_fields__})

    def __str__(self) -> str:
        settings = " ".join(f"{name}={value}" for name, value in self.config.items())
        return f"{self.dataset} {self.model} {settings} partition {self.partition} seed {self.seed}"
