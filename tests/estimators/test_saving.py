"""Model files of every kind of estimator: the same bits come back, and a stranger's file is only ever an error."""

import copy
import json
import os
import random
import resource
import signal
import time
import warnings

import numpy as np
import pandas as pd
import pytest
import torch

from dnfnet import DNFNetClassifier, DNFNetRegressor, load
from dnfnet.bundle import read_bundle, write_bundle
from dnfnet.exceptions import DNFNetError, InvalidParameterError, ModelFileError, ModelFileWarning
from dnfnet.training import METRICS, Callback, Metric

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"größe": RNG.normal(size=60), "city": RNG.choice(["Rom", "Oslo", "Bern"], 60)})
NUMBERS = RNG.integers(0, 3, size=60)
SMALL = {"n_formulas": 4, "max_epochs": 3, "random_state": 0}

KINDS = {
    "truth values": (DNFNetClassifier(**SMALL), NUMBERS > 0),
    "text": (DNFNetClassifier(class_weight={"a": 2.0}, **SMALL), np.array(["a", "ß", "c"])[NUMBERS]),
    "text objects": (DNFNetClassifier(class_weight="balanced", **SMALL), np.array(["a", "ß", "c"], object)[NUMBERS]),
    "small numbers": (DNFNetClassifier(**SMALL), NUMBERS.astype(np.int8)),
    "label sets": (DNFNetClassifier(**SMALL), np.column_stack([NUMBERS > 0, NUMBERS > 1])),
    "dense": (DNFNetClassifier(structure="dense", **SMALL), NUMBERS),
    "paper": (DNFNetClassifier.paper(n_formulas=4, beta=0.7, random_state=0).set_params(max_epochs=3), NUMBERS),
    "ensemble": (DNFNetClassifier(n_ensemble=3, n_groups=2, **SMALL), NUMBERS),
    "mean": (DNFNetRegressor(**SMALL), NUMBERS * 1e9),
    "several means": (DNFNetRegressor(**SMALL), np.column_stack([NUMBERS, FRAME["größe"]])),
    "quantiles": (DNFNetRegressor(loss="quantile", **SMALL), NUMBERS),
    "counts": (DNFNetRegressor(loss="poisson", **SMALL), NUMBERS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_bits_come_back(kind, tmp_path):
    model, y = KINDS[kind]
    model.fit(FRAME, y).save(tmp_path / "model.dnfnet")
    loaded = load(tmp_path / "model.dnfnet")
    for method in ("predict", "predict_proba"):
        if hasattr(model, method):
            here, there = getattr(model, method)(FRAME), getattr(loaded, method)(FRAME)
            assert here.dtype == there.dtype
            assert np.array_equal(here, there)
    assert loaded.get_params() == model.get_params()
    assert loaded.history_ == model.history_
    assert str(loaded.schema_) == str(model.schema_)
    loaded.fit(FRAME, y)
    assert np.array_equal(loaded.predict(FRAME), model.predict(FRAME))


def squared(output, target):
    return (output - target).square()


def worst_error(prediction, target, weight):
    return float(np.abs(prediction - target).max())


def test_functions_are_not_in_the_file_and_the_model_says_so(tmp_path):
    path = tmp_path / "model.dnfnet"
    model = DNFNetRegressor(loss=squared, metric=worst_error, warm_start=True, **SMALL).fit(FRAME, NUMBERS)
    with pytest.warns(ModelFileWarning, match="loss and metric of this model: a function of yours") as caught:
        model.save(path)
    assert caught[0].filename == __file__
    loaded = load(path)
    assert np.array_equal(loaded.predict(FRAME), model.predict(FRAME))
    before = loaded.predict(FRAME)
    for method in (loaded.fit, loaded.partial_fit):
        with pytest.raises(InvalidParameterError, match=r"'squared', which model files do not keep: .*set_params"):
            method(FRAME, NUMBERS)
    assert np.array_equal(loaded.predict(FRAME), before)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded.save(path)  # it was told once, when the functions were there
    loaded = load(path).set_params(loss=squared, metric="mae").fit(FRAME, NUMBERS)
    assert loaded.n_iter_ == 6


def test_a_metric_that_the_task_knows_by_no_name_is_said_to_be_lost(tmp_path):
    model = DNFNetRegressor(loss="quantile", metric=METRICS["mae"], **SMALL).fit(FRAME, NUMBERS)
    with pytest.warns(ModelFileWarning, match="metric of this model"):
        model.save(tmp_path / "model.dnfnet")
    assert np.array_equal(load(tmp_path / "model.dnfnet").predict(FRAME), model.predict(FRAME))


def test_what_a_callback_adds_to_the_history_is_kept_if_it_is_plain(tmp_path):
    class Note(Callback):
        def on_epoch_end(self, trainer):
            trainer.history[-1] |= {"note": "text", "none": None, "number": np.float32(2), "table": [1, 2], 3: 4}
            trainer.history[-1]["seconds"] = "two"

    model = DNFNetRegressor(callbacks=[Note()], **SMALL).fit(FRAME, NUMBERS)
    model.save(tmp_path / "model.dnfnet")
    row = load(tmp_path / "model.dnfnet").history_[0]
    assert (row["note"], row["none"], row["number"], "table" in row) == ("text", None, 2.0, False)
    assert "seconds" not in row


def test_a_metric_of_ours_is_kept_by_name(tmp_path):
    for metric, kept in (
        (METRICS["mae"], "mae"),
        (METRICS["r2"], "r2"),
        (Metric("mae", worst_error, greater_is_better=False), None),
    ):
        model = DNFNetRegressor(metric=metric, **SMALL).fit(FRAME, NUMBERS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelFileWarning)
            model.save(tmp_path / "model.dnfnet")
        loaded = load(tmp_path / "model.dnfnet").metric
        assert loaded == kept if kept else callable(loaded)


# Files that somebody made on purpose: the checksum is right, the content is not.


@pytest.fixture(scope="module", params=["text", "label sets", "dense", "quantiles", "counts"])
def content(request, tmp_path_factory):
    model, y = KINDS[request.param]
    path = tmp_path_factory.mktemp("files") / "model.dnfnet"
    model.fit(FRAME, y).save(path)
    return read_bundle(path)


def places(value, path=()):
    """Every place in a manifest."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        yield from places(item, (*path, key))


def changed(manifest, path, value):
    manifest = copy.deepcopy(manifest)
    if not path:
        return value
    inside = manifest
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return manifest


def load_or_refuse(path, manifest, tensors):
    """A model that predicts finite numbers, or our own error."""
    write_bundle(path, manifest, tensors)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = load(path)
        except ModelFileError:
            return False
        try:
            predicted = model.predict(FRAME)
        except DNFNetError:  # the columns have other names or kinds now
            return True
    assert predicted.dtype.kind != "f" or np.isfinite(predicted).all()
    return True


HOSTILE = [None, True, -1, 0, 10**15, 1e300, float("nan"), "x" * 50, [], [[1]], {}, {"custom": "f"}, {"pairs": 3}]


def test_any_value_anywhere_in_the_manifest(content, tmp_path):
    manifest, tensors = content
    chooser = random.Random(0)
    all_places = [place for place in places(manifest) if place and "history" not in place[:1]]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused = 0
    for place in all_places:
        for value in chooser.sample(HOSTILE, 2):
            refused += not load_or_refuse(tmp_path / "model.dnfnet", changed(manifest, place, value), tensors)
    assert refused > len(all_places) / 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("kind",), "os.system"),
        (("kind",), ["DNFNetClassifier"]),
        (("parameters", "n_formulas"), 10**12),
        (("parameters", "conjunctions"), [1, 10**12]),
        (("parameters", "conjunctions"), []),
        (("parameters", "lengths"), [10**18]),
        (("parameters", "n_ensemble"), 10**9),
        (("settings", "n_formulas"), 10**12),
        (("settings", "n_groups"), 3),
        (("settings", "batch_size"), 0),
        (("settings", "learning_rate"), "fast"),
        (("settings", "shared_steps"), 1),
        (("settings", "validation_fraction"), "auto"),
        (("settings",), {}),
        (("parameters", "no_such_parameter"), 1),
        (("parameters", "learning_rate"), "fast"),
        (("target", "kind"), "pickle"),
        (("target", "loss"), "eval"),
        (("fitted", "n_iter_"), "many"),
        (("history",), [{"epoch": "first"}]),
        (("history",), {"epoch": 1}),
        (("encoder", "schema", "columns"), []),
    ],
)
def test_hostile_settings(content, place, value, tmp_path):
    manifest, tensors = content
    if place == ("target", "loss") and manifest["target"]["kind"] != "reals":
        pytest.skip("labels have no loss")
    write_bundle(tmp_path / "model.dnfnet", changed(manifest, place, value), tensors)
    with pytest.raises(ModelFileError):
        load(tmp_path / "model.dnfnet")


def test_random_masks_of_a_file_are_not_drawn_for_ever(content, tmp_path):
    manifest, tensors = content
    manifest = changed(manifest, ("parameters", "keep_probs"), [1e-300])
    started = time.monotonic()
    assert load_or_refuse(tmp_path / "model.dnfnet", manifest, tensors)
    assert time.monotonic() - started < 5


def test_tensors_of_another_shape_type_or_name(content, tmp_path):
    manifest, tensors = content
    path = tmp_path / "model.dnfnet"
    for name, value in tensors.items():
        others = [value[..., :-1] if value.ndim else value.reshape(1), value.astype(np.float16), np.zeros((3, 0))]
        if value.dtype.kind == "f":
            others.append(np.full_like(value, np.nan))
        for other in others:
            assert not load_or_refuse(path, manifest, {**tensors, name: other}), (name, other.shape, other.dtype)
        without = {key: item for key, item in tensors.items() if key != name}
        # Earlier files do not say which groups vote: all do.
        assert load_or_refuse(path, manifest, without) == name.endswith("head.votes"), name
    assert not load_or_refuse(path, manifest, {**tensors, "network.more": np.zeros(1)})


def test_a_dense_network_larger_than_its_file_is_not_built(tmp_path):
    """Its second layer would be the square of the first."""
    model = DNFNetClassifier(structure="dense", pieces=1, **SMALL).fit(FRAME[["größe"]], NUMBERS)
    model.save(tmp_path / "model.dnfnet")
    manifest, tensors = read_bundle(tmp_path / "model.dnfnet")
    manifest["parameters"] |= {"n_formulas": 1, "conjunctions": [10**6], "lengths": [1]}
    manifest["settings"] |= {"n_formulas": 1, "n_groups": 1}
    tensors["network.block.weight"] = np.zeros((10**6, 1), np.float32)
    tensors["network.head.weight"] = np.zeros((1, 1, 3), np.float32)
    write_bundle(tmp_path / "model.dnfnet", manifest, tensors)
    with pytest.raises(ModelFileError, match="dense layers do not fit"):
        load(tmp_path / "model.dnfnet")


def test_a_regressor_with_classes(tmp_path):
    model, y = KINDS["text"]
    model.fit(FRAME, y).save(tmp_path / "model.dnfnet")
    manifest, tensors = read_bundle(tmp_path / "model.dnfnet")
    manifest["kind"] = "DNFNetRegressor"
    del manifest["parameters"]["class_weight"], manifest["parameters"]["calibrate"]
    manifest["parameters"] |= {"loss": "squared_error", "quantiles": [0.5]}
    write_bundle(tmp_path / "model.dnfnet", manifest, tensors)
    with pytest.raises(ModelFileError, match="its target is none of its kind"):
        load(tmp_path / "model.dnfnet")


# A process that is killed.


def save_for_ever(path, models):
    """The life of a child process."""
    try:
        while True:
            for model in models:
                model.save(path)
    finally:
        os._exit(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_process_leaves_the_old_model_or_the_new_one(tmp_path):
    options = {"n_formulas": 64, "max_epochs": 1}
    models = [DNFNetClassifier(random_state=seed, **options).fit(FRAME, NUMBERS) for seed in (0, 1)]
    expected = [model.predict_proba(FRAME) for model in models]
    path = tmp_path / "model.dnfnet"
    models[0].save(path)
    found = set()
    for attempt in range(40):
        child = os.fork()
        if child == 0:
            save_for_ever(path, models)
        time.sleep(0.01 + 0.0013 * attempt)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        probabilities = load(path).predict_proba(FRAME)
        found.add(next(i for i in (0, 1) if np.array_equal(probabilities, expected[i])))
    assert found == {0, 1}


def test_a_file_is_json_and_numbers(tmp_path):
    model, y = KINDS["text"]
    model.fit(FRAME, y).save(tmp_path / "model.dnfnet")
    manifest, tensors = read_bundle(tmp_path / "model.dnfnet")
    assert json.loads(json.dumps(manifest)) == manifest
    assert {"dnfnet", "torch", "numpy", "scikit-learn", "python"} == set(manifest["versions"])
    assert torch.equal(torch.from_numpy(tensors["network.head.bias"]), model.network_.head.bias.detach())
