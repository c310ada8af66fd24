"""Variants of the bench: names, their arguments, and what "auto" makes of them."""

import pytest

from benchmarks.accuracy.variants import Tuned, find_variant, parse_variant
from dnfnet.estimators import settings
from dnfnet.exceptions import InvalidParameterError


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["default", "beta=1"], "must begin with a new name"),
        (["mine", "beta"], "must be NAME key=value"),
    ],
)
def test_what_is_no_variant_is_refused(words, message):
    with pytest.raises(InvalidParameterError, match=message):
        parse_variant(words)


def test_an_argument_that_the_estimators_lack_is_refused():
    with pytest.raises(InvalidParameterError, match="DNFNetRegressor has no wings"):
        parse_variant(["mine", "wings=2"]).configs("diamonds")


def test_a_share_of_rows_to_stop_by_is_for_variants_with_a_split_of_their_own():
    with pytest.raises(InvalidParameterError, match="has no validation_fraction"):
        parse_variant(["mine", "validation_fraction=0.2"]).configs("otto")
    assert "validation_fraction" not in find_variant("default").configs("otto")[0]["auto"]
    (chosen,) = find_variant("own-split").configs("otto")
    assert chosen["auto"]["validation_fraction"] == pytest.approx(2500 / (0.8 * 61_878), rel=1e-4)
    given = parse_variant(["mine", "own_split=True", "validation_fraction=0.2"])
    assert given.model == "dnf-net-own-split"
    (config,) = given.configs("otto")
    assert config["parameters"]["validation_fraction"] == 0.2
    assert "validation_fraction" not in config["auto"]


def test_values_are_literals_or_texts():
    assert parse_variant(["a", "keep_probs=None", "lengths=(2,4)", "metric=paper"]).parameters == {
        "keep_probs": None,
        "lengths": (2, 4),
        "metric": "paper",
    }


def test_the_papers_preset_has_its_metric_for_classes_only():
    paper = find_variant("paper")
    (for_classes,), (for_reals,) = paper.configs("eye"), paper.configs("diamonds")
    assert for_classes["parameters"]["n_formulas"] == for_reals["parameters"]["n_formulas"] == 512
    assert (for_classes["parameters"]["metric"], for_reals["parameters"]["metric"]) == ("paper", None)


def test_a_new_rule_for_auto_is_a_new_trial_where_it_makes_a_difference(monkeypatch):
    default = find_variant("default")
    before = {name: default.configs(name) for name in ("otto", "house")}
    assert before["otto"][0]["parameters"]["n_groups"] == "auto"
    assert (before["otto"][0]["auto"]["n_groups"], before["house"][0]["auto"]["n_groups"]) == (16, 16)
    monkeypatch.setattr(settings, "PER_CLASS", 1)
    assert default.configs("otto")[0]["auto"]["n_groups"] == 32
    assert default.configs("house") == before["house"]
    given = parse_variant(["mine", "n_groups=4"]).configs("otto")[0]
    assert "n_groups" not in given["auto"]  # no rule has a say in it


def test_bagged_networks_have_the_rules_for_all_their_rows():
    (alone,), (bagged,) = find_variant("default").configs("otto"), find_variant("bagged-5").configs("otto")
    assert alone["auto"]["weight_decay"] == pytest.approx(8 * 512 / (0.7 * 61_878), rel=1e-4)
    assert bagged["auto"]["weight_decay"] == pytest.approx(8 * 512 / (0.8 * 61_878), rel=1e-4)


def test_more_tuning_contains_less():
    few, many = Tuned(3).configs("eye"), Tuned(5).configs("eye")
    assert many[:3] == few
    assert len(many) == 5
