"""Mean targets of values that are too many for an input each."""

import numpy as np
import pandas as pd
import pytest

from dnfnet import DNFNetClassifier, DNFNetRegressor, load
from dnfnet.exceptions import InvalidTableError
from dnfnet.table import TableEncoder, value_means
from dnfnet.table.value_means import PARTS, PRIOR_ROWS, deal
from dnfnet.table.values import array_values

N_VALUES, N_ROWS = 700, 2800
RNG = np.random.default_rng(0)
EFFECT = RNG.normal(size=N_VALUES)
CODES = np.tile(np.arange(N_VALUES), N_ROWS // N_VALUES)
NOISE = RNG.normal(size=N_ROWS)
TARGET = (EFFECT[CODES] + 0.3 * NOISE).astype(np.float32)
FRAME = pd.DataFrame({"noise": NOISE.round(3), "id": CODES})
NAMES = FRAME.assign(id=[f"n{code:03}" for code in CODES])


def fit(frame=FRAME, target=TARGET, weights=None, **options):
    return TableEncoder(pieces=8, **options).fit(frame, weights, target)


def mean_inputs(encoder):
    return [i for i, name in enumerate(encoder.encoded_names) if name.startswith("mean target by ")]


def place(encoder, rows):
    """How far each row's mean has come through the pieces, which rises with the mean."""
    return encoder.transform(rows)[:, mean_inputs(encoder)].sum(axis=1)


@pytest.mark.parametrize(
    "frame", [FRAME, NAMES, FRAME.assign(id=CODES * 1e16 + 0.5)], ids=["numbers", "names", "amounts"]
)
@pytest.mark.parametrize("target", [TARGET, TARGET[:, None], (TARGET > 0).astype(np.int64)], ids=["real", "2d", "two"])
def test_values_that_tell_of_the_target_have_means(frame, target):
    encoder = fit(frame, target)
    column = encoder.schema["id"]
    assert 7 <= column.n_mean_pieces <= 8  # of two classes few means are distinct
    assert column.became.endswith(f", mean target in {column.n_mean_pieces} pieces")
    assert encoder.schema["noise"].n_mean_pieces == 0
    told = place(encoder, frame.iloc[:N_VALUES])
    assert np.corrcoef(told, EFFECT)[0, 1] > 0.8


def test_rows_that_differ_in_their_target_alone_tell_of_each_other():
    assert mean_inputs(fit(FRAME[["id"]]))


@pytest.mark.parametrize(
    "target",
    [
        None,
        NOISE,  # nothing of the values
        CODES / N_VALUES,  # what their pieces tell
        np.zeros(N_ROWS),
        np.column_stack([TARGET, TARGET]),
        np.digitize(TARGET, [-1.0, 1.0]).astype(np.int64),
    ],
    ids=["unknown", "noise", "a line", "constant", "two targets", "three classes"],
)
def test_no_means_without_need(target):
    assert mean_inputs(fit(FRAME, target)) == []


@pytest.mark.parametrize(
    "column",
    [CODES % 512, CODES % 512 + 0.5, [f"n{code % 20}" for code in CODES], CODES > 3],
    ids=["codes", "amounts", "levels", "truth values"],
)
def test_no_means_of_few_values(column):
    target = EFFECT[pd.factorize(np.asarray(column))[0]]
    assert mean_inputs(fit(FRAME.assign(id=column), target)) == []


def test_they_can_be_left_out_and_the_rest_stays():
    without, encoder = fit(value_means=False), fit()
    kept = encoder.transform(FRAME)[:, : -len(mean_inputs(encoder))]
    assert np.array_equal(without.transform(FRAME), kept)
    assert TableEncoder.from_state(*without.state()).value_means is False
    assert mean_inputs(TableEncoder().fit(FRAME, target=TARGET)) == []  # without pieces there are none


def test_means_worked_out_by_hand(monkeypatch):
    """Of value 5 there are three rows with the targets 9, 0 and 0; all rows have the mean 1."""
    monkeypatch.setattr(value_means, "MOST_CODES", 2)
    monkeypatch.setattr(value_means, "_tell", lambda *_: True)
    monkeypatch.setattr(value_means, "deal", lambda _: np.array([0, 1, 1, 2, 3, 4, 5, 6, 7]))
    table, target = np.array([5.0, 5, 5, 1, 1, 2, 2, 3, 3])[:, None], np.array([9.0, 0, 0, 0, 0, 0, 0, 0, 0])
    encoder = TableEncoder(pieces=2).fit(table, target=target)
    means = encoder._means[0]
    assert means.numbers.tolist() == [1, 2, 3, 5]
    np.testing.assert_allclose(means.means, [-2 / 5, -2 / 5, -2 / 5, (9 - 3) / (3 + PRIOR_ROWS)])
    told = np.zeros(9)
    rows = value_means._RowsOfFit.choose(target, None, [lambda: array_values("x0", table[:, 0])])
    rows.hold_out(np.array([3, 3, 3, 0, 0, 1, 1, 2, 2]), told)
    # The first row has the means of the two others, these of the first alone, because they are in one part.
    np.testing.assert_allclose(told, [(0 - 2) / 5, (9 - 1) / 4, (9 - 1) / 4, *[(0 - 1) / 4] * 6])


def test_no_row_of_fit_sees_its_own_target(monkeypatch):
    """With another target of one row, the inputs of that row stay the same, but for the mean of all."""
    parts = RNG.integers(0, PARTS, N_ROWS)  # which depend on the target, too
    monkeypatch.setattr(value_means, "deal", lambda _: parts)
    encoder = fit()
    before = encoder.transform(FRAME, None, TARGET)
    changed = TARGET.copy()
    changed[3] += 5.0
    after = encoder.transform(FRAME, None, changed)
    own = mean_inputs(encoder)
    same_value = np.flatnonzero(CODES[3] == CODES)
    moved = np.abs(after - before)[:, own].max(axis=1)
    np.testing.assert_allclose(moved[3], 0, atol=0.02)
    assert (np.delete(moved[same_value], 0) > 0.1).any()
    assert np.abs(encoder.transform(FRAME)[:, own] - before[:, own]).max() > 0.1


def test_rows_of_weight_0_have_the_means_of_all_and_no_say():
    weights = np.where(np.arange(N_ROWS) % 4 == 0, 0.0, 1.0)
    used = weights > 0
    encoder, alone = fit(weights=weights), fit(FRAME[used], TARGET[used])
    assert encoder.encoded_names == alone.encoded_names
    rows = encoder.transform(FRAME, weights, TARGET)
    assert np.array_equal(rows[~used], encoder.transform(FRAME[~used]))
    assert np.array_equal(rows[used], alone.transform(FRAME[used], None, TARGET[used]))


def test_a_class_that_fit_did_not_see_does_not_undo_the_holding_out():
    weights, labels = np.where(np.arange(N_ROWS) % 4 == 0, 0.0, 1.0), (TARGET > 0).astype(np.int64)
    encoder = fit(FRAME, labels, weights)
    third = np.where(np.arange(N_ROWS) == 4, 2, labels)
    assert mean_inputs(encoder)
    assert np.array_equal(encoder.transform(FRAME, weights, third), encoder.transform(FRAME, weights, labels))


def test_a_weight_is_that_many_rows_and_order_does_not_matter():
    counts = RNG.integers(1, 4, N_ROWS)
    rows = RNG.permutation(np.repeat(np.arange(N_ROWS), counts))
    weighted, repeated = fit(weights=counts), fit(FRAME.iloc[rows], TARGET[rows])
    assert weighted.encoded_names == repeated.encoded_names
    assert weighted.input_scales.tobytes() == repeated.input_scales.tobytes()
    expected = weighted.transform(FRAME, counts, TARGET)[rows]
    assert np.array_equal(repeated.transform(FRAME.iloc[rows], None, TARGET[rows]), expected)


def test_new_and_missing_values_are_at_the_mean():
    gaps = FRAME.assign(id=np.where(np.arange(N_ROWS) % 9 == 0, np.nan, CODES))
    encoder = fit(gaps)
    own = mean_inputs(encoder)
    new, missing, infinite = (pd.DataFrame({"noise": [0.0], "id": [value]}) for value in (99999.0, np.nan, np.inf))
    assert (encoder.transform(missing)[0, own] == 0).all()
    told = place(encoder, gaps.iloc[:N_VALUES])
    assert told.min() < place(encoder, new)[0] < told.max()
    with pytest.warns(UserWarning, match="Infinite"):
        assert place(encoder, infinite) == place(encoder, new)
    with pytest.warns(UserWarning, match="missing that the training rows never lacked"):
        unknown = fit(NAMES).transform(pd.DataFrame({"noise": [0.0, 0.0], "id": ["who?", None]}))
    assert np.isfinite(unknown).all()


def test_equal_rows_are_in_one_part_and_parts_are_of_one_size():
    table = NAMES.assign(when=pd.Timestamp("2024-01-01"), flag=True)
    columns = [array_values(name, table[name].to_numpy()) for name in table]
    parts = deal(columns)
    assert np.array_equal(deal([array_values(n, table[n].to_numpy()[::-1]) for n in table]), parts[::-1])
    assert np.array_equal(deal([array_values(n, np.repeat(table[n].to_numpy(), 2)) for n in table])[::2], parts)
    sizes = np.bincount(parts)
    assert len(sizes) == PARTS
    assert sizes.min() > 0.7 * N_ROWS / PARTS


@pytest.mark.parametrize("frame", [FRAME, NAMES], ids=["numbers", "names"])
def test_state_comes_back_and_damaged_means_are_refused(frame):
    encoder = fit(frame)
    entry, arrays = encoder.state()
    again = TableEncoder.from_state(entry, arrays)
    assert again.transform(frame).tobytes() == encoder.transform(frame).tobytes()
    damages = {
        "means.1": [np.full_like(arrays["means.1"], np.nan), arrays["means.1"][:-1], arrays["means.1"].astype("f4")],
        "mean_values.1": [arrays["mean_values.1"][::-1] + np.arange(len(arrays["mean_values.1"])), np.zeros(3)],
    }
    for name, values in damages.items():
        for value in values:
            if name == "means.1" or frame is FRAME or len(value) == 3:
                with pytest.raises(InvalidTableError, match="damaged"):
                    TableEncoder.from_state(entry, {**arrays, name: value})
    with pytest.raises(InvalidTableError, match="damaged"):
        TableEncoder.from_state({**entry, "mean_levels": {}}, arrays)
    with pytest.raises(InvalidTableError, match="damaged"):
        TableEncoder.from_state(entry, {"input_scales": arrays["input_scales"]})


@pytest.mark.parametrize("n_mean_pieces", [-1, 3, "8"])
def test_a_damaged_count_is_refused(n_mean_pieces):
    entry, arrays = fit().state()
    entry["schema"]["columns"][1]["n_mean_pieces"] = n_mean_pieces
    with pytest.raises(InvalidTableError, match="damaged"):
        TableEncoder.from_state(entry, arrays)


@pytest.mark.parametrize("frame", [FRAME, NAMES], ids=["numbers", "names"])
def test_they_make_better_predictions(frame, tmp_path):
    rows = RNG.permutation(N_ROWS)
    train, test = rows[:2100], rows[2100:]
    scores = []
    for means in (False, True):
        model = DNFNetRegressor(n_formulas=32, max_epochs=30, value_means=means, random_state=0)
        scores.append(model.fit(frame.iloc[train], TARGET[train]).score(frame.iloc[test], TARGET[test]))
    assert scores[0] < 0.5
    assert scores[1] > scores[0] + 0.2
    model.save(tmp_path / "model.dnfnet")
    assert np.array_equal(load(tmp_path / "model.dnfnet").predict(frame), model.predict(frame))


def test_training_again_and_the_first_pass_of_a_stream_hold_out_too(monkeypatch):
    held_out, transform = [], TableEncoder.transform

    def spy(self, X, sample_weight=None, target=None):
        held_out.append(target is not None)
        return transform(self, X, sample_weight, target)

    monkeypatch.setattr(TableEncoder, "transform", spy)
    model = DNFNetClassifier(n_formulas=16, max_epochs=2, random_state=0, warm_start=True)
    model.fit(FRAME, TARGET > 0).fit(FRAME, TARGET > 0)
    assert model.schema_["id"].n_mean_pieces
    assert held_out == [True, True]
    stream = DNFNetRegressor(n_formulas=16, random_state=0).partial_fit(FRAME, TARGET).partial_fit(FRAME, TARGET)
    assert stream.schema_["id"].n_mean_pieces
    assert held_out[2:] == [True, False]  # the means know nothing of later rows


@pytest.mark.parametrize("frame", [FRAME, NAMES], ids=["numbers", "names"])
def test_what_the_encoder_says_of_these_inputs(frame):
    """With a frequent value, gaps, which a category counts as a level, and more pieces than vary freely."""
    ids = frame["id"].where(CODES >= 50, frame["id"][0])
    frame = frame.assign(id=ids.where(np.arange(N_ROWS) % 9 != 0))
    encoder = TableEncoder(pieces=20).fit(frame, target=TARGET)
    rows, own = encoder.transform(frame, None, TARGET), mean_inputs(encoder)
    runs, (low, high) = encoder.runs
    assert (runs[-1].first, runs[-1].n, runs[-1].kind) == (own[0], len(own), "pieces")
    known = frame["id"].notna().to_numpy()
    between = (rows[known][:, own] != low[own]) & (rows[known][:, own] != high[own])
    assert between.sum(axis=1).max() == 1
    np.testing.assert_allclose(encoder.input_deviations[own], rows[known][:, own].std(axis=0), rtol=1e-4)
    indicator = encoder.encoded_names.index("id is missing")
    assert indicator == own[0] - 1
    assert np.array_equal(rows[:, indicator], ~known)
    assert encoder.input_deviations[indicator] == pytest.approx(rows[:, indicator].std(), rel=1e-4)
