"""The estimators on numeric tables."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.datasets import load_diabetes, load_iris, make_classification, make_regression
from sklearn.exceptions import NotFittedError

from dnfnet import DNFNetClassifier, DNFNetRegressor, load
from dnfnet.exceptions import InvalidParameterError, InvalidTargetError
from dnfnet.training import History

SMALL = {"n_formulas": 8, "max_epochs": 15, "random_state": 0}


def table(n_classes=2, n_rows=200, seed=0):
    return make_classification(
        n_rows, 6, n_informative=5, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, random_state=seed
    )


def test_paper_settings_are_the_papers():
    model = DNFNetClassifier.paper(n_formulas=512, beta=0.7, random_state=1)
    expected = {
        "n_formulas": 512,
        "beta": 0.7,
        "conjunctions": (6, 9, 12, 15),
        "lengths": (2, 4, 6),
        "keep_probs": (0.1, 0.3, 0.5, 0.7, 0.9),
        "localization": "gaussian",
        "structure": "dnf",
        "learning_rate": 0.05,
        "batch_size": 2048,
        "max_epochs": 1000,
        "patience": 30,
        "lr_patience": 10,
        "metric": "paper",
        "weight_decay": 0.0,
        "shared_steps": False,
        "together": 0.0,
        "calibrate": False,
        "random_state": 1,
    }
    assert expected.items() <= model.get_params().items()


@pytest.mark.parametrize(("n_classes", "metric"), [(2, "roc_auc"), (3, "log_loss")])
def test_paper_scores(n_classes, metric):
    model = DNFNetClassifier(**SMALL, metric="paper").fit(*table(n_classes))
    assert model._objective().metric.name == metric


def test_probabilities_are_calibrated_unless_that_is_not_asked_for():
    """Only the output layer differs, by one factor; it makes the validation rows more likely."""
    X, y = table(3, 900)
    plain, calibrated = (DNFNetClassifier(**SMALL, calibrate=c).fit(X, y) for c in (False, True))
    assert calibrated.best_score_ < plain.best_score_
    ratio = calibrated.network_.head.weight / plain.network_.head.weight
    assert (ratio - ratio.mean()).abs().max() < 1e-5 < abs(ratio.mean() - 1)
    torch.testing.assert_close(calibrated.network_.block.weight, plain.network_.block.weight, rtol=0, atol=0)


def test_two_classes_are_not_calibrated():
    X, y = table(2, 900)
    plain, calibrated = (DNFNetClassifier(**SMALL, calibrate=c).fit(X, y) for c in (False, True))
    np.testing.assert_array_equal(plain.predict_proba(X), calibrated.predict_proba(X))


def test_a_loss_of_ones_own_is_not_calibrated():
    """It may mean anything by its outputs."""
    X, y = table(3, 900)
    models = [
        DNFNetClassifier(
            **SMALL, calibrate=c, loss=lambda o, t: 0.1 * torch.nn.functional.cross_entropy(o, t, reduction="none")
        )
        for c in (False, True)
    ]
    weights = [model.fit(X, y).network_.head.weight for model in models]
    torch.testing.assert_close(*weights, rtol=0, atol=0)


def test_learns_iris():
    X, y = load_iris(return_X_y=True)
    model = DNFNetClassifier(n_formulas=32, random_state=0, max_epochs=400).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.best_score_ < 0.4


def test_learns_diabetes():
    X, y = load_diabetes(return_X_y=True)
    model = DNFNetRegressor(n_formulas=32, random_state=0, max_epochs=200).fit(X, y)
    assert model.score(X, y) > 0.4


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_add_up_and_agree_with_predictions(n_classes):
    X, y = table(n_classes)
    names = np.array(["no", "perhaps", "yes"])[:n_classes]
    model = DNFNetClassifier(**SMALL).fit(X, names[y])
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (200, n_classes)
    np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-12)
    assert model.classes_.tolist() == sorted(names)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probabilities.argmax(1)])
    assert model.network_.head.weight.shape[-1] == (1 if n_classes == 2 else 3)


def test_a_hundred_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(100), 3)
    model = DNFNetClassifier(**SMALL).fit(rng.normal(size=(300, 4)), y)
    assert model.predict_proba(rng.normal(size=(2, 4))).shape == (2, 100)


def test_a_class_that_the_validation_part_lacks():
    X, y = table()
    y = y.copy()
    y[:1] = 7
    model = DNFNetClassifier(**SMALL).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 7]
    train, valid = y != 7, y == 1
    other = DNFNetClassifier(**SMALL).fit(X[train], y[train], eval_set=(X[valid], y[valid]))
    assert np.isfinite(other.best_score_)


def test_a_class_that_the_training_part_lacks_is_an_error():
    X, y = table()
    with pytest.raises(InvalidTargetError, match=r"labels that the training rows do not have: \[5\]"):
        DNFNetClassifier(**SMALL).fit(X, y, eval_set=(X, np.full(200, 5)))


@pytest.mark.parametrize("make", [lambda X: X[:, :1], lambda X: np.column_stack([X, np.ones(len(X))])])
def test_one_feature_and_a_constant_feature(make):
    X, y = table()
    model = DNFNetClassifier(**SMALL).fit(make(X), y)
    assert np.isfinite(model.predict_proba(make(X))).all()


@pytest.mark.parametrize("n_rows", [2, 3, 17])
def test_few_rows(n_rows):
    X, _ = table()
    model = DNFNetClassifier(**SMALL).fit(X[:n_rows], np.arange(n_rows) % 2)
    assert model.predict(X[:1]).shape == (1,)
    regressor = DNFNetRegressor(**SMALL).fit(X[:n_rows], np.arange(n_rows))
    assert np.isfinite(regressor.predict(X)).all()


def test_batch_plus_one():
    X, y = table()
    model = DNFNetClassifier(**SMALL, batch_size=174).fit(X, y)
    assert model.n_iter_ == 15
    assert len(X) - round(len(X) / 8) == 175


def test_fit_starts_afresh():
    X, y = table()
    model = DNFNetClassifier(**SMALL).fit(X, y)
    first = model.predict_proba(X)
    model.fit(-X[:50], y[:50]).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), first)
    assert model.n_iter_ == len(model.history_) == 15


def test_warm_start_goes_on():
    X, y = table()
    model = DNFNetClassifier(**SMALL, warm_start=True).fit(X, y)
    network, before = model.network_, model.history_[-1]["train_loss"]
    model.fit(X, y)
    assert model.network_ is network
    assert model.history_.column("epoch") == list(range(1, 31))
    assert model.history_[-1]["train_loss"] < before
    assert 15 < model.best_epoch_ <= 30


def test_same_seed_same_bits_other_seed_other_model():
    X, y = table(3)
    models = [DNFNetClassifier(**{**SMALL, "random_state": s}).fit(X, y) for s in (1, 1, 2)]
    np.testing.assert_array_equal(models[0].predict_proba(X), models[1].predict_proba(X))
    assert not np.array_equal(models[0].predict_proba(X), models[2].predict_proba(X))


def test_history_and_scores():
    X, y = table()
    model = DNFNetClassifier(**SMALL).fit(X, y)
    assert isinstance(model.history_, History)
    assert {"epoch", "train_loss", "valid_score", "learning_rate", "seconds"} == set(model.history_[0])
    assert model.best_score_ == min(model.history_.column("valid_score"))
    assert model.history_[model.best_epoch_ - 1]["valid_score"] == model.best_score_
    assert model.stop_reason_ == "max_epochs=15 reached"


def test_best_score_is_the_validation_score_of_the_model():
    X, y = table(seed=1)
    model = DNFNetClassifier(**SMALL).fit(X, y, eval_set=(X[:60], y[:60]))
    p = model.predict_proba(X[:60])[np.arange(60), y[:60]]
    assert model.best_score_ == pytest.approx(-np.log(p).mean(), rel=1e-6)


def test_regression_scores_are_on_the_scale_of_y():
    X, y = load_diabetes(return_X_y=True)
    model = DNFNetRegressor(**SMALL).fit(X, y, eval_set=(X[:50], y[:50]))
    assert model.best_score_ == pytest.approx(np.sqrt(np.mean((model.predict(X[:50]) - y[:50]) ** 2)), rel=1e-6)


def test_scale_of_y_changes_nothing_but_the_scale():
    X, y = load_diabetes(return_X_y=True)
    plain = DNFNetRegressor(**SMALL).fit(X, y)
    scaled = DNFNetRegressor(**SMALL).fit(X, y * 1e6 + 1e9)
    np.testing.assert_allclose((scaled.predict(X) - 1e9) / 1e6, plain.predict(X), rtol=1e-9)
    assert scaled.best_score_ / 1e6 == pytest.approx(plain.best_score_, rel=1e-9)


def test_constant_target_is_predicted_exactly():
    X, _ = table()
    np.testing.assert_array_equal(DNFNetRegressor(**SMALL).fit(X, np.full(200, 3.7)).predict(X), 3.7)


def test_several_outputs():
    X, y = load_diabetes(return_X_y=True)
    both = DNFNetRegressor(n_formulas=32, max_epochs=100, random_state=0).fit(X, np.column_stack([y, -1000 * y]))
    prediction = both.predict(X)
    assert prediction.shape == (442, 2)
    assert np.corrcoef(prediction[:, 0], y)[0, 1] > 0.6
    assert np.corrcoef(prediction[:, 1], -y)[0, 1] > 0.6


def test_feature_selection_is_what_each_formula_kept():
    X, y = table()
    model = DNFNetClassifier(n_formulas=8, max_epochs=60, random_state=0, beta=1.0, learning_rate=0.05).fit(X, y)
    kept = model.feature_selection_
    selection = model.network_.block.selection
    expected = (selection.mask.abs() > 1) & selection.random_mask
    np.testing.assert_array_equal(kept, expected.numpy())
    assert kept.shape == (8, len(model.encoder_.encoded_names))
    assert 0 < kept.mean() < selection.random_mask.float().mean()
    everything = DNFNetClassifier(**SMALL, beta=None, keep_probs=None).fit(X, y)
    assert everything.feature_selection_.all()


def test_shared_steps_leave_useless_columns_alone():
    """Five of 60 columns matter: without shared steps the others cost more."""
    X, y = make_regression(500, 60, n_informative=5, noise=10, random_state=0)
    losses = [
        1 - DNFNetRegressor(random_state=0, shared_steps=shared).fit(X[:350], y[:350]).score(X[350:], y[350:])
        for shared in (True, False)
    ]
    assert losses[0] < 0.8 * losses[1]


def test_every_second_group_selects():
    """Those of the default; a sequence of any kind gives others, and one for all gives all."""
    X, y = table()
    small = {**SMALL, "n_formulas": 16, "n_groups": 4}
    for beta, masked in ((DNFNetClassifier().beta, [4, 5, 6, 7, 12, 13, 14, 15]), (np.array([0.7, 1.0]), range(16)),
                         (0.7, range(16)), ([0.7, None, None], [0, 1, 2, 3, 12, 13, 14, 15])):  # fmt: skip
        model = DNFNetClassifier(**{**small, "beta": beta}).fit(X, y)
        assert model.network_.block.selection.masked.tolist() == list(masked)


@pytest.mark.parametrize("options", [{"structure": "dense"}, {"localization": None}, {"localization": "uniform"}])
def test_parts_can_be_left_out(options):
    X, y = table()
    model = DNFNetClassifier(**SMALL, **options).fit(X, y)
    assert model.best_score_ < 0.69


KINDS = [
    (DNFNetClassifier, {}, 2),
    (DNFNetClassifier, {}, 3),
    (DNFNetClassifier, {"n_ensemble": 2}, 3),
    (DNFNetRegressor, {}, None),
    (DNFNetRegressor, {"loss": "quantile"}, None),
    (DNFNetRegressor, {"loss": "poisson"}, None),
]


@pytest.mark.parametrize(("kind", "options", "n_classes"), KINDS)
def test_a_row_has_the_same_bits_alone_and_among_others(kind, options, n_classes, monkeypatch):
    """Also where torch rounds by a row's place: in products of few columns, in a sigmoid's last few values."""
    X, _ = table()
    y = np.arange(len(X)) % n_classes if n_classes else np.abs(X[:, 0])
    model = kind(n_formulas=32, max_epochs=3, random_state=0, **options).fit(X, y)
    predict = model.predict_proba if n_classes else model.predict
    whole = predict(X)
    for i in range(len(X)):
        assert np.array_equal(predict(X[i : i + 1]), whole[i : i + 1])
    for n_rows in (2, 127):
        assert np.array_equal(predict(X[-n_rows:]), whole[-n_rows:])
    monkeypatch.setattr("dnfnet.estimators.predicting.ROWS_PER_CHUNK", 64)
    assert np.array_equal(predict(np.tile(X, (5, 1))), np.concatenate([whole] * 5))


def test_no_rows_to_predict():
    X, y = table()
    assert DNFNetClassifier(**SMALL).fit(X, y).predict_proba(X[:0]).shape == (0, 2)
    assert DNFNetRegressor(**SMALL).fit(X, y).predict(X[:0]).shape == (0,)


def test_frames_and_arrays_agree():
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = DNFNetClassifier(**SMALL).fit(frame, y)
    plain = DNFNetClassifier(**SMALL).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(frame[list("fedcba")]), plain.predict_proba(X))
    assert model.feature_names_in_.tolist() == list("abcdef")


def test_time_limit_and_progress_bar(capsys):
    X, y = table()
    model = DNFNetClassifier(n_formulas=8, random_state=0, time_limit=1e-6, verbose=True).fit(X, y)
    assert model.stop_reason_.startswith("time limit")
    assert "DNF-Net" in capsys.readouterr().err


def test_silent_by_default(capsys):
    DNFNetClassifier(**SMALL).fit(*table())
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_global_random_numbers_are_left_alone():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    DNFNetClassifier(**SMALL).fit(*table())
    assert torch.equal(torch.rand(1), expected)


@pytest.mark.parametrize(
    "beta",
    [
        np.array(0.7),
        (10**400,),
        1e38,
        [[0.7]],
        [[0.7], [0.3, 0.1]],
        [0.7, [1.0]],
        np.array([]),
        "high",
        (True, "x"),
        (None, 0.0),
    ],
)
def test_a_beta_that_is_none_is_named_before_the_table_is_read(beta):
    with pytest.raises(InvalidParameterError, match="beta"):
        DNFNetClassifier(**SMALL, beta=beta).fit("no table", [])


def test_betas_of_any_kind_are_kept_in_a_file(tmp_path):
    X, y = table()
    for beta in (pd.Series([0.5, 1.0]), range(1, 3), (Fraction(1, 2), None)):
        model = DNFNetClassifier(**{**SMALL, "n_formulas": 16, "n_groups": 2, "beta": beta}).fit(X, y)
        model.save(tmp_path / "model.dnfnet")
        again = load(tmp_path / "model.dnfnet")
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
        assert list(again.beta) == [None if b is None else float(b) for b in beta]


def test_groups_that_do_not_divide_the_formulas_are_named():
    with pytest.raises(InvalidParameterError, match="n_groups must divide n_formulas, however: n_groups=3"):
        DNFNetClassifier(**SMALL, n_groups=3).fit(*table())


def test_not_fitted():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        DNFNetClassifier().predict([[1.0]])


@pytest.mark.parametrize(
    ("options", "name"),
    [({"n_formulas": 0}, "n_formulas"), ({"beta": -1}, "beta"), ({"beta": (None, "x")}, "beta"),
     ({"localization": "sharp"}, "localization"),
     ({"validation_fraction": 1.0}, "validation_fraction"), ({"metric": "brier"}, "metric"),
     ({"conjunctions": (0,)}, "conjunctions")],
)  # fmt: skip
def test_impossible_arguments_are_named(options, name):
    with pytest.raises(ValueError, match=name):
        DNFNetClassifier(**{**SMALL, **options}).fit(*table())
