"""The deviation of each encoded input, against that of the encoded rows."""

import numpy as np
import pandas as pd
import pytest

from dnfnet.table import TableEncoder

N = 400


def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "number": rng.lognormal(size=N),
            "gaps": np.where(rng.random(N) < 0.2, np.nan, rng.normal(size=N)),
            "truth": rng.random(N) < 0.1,
            "level": rng.choice(list("abc"), size=N, p=[0.7, 0.25, 0.05]),
            "code": rng.choice(6, size=N, p=[0.5, 0.3, 0.1, 0.05, 0.03, 0.02]),
        }
    )


@pytest.mark.parametrize("pieces", [1, 4, 20])
def test_they_are_those_of_the_rows_of_fit(pieces):
    encoder = TableEncoder(pieces=pieces)
    encoded = encoder.fit(frame()).transform(frame())
    measured = encoded.std(0)
    # A missing number is put at the mean, which the scale does not tell.
    expected = np.where(
        [name.startswith("gaps") and "missing" not in name for name in encoder.encoded_names],
        min(1, 8 / pieces),
        measured,
    )
    np.testing.assert_allclose(encoder.input_deviations, expected, rtol=1e-4)
    assert encoder.input_deviations.min() < 0.7


def test_a_weight_is_that_many_rows():
    table, weights = frame(), np.random.default_rng(1).integers(1, 4, size=N)
    weighted = TableEncoder(pieces=4).fit(table, sample_weight=weights).input_deviations
    repeated = TableEncoder(pieces=4).fit(table.loc[table.index.repeat(weights)]).input_deviations
    np.testing.assert_allclose(weighted, repeated)


def test_an_input_that_hardly_ever_varies_has_the_least_deviation():
    table = pd.DataFrame({"truth": np.arange(100_000) == 7, "number": np.arange(100_000)})
    assert TableEncoder().fit(table).input_deviations[0] == 0.01
