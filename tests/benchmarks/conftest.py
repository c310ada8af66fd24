"""Tables of a few rows for the bench."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in, with two tables as users have them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DNFNET_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    rng = np.random.default_rng(0)
    n = 120
    age, town = rng.normal(40, 10, n), rng.choice(["Rome", "Oslo", "Bern"], n)
    X = pd.DataFrame(
        {"Age": np.where(rng.random(n) < 0.1, np.nan, age), "Town": town, "Name": [f"n{i}" for i in range(n)]}
    )
    X.assign(Survived=(age + 9 * (town == "Rome") > 42).astype(int)).to_parquet(tmp_path / "data" / "titanic.parquet")
    X.assign(price=100 * age).sort_values("price").to_parquet(tmp_path / "data" / "diamonds.parquet")
    return tmp_path
