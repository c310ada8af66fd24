"""Sizes and rates of a fit, chosen from the data wherever the argument is "auto".

The rules, with n rows given to ``fit``, those that it sets aside to stop by among them:

- of more than 128 columns, those that tell nothing of the target by themselves do not count here, nor are they used:
  see `dnfnet.table.screening`. Not in a stream of rows;
- a numeric column becomes as many pieces as make 512 of all columns, or a quarter as many as there are distinct
  rows if that is less; at least 4, or 2 from 128 columns on, and at most 32;
- 128 formulas below 4,000 rows and 256 from there on, or 512 for more than two classes;
- groups of formulas with an output layer each: 16 for each target (or label, of which a row may have several) and 4 for
  each class, as a power of 2 from 16 to 64, but two groups at least; or what is nearest to that and divides a number of
  formulas that was given;
- n rows in one batch up to 1,024 of them, in batches of 512 up to 2^16, beyond in about 64 batches of a power of 2, at
  most 4,096;
- as many epochs as make 600 steps, at least 20 and at most 400; for those 512 formulas 1,050 steps, at least 36;
- of 20 columns or more, those 512 formulas are trained on rows without 5 % of their numbers, others in each epoch; so
  many columns tell of one another, and so many formulas can learn single rows by heart. Not in a stream of rows;
- of the rows, 2,500 to stop by, but at most an eighth and at least a 32nd of them;
- rate 0.02; the weight decay is 8 divided by the steps of an epoch and at most 2: at the full rate, an epoch of 4
  steps or more shrinks weights by 15 %. In a stream of rows it is at most 0.5: there the rate does not fall, and
  the shrinking with it;
- below 4,000 rows, and not in a stream of rows, groups are held in turn: every second pair of them by that decay and
  by a scale of steps that all weights of a literal share, because useless inputs mislead most where rows are few;
  the others by a twentieth of the decay alone, because some small tables have no noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dnfnet.exceptions import ModelFileError
from dnfnet.table import MANY_COLUMNS

if TYPE_CHECKING:
    from dnfnet.estimators.base import BaseDNFNet

LEAST_GROUP, LARGEST_GROUP = 16, 64
PER_TARGET, PER_CLASS = 16, 4
ONE_BATCH = 1024
MANY_ROWS = 4000
INPUTS, ROWS_PER_INPUT = 512, 4
VALIDATION_ROWS, LEAST_FRACTION, MOST_FRACTION = 2500, 1 / 32, 1 / 8
FREE_DECAY = 0.05
DROPOUT, SEVERAL_COLUMNS = 0.05, 20
# Settings that groups of formulas may take in turn, one of several.
IN_TURN = ("weight_decay", "shared_steps")


@dataclass(frozen=True)
class Settings:
    """What a fit was run with."""

    n_formulas: int
    n_groups: int | None
    pieces: int
    batch_size: int
    max_epochs: int
    learning_rate: float
    weight_decay: float | tuple[float, ...]
    shared_steps: bool | tuple[bool, ...] = False
    dropout: float = 0.0
    validation_fraction: float = MOST_FRACTION

    def with_network_of(self, built: Settings) -> Settings:
        """These, but for the sizes of a network that is there already."""
        return replace(self, n_formulas=built.n_formulas, n_groups=built.n_groups, pieces=built.pieces)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for a file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Settings:
        """Rebuild what ``to_dict`` gave; an error if a file holds anything else."""
        values: dict[str, Any] = {field.name: entry[field.name] for field in fields(cls) if field.default is MISSING}
        # Files of before these have no such entries.
        values |= {
            field.name: entry.get(field.name, field.default) for field in fields(cls) if field.name not in values
        }
        values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        for name, value in values.items():
            if not _is_setting(name, value):
                raise ModelFileError(f"This is no complete dnfnet model: its setting {name} is {value!r}.")
        return cls(**values)


def _is_setting(name: str, value: Any) -> bool:
    if isinstance(value, tuple):
        return name in IN_TURN and len(value) > 0 and all(_is_setting(name, one) for one in value)
    if name == "shared_steps":
        return isinstance(value, bool)
    if name in ("learning_rate", "weight_decay", "dropout", "validation_fraction"):
        return isinstance(value, float) and value >= 0
    return (name == "n_groups" and value is None) or (type(value) is int and value >= 1)


def choose_settings(
    model: BaseDNFNet,
    n_rows: int,
    n_columns: int,
    n_classes: int,
    n_targets: int = 1,
    *,
    n_distinct: int | None = None,
    stream: bool = False,
) -> Settings:
    """The arguments of a model, with numbers in place of every "auto"; a real target has no classes.

    The distinct rows, where they were counted, keep a row of weight 2 the same as two rows.
    """
    large = n_rows >= MANY_ROWS and n_classes > 2
    steps, least_epochs = (1050, 36) if large else (600, 20)
    batch_size = _or(model.batch_size, _batch(n_rows))
    n_formulas = int(_or(model.n_formulas, 512 if large else _formulas(n_rows)))
    decay = min(0.5 if stream else 2.0, 8 * batch_size / n_rows)
    in_turn = n_rows < MANY_ROWS and not stream
    return Settings(
        n_formulas=n_formulas,
        n_groups=None if model.n_groups is None else _groups(model.n_groups, n_formulas, n_classes, n_targets),
        pieces=int(_or(model.pieces, _pieces(n_distinct or n_rows, n_columns))),
        batch_size=int(batch_size),
        max_epochs=int(_or(model.max_epochs, _epochs(n_rows, int(batch_size), steps, least_epochs))),
        learning_rate=float(_or(model.learning_rate, 0.02)),
        weight_decay=_each(float, _or(model.weight_decay, (decay, FREE_DECAY * decay) if in_turn else decay)),
        shared_steps=_each(bool, _or(model.shared_steps, (True, False) if in_turn else False)),
        dropout=float(_or(model.dropout, DROPOUT if large and n_columns >= SEVERAL_COLUMNS and not stream else 0.0)),
        validation_fraction=float(_or(model.validation_fraction, _validation(n_rows))),
    )


def is_one_batch(batch_size: int | str, n_rows: int) -> bool:
    """Whether so many rows are trained on all at once."""
    return n_rows <= (ONE_BATCH if isinstance(batch_size, str) else batch_size)


def _batch(n_rows: int) -> int:
    if n_rows <= ONE_BATCH:
        return n_rows
    return 512 if n_rows <= 2**16 else min(2 ** round(math.log2(n_rows / 64)), 4096)


def _pieces(n_distinct: int, n_columns: int) -> int:
    least = 4 if n_columns < MANY_COLUMNS else 2
    return max(least, min(INPUTS // n_columns, n_distinct // (ROWS_PER_INPUT * n_columns), 32))


def _validation(n_rows: int) -> float:
    return min(max(VALIDATION_ROWS / max(n_rows, 1), LEAST_FRACTION), MOST_FRACTION)


def _formulas(n_rows: int) -> int:
    return 128 if n_rows < MANY_ROWS else 256


def _groups(given: int | str, n_formulas: int, n_classes: int, n_targets: int) -> int:
    if not isinstance(given, str):
        return int(given)
    best = min(_group_size(n_classes, n_targets), max(LEAST_GROUP, n_formulas // 2))
    sizes = [size for size in range(best // 4, best * 4 + 1) if n_formulas % size == 0]
    return n_formulas // min(sizes, key=lambda size: abs(math.log(size / best))) if sizes else 1


def _group_size(n_classes: int, n_targets: int) -> int:
    """So many formulas that an output layer can tell its outputs apart; classes that exclude each other share them."""
    wanted = max(PER_CLASS * n_classes, PER_TARGET * n_targets)
    return 2 ** round(math.log2(np.clip(wanted, LEAST_GROUP, LARGEST_GROUP)))


def _epochs(n_rows: int, batch_size: int, steps: int, least: int) -> int:
    steps_per_epoch = -(-n_rows // batch_size)
    return int(np.clip(round(steps / steps_per_epoch), least, 400))


def _or(value: Any, chosen: Any) -> Any:
    return chosen if isinstance(value, str) else value


def _each(kind: type, value: Any) -> Any:
    """One value or several as plain ones of that kind."""
    return tuple(map(kind, value)) if np.ndim(value) else kind(value)
