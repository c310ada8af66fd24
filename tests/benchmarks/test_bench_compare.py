"""Means, gains and tables of the bench, by hand."""

import math

import numpy as np
import pytest

from benchmarks.accuracy.compare import Bench, Figure
from benchmarks.accuracy.render import losses, markdown
from benchmarks.accuracy.variants import VARIANTS, Tuned
from dnfnet.exceptions import InvalidParameterError


def registered(variant, dataset):
    return VARIANTS[variant].configs(dataset)[0] if variant in VARIANTS else {"variant": variant, "parameters": {}}


def made_up(
    variant, tests, *, dataset="gesture", seed=1, parameters=None, validation=0.5, model="dnf-net", seconds=2.0
):
    metric = {"gesture": "log_loss", "adult": "roc_auc"}[dataset]
    return [
        {
            "dataset": dataset,
            "model": model,
            "config": registered(variant, dataset)
            if parameters is None
            else {"variant": variant, "parameters": parameters},
            "partition": partition,
            "seed": seed,
            "status": "ok",
            "metric": metric,
            "validation": validation,
            "test": test,
            "fit_seconds": seconds + partition,
            "fit_cpu_seconds": 1.0,
        }
        for partition, test in enumerate(tests)
    ]


def test_mean_sem_and_gain_by_hand():
    """Log-loss 1, 2, 3 against 2, 2, 5: gains 1, 0, 2, of mean 1 and sem 1/sqrt(3)."""
    bench = Bench(made_up("mine", [1.0, 2.0, 3.0]) + made_up("base", [2.0, 2.0, 5.0]))
    mine, base = bench.runs("gesture", "mine"), bench.runs("gesture", "base")
    assert mine.figure == Figure(2.0, pytest.approx(1 / np.sqrt(3)), 3)
    assert mine.gain(base) == Figure(1.0, pytest.approx(1 / np.sqrt(3)), 3)
    assert base.gain(mine).mean == -1.0
    assert mine.seconds("fit_seconds") == 3.0


def test_a_higher_auc_is_a_gain():
    bench = Bench(made_up("mine", [0.75], dataset="adult") + made_up("base", [0.5], dataset="adult"))
    gain = bench.runs("adult", "mine").gain(bench.runs("adult", "base"))
    assert (gain.mean, gain.n) == (0.25, 1)
    assert math.isnan(gain.sem)


def test_gains_are_of_common_partitions_and_seeds_only():
    """Seed 2 and partition 2 are the line's own: they count in its mean and not in its gain."""
    ours = made_up("mine", [1.0, 2.0, 9.0]) + made_up("mine", [3.0], seed=2)
    bench = Bench(ours + made_up("base", [2.0, 4.0]))
    mine = bench.runs("gesture", "mine")
    assert mine.figure.mean == pytest.approx(((1 + 3) / 2 + 2 + 9) / 3)
    assert mine.gain(bench.runs("gesture", "base")) == Figure(1.5, pytest.approx(0.5), 2)
    assert mine.basis == "3 partitions, 2 seeds"


def test_choosing_and_judging_are_kept_apart():
    bench = Bench(made_up("mine", [1.0, 2.0, 3.0, 4.0]), partitions=[2, 3])
    assert bench.runs("gesture", "mine").figure.mean == 3.5


def test_tuning_chooses_by_validation_and_pays_for_all_it_tried():
    first, second, third = (config["parameters"] for config in Tuned(3).configs("gesture"))
    shared = {"model": "xgboost"}
    bench = Bench(
        made_up("xgboost-tuned", [1.0, 1.0], parameters=first, validation=0.5, **shared)
        + made_up("xgboost-tuned", [7.0], parameters=second, validation=0.4, **shared)
        + made_up("xgboost-tuned", [0.5], parameters=third, validation=0.3, **shared)
    )
    two, all_of_them = bench.runs("gesture", "xgboost-tuned:2"), bench.runs("gesture", "xgboost-tuned")
    assert two.scores == {(0, 1): 7.0, (1, 1): 1.0}
    assert two.basis == "2 partitions, best of 1 to 2"
    assert two.seconds("fit_seconds") == pytest.approx((4.0 + 3.0) / 2)
    assert all_of_them.scores[0, 1] == 0.5


def test_the_registry_decides_among_old_and_new_parameters_of_a_name():
    old = made_up("default", [5.0], parameters={"n_formulas": 1})
    assert Bench(old).runs("gesture", "default") is None
    both = Bench(old + made_up("default", [1.0]))
    assert both.runs("gesture", "default").figure.mean == 1.0
    ambiguous = Bench(made_up("mine", [1.0], parameters={"a": 1}) + made_up("mine", [2.0], parameters={"a": 2}))
    with pytest.raises(InvalidParameterError, match="2 sets of parameters"):
        ambiguous.runs("gesture", "mine")


def test_the_table_in_full():
    rows = made_up("default", [2.0, 2.0]) + made_up("mine", [1.0, 1.5, 4.0], seconds=10.0)
    rows += made_up("xgboost", [1.5], model="xgboost")
    assert markdown(Bench(rows), names=["mine", "default", "xgboost"]) == (
        "**gesture**, log-loss (lower is better); a gain is positive where the line is better\n"
        "\n"
        "| | mean | gain on default | gain on xgboost | fit s | fit CPU s | rests on |\n"
        "|---|---:|---:|---:|---:|---:|---|\n"
        "| mine | 2.1667 ± 0.9280 | +0.7500 ± 0.2500 (of 2) | +0.5000 (of 1) | 11 | 1 | 3 partitions |\n"
        "| default | 2.0000 ± 0.0000 |  | -0.5000 (of 1) | 2.5 | 1 | 2 partitions |\n"
        "| xgboost | 1.5000 | +0.5000 |  | 2 | 1 | 1 partition |\n"
    )


def test_losses_over_several_tables():
    """Log-loss 1 to 2, and 1 - AUC 0.25 to 0.5: twice the loss on both, one of them on the common partition only."""
    rows = made_up("default", [1.0, 9.0]) + made_up("default", [0.75], dataset="adult")
    rows += made_up("mine", [2.0]) + made_up("mine", [0.5], dataset="adult") + made_up("other", [0.5])
    assert losses(Bench(rows), names=["mine", "other"]) == (
        "| | default | mine | other |\n"
        "|---|---:|---:|---:|\n"
        "| gesture | 5.0000 | 2.0000 | 0.5000 |\n"
        "| adult | 0.2500 | 0.5000 | – |\n"
        "| *of the loss of default* | 1.000 | 2.000 | 0.500 |\n"
        "| *behind default* |  | 2 of 2 | 0 of 1 |\n"
    )


def test_a_loss_of_nothing_counts_as_a_thousandth():
    rows = made_up("default", [1.0], dataset="adult") + made_up("mine", [0.992], dataset="adult")
    assert "| *of the loss of default* | 1.000 | 8.000 |" in losses(Bench(rows), names=["mine"])
