"""Where the tables of the study come from: a data directory first, then the user's CSV, then OpenML."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dnfnet.compat import require
from dnfnet.exceptions import DatasetUnavailableError

if TYPE_CHECKING:
    import pandas as pd

    from dnfnet.paper.datasets import DatasetSpec

DATA_DIR_VARIABLE = "DNFNET_DATA_DIR"


@dataclass(frozen=True)
class DataSources:
    """The places to look in, as plain text, so that they travel to a worker as they are."""

    data_dir: str | None = None
    csv: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, data_dir: str | Path | None = None, csv: Mapping[str, str | Path] | None = None) -> DataSources:
        """Collect the places, taking the data directory from the environment when none is given."""
        chosen = data_dir or os.environ.get(DATA_DIR_VARIABLE)
        paths = {name: str(Path(path).resolve()) for name, path in (csv or {}).items()}
        return cls(str(Path(chosen).resolve()) if chosen else None, paths)

    def locate(self, spec: DatasetSpec) -> Path | None:
        """Return the file that would be read, or None when only the network is left."""
        parquet = self._in_data_dir(f"{spec.stem}.parquet")
        if parquet is None and spec.name in self.csv:
            return self._must_exist(Path(self.csv[spec.name]))
        return parquet or self._in_data_dir(f"{spec.stem}.csv", f"{spec.kaggle or spec.stem}/train.csv")

    def _in_data_dir(self, *names: str) -> Path | None:
        """Return the first of these files that the data directory has."""
        if self.data_dir is None:
            return None
        folder = self._must_exist(Path(self.data_dir))
        return next((folder / name for name in names if (folder / name).is_file()), None)

    def read(self, spec: DatasetSpec) -> pd.DataFrame:
        """Read the table from the first place that has it."""
        pandas = require("pandas", "paper")
        path = self.locate(spec)
        if path is not None:
            return pandas.read_parquet(path) if path.suffix == ".parquet" else pandas.read_csv(path)
        if spec.openml_id is None:
            raise DatasetUnavailableError(_advice(spec))
        return _from_openml(spec)

    @staticmethod
    def _must_exist(path: Path) -> Path:
        if not path.exists():
            raise DatasetUnavailableError(f"There is no {path}: check the path of the data.")
        return path


def _from_openml(spec: DatasetSpec) -> pd.DataFrame:
    """Fetch from OpenML through scikit-learn, which keeps what it fetched in its own cache."""
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # It warns before it tries again; the error says all there is to say.
            warnings.filterwarnings("ignore", "A network error occurred")
            return fetch_openml(data_id=spec.openml_id, as_frame=True, parser="auto", n_retries=1).frame
    except OSError as error:
        raise DatasetUnavailableError(_advice(spec, f" and OpenML cannot be reached ({error})")) from error


def _advice(spec: DatasetSpec, why: str = "") -> str:
    """Say in one sentence what to download and where to put it."""
    if spec.kaggle:
        what = f"train.csv from https://www.kaggle.com/c/{spec.kaggle}/data"
        where = f"pass it as --csv {spec.name}=PATH, or save it as {spec.stem}.csv"
    else:
        what = f"the table from https://www.openml.org/d/{spec.openml_id}"
        where = f"save it as {spec.stem}.parquet or {spec.stem}.csv"
    return (
        f"The data set '{spec.name}' is not here{why}: download {what} and {where} in a directory that "
        f"--data-dir or {DATA_DIR_VARIABLE} names."
    )
