"""Tables, page and figures from a made-up store, against figures worked out by hand."""

import numpy as np
import pytest

from dnfnet.exceptions import ResultStoreError
from dnfnet.paper.aggregate import Results, difference_in_sems
from dnfnet.paper.figures import draw_figures
from dnfnet.paper.grids import choose_grid, experiment_grid, synthetic_grid
from dnfnet.paper.report import write_report
from dnfnet.paper.tables import all_tables, comparison_cell, experiment_cell
from dnfnet.paper.targets import COMPARISON_TARGETS, EXPERIMENT_TARGETS


def record(dataset, model, config, partition, seed, validation, test, metric="log_loss", status="ok"):
    return {
        "dataset": dataset,
        "model": model,
        "config": config,
        "partition": partition,
        "seed": seed,
        "status": status,
        "metric": metric,
        "validation": validation,
        "test": test,
        "seconds": 2.0,
        "environment": "e1",
    }


ENVIRONMENTS = {
    "e1": {
        "commit": "abc",
        "protocol": 1,
        "processor": "a chip",
        "cores": 2,
        "system": "Linux",
        "python": "3.11",
        "packages": {"torch": "2.13"},
    }
}


def experiment(number, tests, dataset="eye", n_formulas=128, seed=1):
    config = experiment_grid(number, (n_formulas,))[0]
    return [record(dataset, "dnf-net", config, i, seed, 0.5, test) for i, test in enumerate(tests)]


def test_mean_and_sem_by_hand():
    """1, 2, 3, 4, 5: mean 3, deviation sqrt(2.5), sem sqrt(2.5 / 5)."""
    cell = experiment_cell(Results(experiment(4, [1, 2, 3, 4, 5])), 4, "eye", 128)
    assert cell.mean == 3
    assert cell.sem == pytest.approx(np.sqrt(0.5))
    assert cell.part == "1 of 6 configurations, 5 of 5 partitions, 1 of 3 seeds"


def test_mean_and_sem_are_averaged_over_seeds():
    records = experiment(5, [1, 2, 3, 4, 5]) + experiment(5, [10, 10, 10, 10, 10], seed=2)
    cell = experiment_cell(Results(records), 5, "eye", 128)
    assert cell.mean == 6.5
    assert cell.sem == pytest.approx(np.sqrt(0.5) / 2)
    assert cell.seeds == (1, 2)


@pytest.mark.parametrize(("metric", "dataset", "expected"), [("log_loss", "eye", 0.9), ("roc_auc", "house", 0.1)])
def test_the_best_validation_score_chooses_per_partition(metric, dataset, expected):
    one, two = choose_grid("xgboost", "full")[:2]
    records = [
        record(dataset, "xgboost", one, 0, 1, 0.5, 0.1, metric),
        record(dataset, "xgboost", two, 0, 1, 0.4, 0.9, metric),
    ]
    cell = comparison_cell(Results(records), dataset, "xgboost")
    assert cell.mean == expected
    assert np.isnan(cell.sem)
    assert cell.configs == (2, 2)


def test_failures_do_not_count_but_are_told():
    one, two, three = choose_grid("fcn", "full")[:3]
    records = [
        record("eye", "fcn", one, 0, 1, 0.5, 0.6),
        record("eye", "fcn", one, 1, 1, 0.5, 0.6),
        record("eye", "fcn", two, 0, 1, 0.5, 0.6),
        {**record("eye", "fcn", two, 1, 1, 0, 0, status="timeout"), "reason": "time limit of 1s reached"},
        {**record("eye", "fcn", three, 1, 1, 0, 0, status="failed"), "reason": "MemoryError"},
    ]
    cell = comparison_cell(Results(records), "eye", "fcn")
    assert cell.part == ("1 to 2 of 3300 configurations, 2 of 5 partitions, 1 of 3 seeds; 1 at time limit; 1 failed")
    assert comparison_cell(Results(records[3:]), "eye", "fcn") is None


def test_results_on_different_rows_are_not_compared():
    one, two = experiment(4, [0.7, 0.7])
    with pytest.raises(ResultStoreError, match=r"eye rest on different partitions \(aa and bb\)"):
        Results([{**one, "partition_checksum": "aa"}, {**two, "partition_checksum": "bb"}])


def test_difference_in_sems():
    """Our sem 0.3 and the paper's 0.4 make 0.5 together."""
    cell = experiment_cell(Results(experiment(2, [1, 1, 1])), 2, "eye", 128)
    assert difference_in_sems(cell, (0.0, 0.5)) == 2
    wide = [1 - 0.3 * np.sqrt(3), 1, 1 + 0.3 * np.sqrt(3)]
    cell = experiment_cell(Results(experiment(2, wide)), 2, "eye", 128)
    assert cell.sem == pytest.approx(0.3)
    assert difference_in_sems(cell, (0.0, 0.4)) == pytest.approx(2)


def test_experiment_4_is_a_part_of_dnf_nets_grid():
    results = Results(experiment(4, [0.7] * 5))
    assert comparison_cell(results, "eye", "dnf-net").part.startswith("1 of 42 configurations, 5 of 5")
    assert experiment_cell(Results(experiment(3, [0.8] * 5)), 6, "eye", 128).mean == pytest.approx(0.8)


def test_a_whole_cell():
    records = [r for seed in (1, 2, 3) for r in experiment(1, [1.0] * 5, seed=seed)]
    assert experiment_cell(Results(records), 1, "eye", 128).is_complete
    assert not experiment_cell(Results(records[:-1]), 1, "eye", 128).is_complete


def test_targets_are_the_papers():
    assert EXPERIMENT_TARGETS[4]["gesture", 2048] == (0.8770, 0.0088)
    assert EXPERIMENT_TARGETS[7]["gas", 512] == (0.0445, 0.0024)
    assert EXPERIMENT_TARGETS[1]["eye", 2048] is None
    assert COMPARISON_TARGETS["santander"]["xgboost"] == (89.682, 0.165)


def sample():
    records = experiment(4, [0.74, 0.75, 0.76, 0.77, 0.78]) + experiment(6, [0.81] * 5) + experiment(8, [0.78] * 5)
    records += experiment(5, [0.9] * 5, dataset="gas-drift")
    for mask, score in (("none", 0.6), ("learned", 0.7), ("oracle", 0.8)):
        config = synthetic_grid(mask)[0]
        records += [
            record(f"syn1-d{d}", "synthetic-fcn", config, i, 1, score, score + i / 100, "accuracy")
            for d in (11, 50)
            for i in range(5)
        ]
    return records


def test_tables_in_three_forms(tmp_path):
    one, two, three = all_tables(Results(sample()))
    line = next(row for row in one.rows if row[:3] == ["Eye Movements", "128", "Exp 4: and localization (DNF-Net)"])
    assert line[3:] == [
        "0.7600 ± 0.0071",
        "0.7621 ± 0.0079",
        "−0.2",
        "1 of 6 configurations, 5 of 5 partitions, 1 of 3 seeds",
    ]
    assert any(row[0] == "Gas Drift †" for row in two.rows)
    assert len(three.rows) == 7 * 3
    files = [file for table in (one, two, three) for file in table.write(tmp_path)]
    assert sorted(file.name for file in files)[:3] == ["table1.csv", "table1.md", "table1.tex"]
    assert r"0.7600 $\pm$ 0.0071 & 0.7621 $\pm$ 0.0079" in (tmp_path / "table1.tex").read_text()
    assert (
        "Eye Movements,128,Exp 4: and localization (DNF-Net),0.7600 ± 0.0071," in (tmp_path / "table1.csv").read_text()
    )
    markdown = (tmp_path / "table1.md").read_text().splitlines()
    assert len({len(row) for row in markdown if row.startswith("|")}) == 1


def test_the_page(tmp_path):
    records = sample()
    records.append({**records[0], "partition": 4, "seed": 2, "status": "failed", "reason": "MemoryError"})
    write_report(tmp_path / "page.md", Results(records), records, ENVIRONMENTS, "A note by a person.")
    text = (tmp_path / "page.md").read_text()
    for expected in (
        "code version abc, protocol 1, on a chip",
        "Within two sems of the paper: 2",
        "- eye, 128 formulas: 4 (0.7600) < 6 (0.8100). The order holds; not run: 5, 7, 1.",
        "with localization 0.7600 ± 0.0071, with 1/n 0.7800 ± 0.0000; 1/n minus localization, paired over partitions, "
        "0.0200 ± 0.0071; without either 0.8100 ± 0.0000, so the constant alone brings 60% of the localization's gain.",
        "- syn1, d = 50: no selection 0.620 ± 0.007, learned mask 0.720 ± 0.007, oracle mask 0.820 ± 0.007; Bayes",
        "A note by a person.",
        "- eye, dnf-net: 1 × MemoryError",
        "`dnfnet paper run --models xgboost --datasets otto`",
    ):
        assert expected in text, expected


def test_figures_are_drawn(tmp_path):
    files = draw_figures(Results(sample()), tmp_path)
    assert [file.name for file in files] == ["figure1.pdf", "figure1.png", "figure2.pdf", "figure2.png"]
    assert all(file.stat().st_size > 5000 for file in files)


def test_an_empty_store_gives_empty_tables_and_a_page(tmp_path):
    assert all(row[3] == "not run" for table in all_tables(Results([])) for row in table.rows)
    write_report(tmp_path / "page.md", Results([]), [], {})
    assert "Nothing was run yet" in (tmp_path / "page.md").read_text()
