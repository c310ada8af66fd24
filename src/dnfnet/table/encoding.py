"""One column to its encoded inputs: how each kind is measured in fit and computed afterwards.

One rule decides what happens to a cell about which nothing is known (a missing value or an unseen level). If
fit saw such cells, they have an input of their own, "is missing" or "other", whose weights were trained. If
fit saw none, such an input would have been 0 in every training row and its weights would be as random as on
the first day; so there is none, every input of the column takes its mean of fit, and a warning counts the
rows.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dnfnet.table.dates import PARTS, calendar_parts
from dnfnet.table.gain import Target, value_gain
from dnfnet.table.notes import Notes
from dnfnet.table.pieces import encode_pieces, measure_pieces, piece_names
from dnfnet.table.scaling import Floats, measure, standardise
from dnfnet.table.schema import Column, Scale
from dnfnet.table.single_values import encode_single_values, measure_single_values, single_value_names
from dnfnet.table.values import Values

Fitted = tuple[Column, list[Scale]]
MOST_SINGLE_VALUES = 1024
MOST_CELLS = 2**28  # of single values, over all rows: a gigabyte
# A category of more levels must show that those explain this share of the target's variance.
LEVELS_ANYWAY = 64
LEAST_GAIN_OF_LEVELS = 0.005


@dataclass(frozen=True)
class Rule:
    """What fit may make of a column: the levels and values with an input of their own, the pieces of numbers."""

    max_levels: int
    min_rows: float
    pieces: int
    single_values: bool


def fit_column(
    name: str, values: Values, weights: Floats | None, target: Target | None, rule: Rule, notes: Notes
) -> Fitted:
    """Measure one column on the training rows."""
    if values.kind == "numeric":
        return _fit_numeric(name, values, weights, target, rule, notes)
    if values.kind == "boolean":
        return _fit_boolean(name, values, weights)
    if values.kind == "category":
        return _fit_category(name, values, weights, target, rule)
    if values.kind == "datetime":
        return _fit_datetime(name, values, weights, rule.pieces)
    return Column(name, "empty", n_missing=len(values.data)), []


def without_rarest(
    columns: list[Column], scales: list[list[Scale]], n_rows: int
) -> tuple[list[Column], list[list[Scale]]]:
    """Leave out the rarest single values of a whole table, beyond the number that keeps it a matrix that fits."""
    most = min(MOST_SINGLE_VALUES, MOST_CELLS // n_rows)
    singles = [
        (scale.centre, c, i)
        for c, (column, own) in enumerate(zip(columns, scales, strict=True))
        for i, scale in enumerate(own[column.single_value_inputs], column.single_value_inputs.start)
    ]
    # Of equally rare values those that come first stay.
    rarest: dict[int, set[int]] = defaultdict(set)
    for _, c, i in sorted(singles, key=lambda single: (-single[0], *single[1:]))[most:]:
        rarest[c].add(i)
    thinned = [
        _without(column, own, rarest[c]) if c in rarest else (column, own)
        for c, (column, own) in enumerate(zip(columns, scales, strict=True))
    ]
    return [column for column, _ in thinned], [own for _, own in thinned]


def _without(column: Column, scales: list[Scale], singles: set[int]) -> Fitted:
    kept = [i for i in range(len(scales)) if i not in singles]
    inputs = tuple(column.inputs[i] for i in kept)
    n_left = column.n_single_values - len(singles)
    return replace(column, inputs=inputs, n_single_values=n_left), [scales[i] for i in kept]


def encode_column(column: Column, scales: list[Scale], values: Values, out: NDArray[np.float32], notes: Notes) -> None:
    """Write what a cell tells by itself into ``out``, which holds zeros and has no more inputs than that."""
    missing = values.missing
    n_missing = int(missing.sum())
    if n_missing and column.has_indicator:
        out[:, -1] = missing
    elif n_missing:
        notes.missing(column.name, n_missing)
    if values.kind == "empty":
        _fill_unknown(out, missing, column, scales)
    elif column.kind == "category":
        _encode_levels(column, scales, values, out, notes)
    elif column.kind == "datetime":
        parts = calendar_parts(values.data)
        for part, own in zip(column.parts, column.number_inputs, strict=True):
            _encode_numbers(column, scales[own], parts[part], out[:, own])
    elif column.kind == "boolean":
        out[:, 0] = np.where(missing, scales[0].fill, values.data)
    else:
        (own,) = column.number_inputs
        extremes = Scale(lower=scales[own][0].lower, upper=scales[own][-1].upper)
        data, singles = _finite(values.data, extremes, column.name, notes), column.single_value_inputs
        _encode_numbers(column, scales[own], data, out[:, own])
        encode_single_values(data, scales[singles], out[:, singles])


def _fit_numeric(
    name: str, values: Values, weights: Floats | None, target: Target | None, rule: Rule, notes: Notes
) -> Fitted:
    finite = np.isfinite(values.data)
    n_missing = int(np.isnan(values.data).sum())
    n_infinite = len(values.data) - int(finite.sum()) - n_missing
    if not finite.any():
        return Column(name, "empty", n_missing=n_missing, n_infinite=n_infinite), []
    known = values.data[finite]
    extremes = Scale(lower=float(known.min()), upper=float(known.max()))
    data = _finite(values.data, extremes, name, notes)
    present, missing_share = ~np.isnan(data), _share(np.isnan(data), weights)
    data, weights = data[present], None if weights is None else weights[present]
    scales = _measure_numbers(data, weights, rule.pieces)
    constant = extremes.lower == extremes.upper
    in_pieces = rule.pieces > 1 and not constant
    singles: list[Scale] = []
    if in_pieces and rule.single_values:
        known_target = None if target is None else target[present]
        singles = measure_single_values(data, weights, known_target, scales, min_rows=rule.min_rows)
    names = [*piece_names(name, scales), *single_value_names(name, singles)] if in_pieces else [name]
    inputs, indicator = _with_indicator(name, names, n_missing, missing_share)
    column = Column(
        name,
        "numeric",
        inputs,
        n_missing,
        n_infinite,
        has_indicator=n_missing > 0,
        constant=constant,
        pieces=(len(scales),) if in_pieces else (),
        n_single_values=len(singles),
    )
    return column, [*scales, *singles, *indicator]


def _fit_boolean(name: str, values: Values, weights: Floats | None) -> Fitted:
    present = ~values.missing
    share = float(np.average(values.data[present], weights=None if weights is None else weights[present]))
    n_missing, missing_share = len(present) - int(present.sum()), _share(~present, weights)
    inputs, indicator = _with_indicator(name, [name], n_missing, missing_share)
    column = Column(name, "boolean", inputs, n_missing, has_indicator=n_missing > 0)
    return column, [Scale(fill=share), *indicator]


def _fit_category(name: str, values: Values, weights: Floats | None, target: Target | None, rule: Rule) -> Fitted:
    present = values.data >= 0
    codes = values.data[present]
    n_missing, missing_share = len(present) - len(codes), _share(~present, weights)
    weights, target = None if weights is None else weights[present], None if target is None else target[present]
    n_rows = np.bincount(codes, minlength=len(values.levels))
    mass = np.bincount(codes, weights, minlength=len(values.levels)).astype(np.float64)
    few = _frequent(mass, rule, min(LEVELS_ANYWAY, rule.max_levels))
    more = _frequent(mass, rule, rule.max_levels)
    kept = more if _tell_more(codes, weights, target, more, few) else few
    rare = np.flatnonzero((n_rows > 0) & ~np.isin(np.arange(len(n_rows)), kept))
    levels = tuple(values.levels[i] for i in kept)
    # Without a frequent level, "other" would say no more than "not missing".
    has_other = bool(len(rare)) and bool(levels)
    names = [f"{name} = {level}" for level in levels]
    names += [f"{name} = {'any other' if 'other' in levels else 'other'}"] if has_other else []
    shares = [*mass[kept], *([mass[rare].sum()] if has_other else [])]
    inputs, indicator = _with_indicator(name, names, n_missing, missing_share)
    column = Column(
        name,
        "category",
        inputs,
        n_missing,
        levels=levels,
        n_rare_levels=len(rare),
        n_rare_rows=int(n_rows[rare].sum()),
        has_other=has_other,
        has_indicator=n_missing > 0,
        mixed=values.mixed,
    )
    return column, [*(Scale(fill=float(s / mass.sum())) for s in shares), *indicator]


def _frequent(mass: Floats, rule: Rule, most: int) -> NDArray[np.intp]:
    """Positions of the levels to keep: the most frequent, ties by text, in the order of their texts."""
    order = np.argsort(-mass, kind="stable")  # the levels come sorted by text
    order = order[:most]
    # A level is kept down to the threshold itself; the tolerance is for sums of fractional weights.
    return np.sort(order[mass[order] >= rule.min_rows * (1 - 1e-9)])


def _tell_more(
    codes: NDArray[np.int64],
    weights: Floats | None,
    target: Target | None,
    more: NDArray[np.intp],
    few: NDArray[np.intp],
) -> bool:
    """Whether more levels tell of the target what a few of them, and all others as one, do not."""
    if target is None or len(more) == len(few):
        return False
    rows = np.isin(codes, more)
    is_level = (more[:, None] == few).astype(np.float64)
    weights = None if weights is None else weights[rows]
    return value_gain(codes[rows], weights, target[rows], is_level) >= LEAST_GAIN_OF_LEVELS


def _fit_datetime(name: str, values: Values, weights: Floats | None, pieces: int) -> Fitted:
    present, missing_share = ~values.missing, _share(values.missing, weights)
    weights = None if weights is None else weights[present]
    n_missing = len(present) - int(present.sum())
    numbers = {part: v[present] for part, v in calendar_parts(values.data).items()}
    varying = tuple(part for part in PARTS if numbers[part].min() != numbers[part].max())
    scales = {part: _measure_numbers(numbers[part], weights, pieces) for part in varying}
    names = [f"{name} {part}" for part in varying]
    counts: tuple[int, ...] = ()
    if pieces > 1:
        names = [piece for part in varying for piece in piece_names(f"{name} {part}", scales[part])]
        counts = tuple(len(scales[part]) for part in varying)
    inputs, indicator = _with_indicator(name, names, n_missing, missing_share)
    column = Column(name, "datetime", inputs, n_missing, parts=varying, has_indicator=n_missing > 0, pieces=counts)
    return column, [*(scale for part in varying for scale in scales[part]), *indicator]


def _measure_numbers(values: Floats, weights: Floats | None, pieces: int) -> list[Scale]:
    """Measure finite numbers: in pieces if they vary and there shall be any, otherwise as a whole."""
    if pieces > 1 and values.min() != values.max():
        return measure_pieces(values, weights, pieces)
    return [measure(values, weights)]


def _encode_numbers(column: Column, scales: list[Scale], values: Floats, out: NDArray[np.float32]) -> None:
    if column.pieces:
        encode_pieces(values, scales, out)
    else:
        out[:, 0] = standardise(values, scales[0])


def _share(rows: NDArray[np.bool_], weights: Floats | None) -> float:
    return float(np.average(rows, weights=weights))


def _with_indicator(name: str, inputs: list[str], n_missing: int, share: float) -> tuple[tuple[str, ...], list[Scale]]:
    if not n_missing:
        return tuple(inputs), []
    return (*inputs, f"{name} is missing"), [Scale(fill=share)]


def _finite(values: Floats, scale: Scale, name: str, notes: Notes) -> Floats:
    """Replace infinite values by the extremes of fit."""
    infinite = np.isinf(values)
    if not infinite.any():
        return values
    notes.infinite(name, int(infinite.sum()))
    return np.where(infinite, np.where(values > 0, scale.upper, scale.lower), values)


def _encode_levels(column: Column, scales: list[Scale], values: Values, out: NDArray[np.float32], notes: Notes) -> None:
    n_levels = len(column.levels)
    if not n_levels:
        return
    slot = {level: i for i, level in enumerate(column.levels)}
    slots = np.array([slot.get(level, n_levels) for level in values.levels] + [-1])  # a code of -1: missing
    chosen = slots[values.data]
    unseen = chosen == n_levels
    known = np.flatnonzero((chosen >= 0) & (column.has_other | ~unseen))
    out[known, chosen[known]] = 1.0
    if column.has_other or not unseen.any():
        _fill_unknown(out, chosen < 0, column, scales)
        return
    notes.unseen(column.name, int(unseen.sum()), values.levels[values.data[np.argmax(unseen)]])
    _fill_unknown(out, chosen < 0, column, scales)
    _fill_means(out, unseen, column, scales)


def _fill_unknown(out: NDArray[np.float32], rows: NDArray[np.bool_], column: Column, scales: list[Scale]) -> None:
    """Give missing cells their means; a category's indicator is a level of its own and needs none."""
    if not (column.kind == "category" and column.has_indicator):
        _fill_means(out, rows, column, scales)


def _fill_means(out: NDArray[np.float32], rows: NDArray[np.bool_], column: Column, scales: list[Scale]) -> None:
    n_values = column.n_own_inputs - column.has_indicator
    if n_values and rows.any():
        out[rows, :n_values] = [scale.fill for scale in scales[:n_values]]
