"""Any table to a float32 matrix, and back to the same one from a dict and an array."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dnfnet.exceptions import InvalidParameterError, InvalidTableError, NotFittedError
from dnfnet.table.deviations import deviations_of
from dnfnet.table.encoding import Rule, encode_column, fit_column, without_rarest
from dnfnet.table.gain import Target
from dnfnet.table.matching import check_kind, match_columns, raise_retyped
from dnfnet.table.notes import Notes
from dnfnet.table.pieces import are_pieces
from dnfnet.table.runs import Run, numbers_of, runs_of
from dnfnet.table.scaling import LIMIT
from dnfnet.table.schema import Column, Scale, Schema
from dnfnet.table.single_values import are_single_values
from dnfnet.table.sources import open_table, refuse_empty
from dnfnet.table.value_means import ValueMeans, add_value_means, encode_value_means, means_state, read_means
from dnfnet.table.weights import row_weights

Naming = Literal["strings", "other", "positions"]


class TableEncoder:
    """Turn a table as users have it into a float32 matrix without gaps.

    Numbers are standardised by the weighted mean and deviation of the training rows, truth values become 0
    or 1, texts and categories one 0/1 input per frequent level, dates their parts. Missing values take the
    mean, beside an input that says so if the column had missing values in fit. No NaN and no infinite value
    ever comes out.

    Parameters
    ----------
    datetimes : {"refuse", "expand"}
        What to do with dates: an error that says how to go on, or year, month, day, weekday, hour, minute and
        second, those of them that vary.
    max_levels : int
        The most levels of a category that get an input of their own; the most frequent ones win. More than 64 get one
        only if fit knows the target, and they tell of it what those 64 do not.
    min_level_rows : int or "auto"
        Levels in fewer rows share the input "other". "auto" is 1 % of the rows, at least 2 and at most 10.
    extra_columns : {"refuse", "ignore"}
        What to do in :meth:`transform` with columns that fit did not see.
    pieces : int
        Into how many pieces the range of a number is cut, at the quantiles of the training rows: each piece is
        an input that goes from its lowest to its highest value between the piece's edges. 1 is one
        standardised input for the whole range, as in the paper.
    single_values : bool
        Whether, with more pieces than one, a column of whole numbers, at most 512 distinct ones, also gets an input
        for each of its frequent values, and any other column of which they tell much of the target.
    value_means : bool
        Whether, with more pieces than one, a column of more values than get inputs (an identifier, a name) also gets
        the mean target of the rows with its value, in pieces, if that tells of the target: see
        `dnfnet.table.value_means`.

    Attributes
    ----------
    schema : Schema
        What each column became; printing it shows a small table.
    encoded_names : list of str
        One readable name per encoded input, such as ``age``, ``age 17 to 28``, ``age is missing`` or
        ``sex = male``.
    encoded_column : ndarray of int
        The position of each encoded input's column in the table of fit.
    n_features_in_, feature_names_in_
        As scikit-learn has them: the names are there only if all of them are strings.

    Examples
    --------
    >>> encoder = TableEncoder(min_level_rows=1)
    >>> encoder.fit([[1.0, "a"], [3.0, "b"]]).transform([[1.0, "b"]])
    array([[-1.,  0.,  1.]], dtype=float32)
    >>> encoder.encoded_names
    ['x0', 'x1 = a', 'x1 = b']
    """

    def __init__(
        self,
        *,
        datetimes: Literal["refuse", "expand"] = "refuse",
        max_levels: int = 512,
        min_level_rows: int | Literal["auto"] = "auto",
        extra_columns: Literal["refuse", "ignore"] = "refuse",
        pieces: int = 1,
        single_values: bool = True,
        value_means: bool = True,
    ) -> None:
        _check_choice("datetimes", datetimes, ("refuse", "expand"))
        _check_count("max_levels", max_levels)
        if min_level_rows != "auto":
            _check_count("min_level_rows", min_level_rows)
        _check_count("pieces", pieces)
        _check_choice("single_values", single_values, (True, False))
        _check_choice("value_means", value_means, (True, False))
        self.datetimes = datetimes
        self.max_levels = max_levels
        self.min_level_rows = min_level_rows
        self.extra_columns = extra_columns
        self.pieces = int(pieces)
        self.single_values = bool(single_values)
        self.value_means = bool(value_means)

    def fit(
        self, X: Any, sample_weight: Any = None, target: Target | None = None, columns: NDArray[np.intp] | None = None
    ) -> TableEncoder:
        """Learn what the columns are and how to encode them.

        Parameters
        ----------
        X : array, list of rows, or pandas, polars or Arrow table
            The training rows.
        sample_weight : array of shape (n_rows,), optional
            Weights, none negative. Equal weights are no weights, weight 0 is a row left out, and a whole
            number is that many copies of the row; fractional weights count relative to their mean.
        target : array of shape (n_rows,) or (n_rows, outputs), optional
            Numbers of classes, or real numbers. Single numbers of a column then get inputs only if they tell of it
            what the column's pieces do not, and values may get their means of it.
        columns : array of int, optional
            Positions of the columns to use: what the others hold does not matter, now or later.

        Returns
        -------
        TableEncoder
            This encoder.
        """
        source = open_table(X)
        refuse_empty(source)
        rows, weights = row_weights(sample_weight, source.shape[0])
        source = source if rows is None else source.filter(rows)
        target = target if rows is None or target is None else target[rows]
        notes = Notes()
        rule = self._rule(float(weights.sum()) if weights is not None else source.shape[0])
        names = source.names or [f"x{i}" for i in range(source.shape[1])]
        became: list[Column] = []
        scales: list[list[Scale]] = []
        used = set(range(len(names)) if columns is None else columns.tolist())
        for index, name in enumerate(names):
            column = Column(name, "unused")
            column_scales: list[Scale] = []
            if index in used:
                values = source.values(index, name)
                if values.kind == "datetime" and self.datetimes == "refuse":
                    raise _datetime_refused(name, values.dtype)
                column, column_scales = fit_column(name, values, weights, target, rule, notes)
            became.append(column)
            scales.append(column_scales)
        became, scales = without_rarest(became, scales, source.shape[0])
        means: dict[int, ValueMeans] = {}
        if self.value_means and self.pieces > 1:
            read = [partial(source.values, i, column.name, column.mixed) for i, column in enumerate(became)]
            became, scales, means = add_value_means(became, scales, read, weights, target, self.pieces)
        naming: Naming = "positions" if source.names is None else "strings" if source.all_strings else "other"
        self._set_fitted(Schema(tuple(became)), scales, naming, means)
        notes.tell()
        return self

    def transform(self, X: Any, sample_weight: Any = None, target: Target | None = None) -> NDArray[np.float32]:
        """Encode a table; each row by itself, so a part of a table gives that part of the matrix.

        Parameters
        ----------
        X : array, list of rows, or pandas, polars or Arrow table
            A table with the columns of fit, in any order if they have names.
        sample_weight, target : arrays, optional
            Those of the rows of fit, to encode these for training: the means of a row's values are then those of other
            rows, so that no row sees its own target. Rows of weight 0, which were not in fit, are encoded as ever.

        Returns
        -------
        ndarray of float32, shape (n_rows, n_encoded)
            The encoded rows.
        """
        schema = self.schema
        source = open_table(X)
        notes, retyped = Notes(), []
        order = match_columns(source, schema.names, self._naming, self.extra_columns, notes)
        out = np.zeros((source.shape[0], len(self.encoded_names)), dtype=np.float32)
        start = 0
        for column, scales, index in zip(schema, self._scales, order, strict=True):
            n = column.n_own_inputs
            if column.n_inputs:
                values = source.values(index, column.name, column.mixed)
                problem = check_kind(column, values)
                if problem is None:
                    encode_column(column, scales[:n], values, out[:, start : start + n], notes)
                else:
                    retyped.append(problem)
            start += column.n_inputs
        raise_retyped(retyped)
        if self._means:
            read = [partial(source.values, i, c.name, c.mixed) for i, c in zip(order, schema, strict=True)]
            encode_value_means(schema.columns, self._scales, self._means, read, sample_weight, target, out)
        notes.tell()
        return out

    @property
    def extra_columns(self) -> Literal["refuse", "ignore"]:
        """What becomes of columns that fit did not have."""
        return self._extra_columns

    @extra_columns.setter
    def extra_columns(self, value: Literal["refuse", "ignore"]) -> None:
        _check_choice("extra_columns", value, ("refuse", "ignore"))
        self._extra_columns = value

    @property
    def schema(self) -> Schema:
        """What each column became."""
        if not hasattr(self, "_schema"):
            raise NotFittedError("This TableEncoder is not fitted yet: call fit first.")
        return self._schema

    @property
    def input_scales(self) -> NDArray[np.float64]:
        """Rows of ``(unit, centre, deviation, lower, upper, fill)``, one per encoded input: see ``Scale``."""
        rows = [scale for scales in self._scales for scale in scales]
        return np.array(rows, dtype=np.float64).reshape(-1, len(Scale._fields))

    @property
    def input_deviations(self) -> NDArray[np.float64]:
        """The deviation of each encoded input in ``fit``, as far as its scale tells: see `dnfnet.table.deviations`."""
        return deviations_of(self.schema.columns, self._scales)

    @property
    def input_numbers(self) -> NDArray[np.int64]:
        """Which number each encoded input is a part of, or -1: see `dnfnet.table.runs`."""
        return numbers_of(self.schema.columns)

    @property
    def runs(self) -> tuple[list[Run], NDArray[np.float32]]:
        """Which inputs depend on one place, and the two ends of each input: see `dnfnet.table.runs`."""
        return runs_of(self.schema.columns, self._scales)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Give everything that :meth:`from_state` needs: a dict for JSON, and arrays."""
        options = {
            "datetimes": self.datetimes,
            "max_levels": self.max_levels,
            "min_level_rows": self.min_level_rows,
            "extra_columns": self.extra_columns,
            "pieces": self.pieces,
            "single_values": self.single_values,
            "value_means": self.value_means,
        }
        entry = {"options": options, "naming": self._naming, "schema": self.schema.to_dict()}
        levels, arrays = means_state(self._means)
        return {**entry, "mean_levels": levels}, {"input_scales": self.input_scales, **arrays}

    @classmethod
    def from_state(cls, entry: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> TableEncoder:
        """Rebuild a fitted encoder that gives the same bits."""
        try:
            encoder = cls(**entry["options"])
            schema, naming = Schema.from_dict(entry["schema"]), entry["naming"]
            scales = arrays["input_scales"]
            if scales.dtype != np.float64 or scales.shape[1:] != (len(Scale._fields),):
                raise ValueError(f"scales of {scales.dtype} and shape {scales.shape}")
            rows = [Scale(*row) for row in scales.tolist()]
            means = read_means(schema.columns, entry.get("mean_levels", {}), arrays)  # files of before have none
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidTableError(f"The encoder's state is damaged: {error!r}") from error
        _check_state(schema, rows, naming)
        pending = iter(rows)
        grouped = [[next(pending) for _ in column.inputs] for column in schema]
        _check_pieces(schema, grouped)
        encoder._set_fitted(schema, grouped, naming, means)
        return encoder

    def _set_fitted(
        self, schema: Schema, scales: list[list[Scale]], naming: Naming, means: dict[int, ValueMeans]
    ) -> None:
        names = [name for column in schema for name in column.inputs]
        if not names:
            raise InvalidTableError(
                f"No column has anything to learn from: all are without values or have only rare levels.\n{schema}"
            )
        self._schema, self._scales, self._naming, self._means = schema, scales, naming, means
        self.encoded_names = names
        self.encoded_column = np.repeat(np.arange(len(schema)), [column.n_inputs for column in schema])
        self.n_features_in_ = len(schema)
        self.__dict__.pop("feature_names_in_", None)
        if naming == "strings":
            self.feature_names_in_ = np.array(schema.names, dtype=object)

    def _rule(self, n_rows: float) -> Rule:
        threshold = self.min_level_rows
        min_rows = min(10.0, max(2.0, n_rows / 100)) if threshold == "auto" else threshold
        return Rule(self.max_levels, min_rows, self.pieces, self.single_values)


def _check_choice(name: str, value: Any, choices: tuple[object, ...]) -> None:
    if not isinstance(value, str | bool | np.bool_) or value not in choices:  # an array is in nothing
        raise InvalidParameterError(f"{name} must be one of {choices}, however: {value!r}")


def _check_count(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidParameterError(f"{name} must be a whole number of at least 1, however: {value!r}")


def _check_state(schema: Schema, scales: list[Scale], naming: Any) -> None:
    """Refuse what an edited file could hold, so that no NaN comes out of an encoder from any file."""
    unsound = [column.name for column in schema if not column.is_sound()]
    if unsound or naming not in get_args(Naming):
        raise InvalidTableError(f"The encoder's state is damaged: its columns {unsound[:5]} are not sound.")
    if len(scales) != sum(column.n_inputs for column in schema):
        raise InvalidTableError("The scales do not fit the schema: they are of different encoders.")
    if not all(np.isfinite(scale).all() and scale.unit > 0 and scale.deviation > 0 for scale in scales):
        raise InvalidTableError("The encoder's state is damaged: its scales are not finite and positive.")
    if not all(abs(scale.fill) <= LIMIT for scale in scales):  # float32 ends at 3e38
        raise InvalidTableError("The encoder's state is damaged: a mean in it is none of any encoded input.")


def _check_pieces(schema: Schema, scales: list[list[Scale]]) -> None:
    for column, own in zip(schema, scales, strict=True):
        if column.pieces and not all(are_pieces(own[inputs]) for inputs in column.number_inputs):
            raise InvalidTableError(
                f"The encoder's state is damaged: the edges of the pieces of {column.name!r} are not in order."
            )
        if column.n_mean_pieces and not are_pieces(own[column.mean_inputs]):
            raise InvalidTableError(f"The encoder's state is damaged: the means of {column.name!r} are not in order.")
        if not are_single_values(own[column.single_value_inputs]):
            raise InvalidTableError(f"The encoder's state is damaged: values of {column.name!r} are not in order.")


def _datetime_refused(name: str, dtype: str) -> InvalidTableError:
    return InvalidTableError(
        f'Column {name!r} holds dates ({dtype}), which are not guessed at: pass datetimes="expand" to learn '
        f"from their year, month, day, weekday and time, or drop the column: X = X.drop(columns=[{name!r}])"
    )
