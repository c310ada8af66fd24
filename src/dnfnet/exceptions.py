"""The errors of dnfnet: one tree, each leaf also of the type that scikit-learn users already catch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.exceptions import NotFittedError as _SklearnNotFittedError


class DNFNetError(Exception):
    """Anything that dnfnet raises on purpose."""


class InvalidParameterError(DNFNetError, ValueError):
    """An argument has a value that cannot work; the message names it and says what can."""


class InvalidTableError(DNFNetError, ValueError):
    """A table cannot be used as it is; the message names the column and says what to do."""


class SchemaMismatchError(InvalidTableError):
    """A table for prediction differs from the one that the model was fitted on."""


class InvalidTargetError(DNFNetError, ValueError):
    """The target cannot be learned as it is; the message says why."""


class NotFittedError(DNFNetError, _SklearnNotFittedError):
    """The model has not been fitted yet."""


class NonFiniteLossError(DNFNetError, FloatingPointError):
    """The loss became NaN or infinite, and a lower learning rate did not help."""


class ModelFileError(DNFNetError, ValueError):
    """A model file is truncated, edited, of another kind or of a later version."""


class DatasetUnavailableError(DNFNetError, FileNotFoundError):
    """A data set of the study cannot be had; the message says what to download and where to put it."""


class DatasetMismatchError(DNFNetError, ValueError):
    """A data set of the study is not the one that was expected; the message says what was."""


class ResultStoreError(DNFNetError, ValueError):
    """Stored results or partitions are damaged, or of another protocol."""


class MissingDependencyError(DNFNetError, ImportError):
    """An optional package is needed; the message has the command that installs it."""


class TrainingWarning(UserWarning):
    """Training went on or ended in a way that the user should know of."""


class UnsupportedTypeError(InvalidTableError, TypeError):
    """A table, or a cell of it, is of a type that cannot be learned from, such as sparse data or a dict."""


class TableWarning(UserWarning):
    """Values of a table were replaced by others; the message names the columns and counts the rows."""


class ModelFileWarning(UserWarning):
    """A model file does not hold everything that the model has; the message says what."""


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Say in front of every error of the block which of several arguments or files it is about."""
    try:
        yield
    except DNFNetError as error:
        raise type(error)(f"{place}: {error}") from error
