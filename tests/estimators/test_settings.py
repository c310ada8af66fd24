"""What "auto" becomes."""

import numpy as np
import pytest
import torch

from dnfnet import DNFNetClassifier, DNFNetRegressor, load
from dnfnet.estimators.settings import Settings, choose_settings
from dnfnet.exceptions import InvalidParameterError, ModelFileError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
SMALL = {"n_formulas": 8, "n_groups": 2, "max_epochs": 4, "random_state": 0}


def test_numbers_that_are_given_stay():
    model = DNFNetClassifier.paper(n_formulas=24, beta=0.7)
    expected = Settings(24, None, 1, 2048, 1000, 0.05, 0.0)
    assert choose_settings(model, 10, 3, 2) == choose_settings(model, 10**6, 300, 9) == expected


@pytest.mark.parametrize("n_rows", [1, 500, 1024, 1025, 7000, 50_000, 10**6])
@pytest.mark.parametrize("n_columns", [1, 30, 10**4])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_the_rules(n_rows, n_columns, n_classes):
    settings = choose_settings(DNFNetRegressor(), n_rows, n_columns, n_classes)
    assert settings.n_formulas % settings.n_groups == 0
    assert settings.n_formulas // settings.n_groups == 16
    assert (settings.batch_size == n_rows) == (n_rows <= 1024)
    least = 4 if n_columns < 128 else 2
    assert least <= settings.pieces <= 32
    assert settings.pieces == least or settings.pieces * n_columns <= min(512, n_rows / 4)
    steps = -(-n_rows // settings.batch_size)
    decay = settings.weight_decay
    if n_rows < 4000:
        decay, free = settings.weight_decay
        assert free == pytest.approx(decay / 20)
    assert 0 < decay <= 2
    assert decay * steps == pytest.approx(8, rel=0.15) or decay == 2


@pytest.mark.parametrize(
    ("n_rows", "sizes"), [(700, (128, 400)), (3999, (128, 75)), (4000, (512, 131)), (40_000, (512, 36))]
)
def test_many_rows_of_several_classes_get_more_formulas_and_more_time(n_rows, sizes):
    settings = choose_settings(DNFNetClassifier(), n_rows, 10, 3)
    assert (settings.n_formulas, settings.max_epochs) == sizes
    for n_classes in (0, 2):
        settings = choose_settings(DNFNetClassifier(), 40_000, 10, n_classes)
        assert (settings.n_formulas, settings.max_epochs) == (256, 20)


@pytest.mark.parametrize(
    ("n_rows", "size"), [(1024, 1024), (2**16, 512), (70_000, 1024), (150_000, 2048), (250_000, 4096), (10**7, 4096)]
)
def test_large_tables_come_in_larger_batches(n_rows, size):
    assert choose_settings(DNFNetRegressor(), n_rows, 10, 0).batch_size == size


@pytest.mark.parametrize(
    ("n_rows", "n_valid"), [(8, 1), (20_000, 2500), (50_000, 2500), (80_000, 2500), (320_000, 10_000)]
)
def test_so_many_rows_are_set_aside(n_rows, n_valid):
    assert n_rows * choose_settings(DNFNetRegressor(), n_rows, 10, 0).validation_fraction == n_valid
    assert choose_settings(DNFNetRegressor(validation_fraction=0), n_rows, 10, 0).validation_fraction == 0


def test_what_is_set_aside_is_what_the_settings_tell(monkeypatch):
    monkeypatch.setattr("dnfnet.estimators.settings.VALIDATION_ROWS", 15)
    ((train, valid),) = DNFNetClassifier(**SMALL)._parts(X, Y, None, None, np.random.RandomState(0), True)
    assert (train.n_rows, valid.n_rows) == (285, 15)


def test_classes_and_targets_are_counted_in_any_kind_of_fit(monkeypatch):
    """Of three labels, of two of them in the first part of a stream, of a row with several, and of real targets."""
    labels = np.array(["a", "b", "c"])[np.arange(len(X)) % 3]
    counted = []

    def counting(model, n_rows, n_columns, n_classes, n_targets, **options):
        counted.append((n_classes, n_targets, options.get("stream", False)))
        return choose_settings(model, n_rows, n_columns, n_classes, n_targets, **options)

    monkeypatch.setattr("dnfnet.estimators.base.choose_settings", counting)
    DNFNetClassifier(**SMALL).fit(X, labels)
    DNFNetClassifier(**SMALL).partial_fit(X[:2], labels[:2])
    DNFNetClassifier(**SMALL).partial_fit(X[:2], labels[:2], classes=["a", "b", "c"])
    DNFNetClassifier(**SMALL).fit(X, np.stack([labels == "a", labels != "b"], axis=1).astype(int))
    DNFNetRegressor(**SMALL).fit(X, X[:, :3])
    DNFNetRegressor(**SMALL).partial_fit(X, X[:, 0])
    assert counted == [(3, 1, False), (2, 1, True), (3, 1, True), (0, 2, False), (0, 3, False), (0, 1, True)]


def test_weights_shrink_less_where_the_rate_does_not_fall():
    model = DNFNetRegressor()
    assert choose_settings(model, 100, 4, 0).weight_decay == (2, 0.1)
    assert choose_settings(model, 100, 4, 0, stream=True).weight_decay == 0.5
    assert choose_settings(DNFNetRegressor(weight_decay=1.0), 100, 4, 0, stream=True).weight_decay == 1


def test_steps_are_shared_where_rows_are_few():
    auto = DNFNetRegressor()
    shared = [choose_settings(auto, n, 4, 0).shared_steps for n in (1, 3999, 4000)]
    assert shared == [(True, False), (True, False), False]
    assert choose_settings(auto, 100, 4, 0, stream=True).shared_steps is False
    assert choose_settings(DNFNetRegressor(shared_steps=[True]), 100, 4, 0).shared_steps == (True,)
    assert choose_settings(DNFNetRegressor(shared_steps=True), 4000, 4, 0, stream=True).shared_steps
    assert not choose_settings(DNFNetRegressor(shared_steps=False), 100, 4, 0).shared_steps


def test_large_tables_of_several_classes_are_trained_without_some_numbers():
    auto = DNFNetClassifier()
    tables = [(3999, 20, 9), (4000, 20, 3), (4000, 19, 3), (4000, 20, 2), (10**5, 100, 0)]
    assert [choose_settings(auto, *table).dropout for table in tables] == [0, 0.05, 0, 0, 0]
    assert choose_settings(auto, 4000, 20, 3, stream=True).dropout == 0
    assert choose_settings(DNFNetClassifier(dropout=0.2), 100, 10, 2, stream=True).dropout == 0.2
    assert choose_settings(DNFNetClassifier(dropout=0), 4000, 20, 3).dropout == 0
    assert DNFNetClassifier.paper(n_formulas=24, beta=0.7).dropout == 0


@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_what_is_left_out_changes_the_training(way):
    """Of nearly no number the network learns nothing; the validation rows and those to predict are whole."""
    sure = []
    for share in (0.0, 0.99):
        model = DNFNetClassifier(**{**SMALL, "max_epochs": 40}, dropout=share, batch_size=30)
        for _ in range(1 if way == "fit" else 40):
            getattr(model, way)(X, (X[:, 0] > 0).astype(int))
        sure.append(np.abs(model.predict_proba(X)[:, 1] - 0.5).mean())
    assert sure[0] > 0.4
    assert sure[1] < 0.3


def test_formulas_that_sixteen_does_not_divide_are_one_group():
    assert choose_settings(DNFNetClassifier(n_formulas=10), 100, 4, 2).n_groups == 1


def test_a_fit_tells_its_settings():
    model = DNFNetClassifier(max_epochs=2, random_state=0).fit(X, Y)
    assert model.settings_.max_epochs == model.n_iter_ == 2
    assert model.get_params()["n_formulas"] == "auto"
    assert len(model.feature_selection_) == model.settings_.n_formulas
    assert model.network_.head.weight.shape[0] == model.settings_.n_groups


def test_warm_start_keeps_what_the_network_was_built_with():
    model = DNFNetClassifier(max_epochs=1, warm_start=True, random_state=0).fit(X, Y)
    many = np.tile(X, (20, 1)), np.tile(Y, 20)
    built = model.settings_
    model.fit(*many)
    assert model.settings_.batch_size == 512 != built.batch_size
    assert (model.settings_.pieces, model.settings_.n_formulas) == (built.pieces, built.n_formulas)


@pytest.mark.parametrize(
    ("n_formulas", "n_groups"),
    [(512, 32), (100, 5), (50, 2), (24, 2), (8, 1), (97, 1), (257, 1), (262, 1), (3, 1), (10**12, 62500000000)],
)
def test_groups_are_of_sixteen_or_what_is_nearest(n_formulas, n_groups):
    assert choose_settings(DNFNetClassifier(n_formulas=n_formulas), 5000, 3, 2).n_groups == n_groups


@pytest.mark.parametrize(
    ("n_classes", "n_targets", "size"),
    [(2, 1, 16), (5, 1, 16), (6, 1, 32), (11, 1, 32), (12, 1, 64), (1000, 1, 64), (0, 1, 16), (0, 2, 32), (0, 3, 64)],
)
def test_many_outputs_get_larger_groups(n_classes, n_targets, size):
    settings = choose_settings(DNFNetClassifier(), 5000, 3, n_classes, n_targets)
    assert settings.n_formulas // settings.n_groups == size
    of_few_rows = choose_settings(DNFNetClassifier(), 500, 3, n_classes, n_targets)
    assert of_few_rows.n_groups == 128 // size


def test_codes_have_inputs_of_their_own_unless_told_otherwise(tmp_path):
    codes = RNG.integers(0, 9, size=(300, 1)).astype(float)
    model = DNFNetClassifier(single_values=False, **SMALL).fit(codes, codes[:, 0] % 2)
    default = DNFNetClassifier(**SMALL).fit(codes, codes[:, 0] % 2)
    assert default.encoder_.encoded_names == model.encoder_.encoded_names + [f"x0 = {code}" for code in range(9)]
    model.save(tmp_path / "model.dnfnet")
    assert load(tmp_path / "model.dnfnet").fit(codes, codes[:, 0] % 2).schema_["x0"].n_single_values == 0


def test_groups_that_cannot_learn_have_no_vote():
    """So much decay that their literals stay near 0."""
    table = np.random.default_rng(0).integers(0, 2, size=(900, 14)).astype(bool)
    y = (table[:, :2].all(1)) | (table[:, 3] & table[:, 4])
    options = {"shared_steps": False, "max_epochs": 150, "random_state": 0}
    model = DNFNetClassifier(weight_decay=(40.0, 0.1), **options).fit(table, y)
    votes, kinds = model.network_.head.votes, model.network_.group_kinds(2)
    assert votes.any()
    assert not votes[kinds == 0].any()
    held = DNFNetClassifier(weight_decay=40.0, **options).fit(table, y)
    assert held.network_.head.votes.all()
    assert model.best_score_ < held.best_score_ / 2


def test_pieces_are_counted_by_distinct_rows():
    auto = DNFNetClassifier()
    assert [choose_settings(auto, n, 8, 2).pieces for n in (10, 200, 720, 5000)] == [4, 6, 22, 32]
    assert [choose_settings(auto, 5000, d, 2).pieces for d in (10, 32, 100, 1000)] == [32, 16, 5, 2]
    assert choose_settings(auto, 720, 8, 2, n_distinct=200).pieces == 6
    once = DNFNetClassifier(max_epochs=1).fit(X, Y).settings_.pieces
    assert DNFNetClassifier(max_epochs=1).fit(np.repeat(X, 3, axis=0), np.repeat(Y, 3)).settings_.pieces == once == 18


def test_a_file_keeps_the_votes(tmp_path):
    model = DNFNetClassifier(**SMALL).fit(X, Y)
    model.network_.let_vote(torch.tensor([True, False]))
    model.save(tmp_path / "model.dnfnet")
    loaded = load(tmp_path / "model.dnfnet")
    assert loaded.network_.head.votes.tolist() == [True, False]
    assert loaded.settings_ == model.settings_
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_file_in_which_nobody_votes_is_refused(tmp_path):
    model = DNFNetClassifier(**SMALL).fit(X, Y)
    model.network_.head.votes[:] = False
    model.save(tmp_path / "model.dnfnet")
    with pytest.raises(ModelFileError, match="none of its groups of formulas votes"):
        load(tmp_path / "model.dnfnet")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weight_decay": (1.0, -1.0)}, "weight_decay must be numbers that are not negative"),
        ({"weight_decay": ()}, "weight_decay must be numbers"),
        ({"weight_decay": [1.0, None]}, "weight_decay must be numbers"),
        ({"weight_decay": [1.0, np.inf]}, "weight_decay must be numbers"),
        ({"weight_decay": [[1.0]]}, "weight_decay must be numbers"),
        ({"shared_steps": (True, "auto")}, "shared_steps must be truth values"),
        ({"shared_steps": [1, 0]}, "shared_steps must be truth values"),
    ],
)
def test_values_for_groups_in_turn_are_checked(parameters, message):
    with pytest.raises(InvalidParameterError, match=message):
        DNFNetClassifier(**parameters).fit(X, Y)
