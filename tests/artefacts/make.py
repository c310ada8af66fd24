"""Make the model files of this version: ``python tests/artefacts/make.py``, once per release.

Each file is tiny. Beside it stands a JSON file with a few rows and what the model predicts for them, so that every
later version can prove that it still reads the file and predicts the same. A file that is there stays as it is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dnfnet import DNFNetClassifier, DNFNetRegressor, __version__

SMALL = {"n_formulas": 4, "conjunctions": (2, 3), "lengths": (1, 2), "max_epochs": 20, "random_state": 0}


def table() -> pd.DataFrame:
    """Rows of every kind of column, with gaps."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 12, 120).round(2),
            "größe": rng.lognormal(size=120).round(3),
            "city": rng.choice(["Rom", "Oslo", "Bern"], 120),
            "member": rng.random(120) < 0.5,
            "when": (pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 9000, 120), "h")).astype(
                "datetime64[s]"
            ),
        }
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "city"] = None
    return frame


def models() -> dict[str, Any]:
    """A fitted model of each kind, by the name of its file."""
    frame = table()
    numeric = frame[["age", "größe"]].to_numpy()
    old = frame["age"].fillna(0) > 40
    cities = frame["city"].fillna("?")
    value = frame["größe"] * 3 + old
    dated = {**SMALL, "datetimes": "expand"}
    return {
        "binary": DNFNetClassifier(**SMALL).fit(numeric, old.astype(int)),
        "multiclass-text": DNFNetClassifier(**SMALL, class_weight="balanced").fit(numeric, cities.to_numpy(dtype=str)),
        "mixed-regression": DNFNetRegressor(**dated).fit(frame, value),
        "multilabel": DNFNetClassifier(**dated).fit(frame, np.column_stack([old, frame["member"], value > 3])),
        "quantile": DNFNetRegressor(**SMALL, loss="quantile", quantiles=(0.1, 0.5, 0.9)).fit(numeric, value),
        "poisson": DNFNetRegressor(**SMALL, loss="poisson").fit(numeric, value.round()),
        "ensemble": DNFNetClassifier(**dated, n_groups=2, n_ensemble=2).fit(frame, cities.to_numpy(dtype=str)),
        "several-outputs": DNFNetRegressor(**SMALL).fit(numeric, np.column_stack([value, -value])),
    }


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The first rows, as JSON has them."""
    return json.loads(frame[:12].to_json(orient="records", date_format="iso", date_unit="s"))


def main() -> None:
    """Write a model file and a JSON file per kind."""
    folder = Path(__file__).parent / __version__
    folder.mkdir(exist_ok=True)
    frame = table()
    for name, model in models().items():
        if (folder / f"{name}.dnfnet").exists():
            continue
        X = frame if hasattr(model, "feature_names_in_") else frame[["age", "größe"]].to_numpy()
        expected = {"predict": model.predict(X[:12]).tolist()}
        if hasattr(model, "predict_proba"):
            expected["predict_proba"] = model.predict_proba(X[:12]).tolist()
        model.save(folder / f"{name}.dnfnet")
        record = {"named": hasattr(model, "feature_names_in_"), "rows": rows(frame), **expected}
        (folder / f"{name}.json").write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
