"""Grids of the paper, keys of trials, and the plan of a run."""

import pytest

from dnfnet.exceptions import InvalidParameterError
from dnfnet.paper.clock import format_duration, parse_duration
from dnfnet.paper.grids import ROWS, choose_grid, experiment_grid, fcn_grid
from dnfnet.paper.networks import block_widths
from dnfnet.paper.plan import Selection, expand_rows, plan
from dnfnet.paper.store import Store
from dnfnet.paper.trial import Trial, canonical


@pytest.mark.parametrize(("row", "size"), [("dnf-net", 42), ("xgboost", 864), ("fcn", 3300)])
def test_full_grids(row, size):
    configs = choose_grid(row, "full")
    assert len(configs) == len({canonical(config) for config in configs}) == size


def test_order_is_fixed():
    assert choose_grid("dnf-net", "full")[1] == {
        "n_formulas": 64,
        "beta": 1.3,
        "structure": "dnf",
        "localization": "gaussian",
    }
    assert choose_grid("xgboost", "full")[-1] == {
        "learning_rate": 0.5,
        "max_depth": 15,
        "colsample_bytree": 1.0,
        "subsample": 1.0,
    }


def test_fcn_shapes_are_all_different():
    shapes = [block_widths(c["depth"], c["width"], c["pattern"]) for c in fcn_grid()]
    assert len(set(shapes)) == 55
    assert block_widths(6, 128, "halving") == (128, 64, 32, 16, 8, 4)


def test_experiments():
    sizes = {number: len(experiment_grid(number)) for number in range(1, 9)}
    assert sizes == {1: 3, 2: 3, 3: 18, 4: 18, 5: 3, 6: 18, 7: 18, 8: 18}
    assert experiment_grid(6) == experiment_grid(3)
    assert all(config in choose_grid("dnf-net", "full") for config in experiment_grid(4))
    assert experiment_grid(8, (128,))[0]["localization"] == "uniform"
    assert len(choose_grid("syn-learned", "full")) == 4
    assert len(choose_grid("syn-none", "full")) == 1


@pytest.mark.parametrize("row", ROWS)
def test_parts_belong_to_the_full_grid(row):
    full = choose_grid(row, "full")
    assert all(config in full for config in [*choose_grid(row, "small"), *choose_grid(row, "random:12")])
    # A longer draw goes on where the shorter one ended.
    assert choose_grid(row, "random:12")[:4] == choose_grid(row, "random:4")


def test_unknown_grids_are_refused():
    for kind in ("tiny", "random:", "random:0", "random:x"):
        with pytest.raises(InvalidParameterError, match="grid must be full, small or random:N"):
            choose_grid("fcn", kind)


def test_a_key_is_the_same_everywhere_and_depends_on_everything():
    trial = Trial("eye", "dnf-net", {"n_formulas": 128, "beta": 0.7}, 0, 1)
    assert trial.key == "6ecf70563be39d894a970088"
    assert trial.key == Trial("eye", "dnf-net", {"beta": 0.7, "n_formulas": 128}, 0, 1).key
    others = [
        Trial("gesture", "dnf-net", trial.config, 0, 1),
        Trial("eye", "fcn", trial.config, 0, 1),
        Trial("eye", "dnf-net", {"n_formulas": 128, "beta": 0.4}, 0, 1),
        Trial("eye", "dnf-net", trial.config, 1, 1),
        Trial("eye", "dnf-net", trial.config, 0, 2),
    ]
    assert len({trial.key, *(other.key for other in others)}) == 6


def names(trials):
    return {(t.dataset, t.config["n_formulas"], t.config["beta"]) for t in trials}


def test_a_plan_has_each_trial_once(tmp_path):
    """Experiment 4 is in both tables and in the grid of DNF-Net; Experiment 6 is Experiment 3."""
    store = Store(tmp_path)
    rows = expand_rows(("table1", "table2", "dnf-net"))
    trials = plan(Selection(rows, datasets=("eye",), seeds=(1,), formulas=(128,)), store)
    assert len(trials) == 5 * (1 + 1 + 6 + 6 + 1 + 6 + 6)
    assert len({trial.key for trial in trials}) == len(trials)


def test_a_plan_takes_all_partitions_of_a_configuration_before_the_next(tmp_path):
    trials = plan(Selection(("xgboost", "fcn"), ("eye", "house"), grid="random:2", seeds=(1,)), Store(tmp_path))
    assert [trial.partition for trial in trials[:5]] == [0, 1, 2, 3, 4]
    assert [(t.dataset, t.model) for t in trials[:20:5]] == [
        ("eye", "xgboost"),
        ("house", "xgboost"),
        ("eye", "fcn"),
        ("house", "fcn"),
    ]
    assert len({canonical(t.config) for t in trials[:20] if t.model == "fcn"}) == 1


def test_synthetic_rows_and_the_papers_own_choice(tmp_path):
    store = Store(tmp_path)
    assert len(plan(Selection(expand_rows(("figure2",))), store)) == 6 * 7 * 6 * 15
    few = plan(Selection(("syn-oracle",), ("syn2", "syn1-d13"), dimensions=(11, 12), seeds=(1,)), store)
    assert [trial.dataset for trial in few[::5]] == ["syn2-d11", "syn2-d12", "syn1-d13"]
    assert {t.dataset for t in plan(Selection(("exp1",)), store)} == {"eye", "gesture", "gas"}
    assert len(plan(Selection(("dnf-net",)), store)) == 42 * 6 * 15


def test_the_best_beta_of_a_smaller_net(tmp_path):
    store = Store(tmp_path)
    for partition, best in ((0, 0.7), (1, 0.1)):
        for config in experiment_grid(4, (512,)):
            score = 0.5 if config["beta"] == best else 0.9
            trial = Trial("eye", "dnf-net", config, partition, 1)
            store.put(trial, status="ok", metric="log_loss", validation=score, test=1.0)
    selection = Selection(("exp4",), ("eye",), formulas=(2048,), betas=512, partitions=(0, 1), seeds=(1,))
    assert {(t.partition, t.config["beta"]) for t in plan(selection, store)} == {(0, 0.7), (1, 0.1)}
    with pytest.raises(InvalidParameterError, match="needs finished trials with 512 formulas"):
        plan(Selection(("exp4",), ("gesture",), formulas=(2048,), betas=512, seeds=(1,)), store)


def test_unknown_rows_are_refused():
    with pytest.raises(InvalidParameterError, match="model must be one of table1"):
        expand_rows(("lightgbm",))


def test_durations():
    assert [parse_duration(text) for text in ("2h", "1h30m", "45s", "90", "0.5h")] == [7200, 5400, 45, 90, 1800]
    assert [format_duration(s) for s in (0.5, 45, 90, 7200, 90061)] == ["0.5s", "45s", "1m 30s", "2h", "1d 1h"]
    for text in ("", "2 hours", "h", "-5"):
        with pytest.raises(InvalidParameterError, match="duration must look like"):
            parse_duration(text)
