"""The page on the reproduction, made from the stored results alone (and the notes that a person adds)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dnfnet.paper.aggregate import Cell, Results
from dnfnet.paper.clock import format_duration
from dnfnet.paper.findings import ablation_order, agreement, localization_question, synthetic_findings
from dnfnet.paper.grids import ROWS
from dnfnet.paper.partitions import N_PARTITIONS
from dnfnet.paper.plan import GROUPS, SEEDS, Selection
from dnfnet.paper.render import Table
from dnfnet.paper.store import FAILED, OK, TIMEOUT, Record, write_atomically
from dnfnet.paper.synthetic import parse_name
from dnfnet.paper.tables import MODEL_NAMES, all_tables, comparison_cell

_INTRODUCTION = """\
# The paper's study, run again

Made by `dnfnet paper report` from the stored results; do not edit by hand. The tables and figures come from
`dnfnet paper tables` and `dnfnet paper figures`. A figure counts as in agreement with the paper when it is
within two sems of it, both sems taken together; every figure says what part of the grid it rests on.
"""


def write_report(
    path: Path, results: Results, records: Sequence[Record], environments: Mapping[str, Record], notes: str = ""
) -> None:
    """Write the page to ``path``."""
    sections = [
        _INTRODUCTION,
        _section("What was run, on what, and how long it took", [*_machines(records, environments), _work(records)]),
        _section("What agrees and what does not", agreement(results)),
        _section("The order of the ablations", ablation_order(results)),
        _section("Is it localization, or only 1/n?", localization_question(results)),
        _section("Feature selection on synthetic tasks", synthetic_findings(results)),
        _section("Notes", [notes] if notes else []),
        _section("Tables", [table.markdown() for table in all_tables(results)]),
        _section("Trials that failed or hit their time limit", _troubles(records)),
        _section("What was not run, and the command that would", _missing(results)),
    ]
    write_atomically(path, "\n".join(section for section in sections if section))


def _section(title: str, paragraphs: Sequence[str]) -> str:
    body = "\n\n".join(text.strip("\n") for text in paragraphs if text)
    return f"## {title}\n\n{body}\n" if body else ""


def _machines(records: Sequence[Record], environments: Mapping[str, Record]) -> Iterator[str]:
    used = {record["environment"] for record in records}
    for name in sorted(used & environments.keys()):
        facts = environments[name]
        count = sum(record["environment"] == name for record in records)
        packages = ", ".join(f"{package} {version}" for package, version in facts["packages"].items() if version)
        yield (
            f"- {count} trials with code version {facts['commit']}, protocol {facts['protocol']}, "
            f"on {facts['processor']} ({facts['cores']} cores, {facts['system']}), "
            f"Python {facts['python']}, {packages}."
        )


def _work(records: Sequence[Record]) -> str:
    """Return a table of trials and hours by data set and model."""
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        synthetic = parse_name(record["dataset"])
        groups[synthetic[0] if synthetic else record["dataset"], record["model"]].append(record)
    rows = [[*name, *_effort(group)] for name, group in sorted(groups.items())]
    header = ("Data set", "Model", "Trials", "Finished", "Time limit", "Failed", "Time of all trials", "Median trial")
    return Table("work", "Trials and their time", header, rows).markdown() if rows else "Nothing yet."


def _effort(group: Sequence[Record]) -> list[str]:
    seconds = sorted(record["seconds"] for record in group)
    counts = [sum(record["status"] == status for record in group) for status in (OK, TIMEOUT, FAILED)]
    times = [format_duration(sum(seconds)), format_duration(seconds[len(seconds) // 2])]
    return [str(len(group)), *map(str, counts), *times]


def _troubles(records: Sequence[Record]) -> list[str]:
    """List the reasons, each with how often it came, and on what."""
    groups: dict[tuple[str, str, str], int] = defaultdict(int)
    for record in records:
        if record["status"] != OK:
            groups[record["dataset"], record["model"], record["reason"]] += 1
    lines = [f"- {dataset}, {model}: {n} × {reason}" for (dataset, model, reason), n in sorted(groups.items())]
    return ["\n".join(lines)]


def _missing(results: Results) -> list[str]:
    """Say for each part of the study what is missing, with the command that would run it."""
    lines = [
        *_missing_group(results, "table1", "the gradual study"),
        *_missing_group(results, "table2", "the leave one out study"),
        *_missing_comparison(results),
        *_missing_group(results, "figure2", "the synthetic study"),
    ]
    intro = "Each command runs only what is not there yet, and can be stopped and started again at any time."
    return [intro, "\n".join(lines)] if lines else ["Nothing: the study is complete."]


def _missing_group(results: Results, group: str, title: str) -> Iterator[str]:
    selection = Selection(rows=GROUPS[group])
    missing: dict[str, int] = defaultdict(int)
    for row in selection.rows:
        for dataset in selection.names(row):
            missing[dataset] += _absent(results, dataset, row, selection)
    datasets = [name for name, n in missing.items() if n]
    if not datasets:
        return
    total = sum(missing.values())
    names = sorted({(parse_name(name) or (name, 0))[0] for name in datasets})
    yield f"- {title}, {total} trials: `dnfnet paper run --models {group} --datasets {' '.join(names)}`"


def _absent(results: Results, dataset: str, row: str, selection: Selection) -> int:
    """Count the trials of a row on a data set that have no result."""
    configs = selection.configs(row)
    found = {
        (record["seed"], record["partition"], str(sorted(record["config"].items(), key=str)))
        for record in results.find(dataset, ROWS[row][0], configs)
        if record["seed"] in SEEDS
    }
    return len(configs) * N_PARTITIONS * len(SEEDS) - len(found)


def _missing_comparison(results: Results) -> Iterator[str]:
    selection = Selection(rows=GROUPS["table3"])
    for dataset in selection.names("dnf-net"):
        for model, title in MODEL_NAMES.items():
            cell: Cell | None = comparison_cell(results, dataset, model)
            if cell is None or not cell.is_complete:
                n = _absent(results, dataset, model, selection)
                part = "nothing so far" if cell is None else f"so far {cell.part}"
                command = f"dnfnet paper run --models {model} --datasets {dataset}"
                yield f"- Table 3, {title} on {dataset}, {n} trials ({part}): `{command}`"
