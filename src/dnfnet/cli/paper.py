"""``dnfnet paper``: the paper's study, from its data to its tables and figures."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dnfnet.exceptions import DatasetUnavailableError, InvalidParameterError

if TYPE_CHECKING:
    from dnfnet.paper.aggregate import Results
    from dnfnet.paper.datasets import DatasetSpec
    from dnfnet.paper.plan import Selection
    from dnfnet.paper.sources import DataSources
    from dnfnet.paper.store import Store
    from dnfnet.paper.trial import Trial

_EXAMPLES = """\
examples:
  dnfnet paper datasets --data-dir DATA
  dnfnet paper run --models exp4 --datasets eye gesture --formulas 128 512 --seeds 1 --data-dir DATA
  dnfnet paper run --models exp4 --datasets eye --formulas 2048 --betas best:512 --seeds 1 --data-dir DATA
  dnfnet paper run --models xgboost fcn --grid random:12 --seeds 1 --trial-limit 20m --budget 2h --data-dir DATA
  dnfnet paper run --models figure2 --dimensions 11 50 100 --seeds 1
  dnfnet paper tables
  dnfnet paper figures
  dnfnet paper report

A run can be stopped at any moment and goes on with the same command. Results are kept in --store; those
under --results, which a project commits, count as finished too.
"""


def register(subparsers: Any) -> None:
    """Add ``dnfnet paper`` to the command."""
    parser = subparsers.add_parser(
        "paper",
        help="reproduce the paper: run its trials, print its tables, draw its figures",
        description="The paper's study, from its data to its tables and figures.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    _add_run(actions)
    _add(actions, "tables", "print and write Tables 1, 2 and 3", tables, out="paper-results/tables")
    _add(actions, "figures", "draw Figures 1 and 2", figures, out="paper-results/figures")
    report_parser = _add(actions, "report", "write the page on the reproduction", report, out="docs/reproduction.md")
    report_parser.add_argument(
        "--notes", metavar="FILE", help="Markdown to put into the page as it is (default: notes.md among the results)"
    )
    _add(actions, "export", "write the results in the form that a project commits", export, out="results")
    datasets_parser = actions.add_parser("datasets", help="say which data sets are there, and check them")
    _add_data(datasets_parser)
    datasets_parser.set_defaults(run=datasets)


def _add(actions: Any, name: str, text: str, function: Callable[..., int], out: str) -> Any:
    parser = actions.add_parser(name, help=text, description=text)
    _add_store(parser)
    parser.add_argument("--out", default=out, metavar="PATH", help=f"where to write (default: {out})")
    parser.set_defaults(run=function)
    return parser


def _add_store(parser: Any) -> None:
    parser.add_argument(
        "--store", default="paper-results/store", metavar="DIR", help="result store (default: %(default)s)"
    )
    parser.add_argument("--results", default="results", metavar="DIR", help="committed results (default: %(default)s)")


def _add_data(parser: Any) -> None:
    parser.add_argument("--data-dir", metavar="DIR", help="directory with NAME.parquet files; else DNFNET_DATA_DIR")
    parser.add_argument("--csv", nargs="+", default=[], metavar="NAME=FILE", help="CSV files as Kaggle gives them")


def _add_run(actions: Any) -> None:
    parser = actions.add_parser(
        "run",
        help="run trials",
        description="Run the trials of a part of the study; finished ones are never repeated.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    part = parser.add_argument_group("which part")
    part.add_argument(
        "--models",
        nargs="+",
        default=["table1", "table2", "table3", "figure2"],
        metavar="ROW",
        help="table1 table2 table3 figure2, dnf-net xgboost fcn, exp1 to exp8, syn-none syn-learned syn-oracle",
    )
    part.add_argument("--datasets", nargs="+", metavar="NAME", help="data sets and syn1 to syn6 (default: the paper's)")
    part.add_argument("--grid", default="full", metavar="GRID", help="full, small or random:N (default: full)")
    part.add_argument("--formulas", nargs="+", type=int, metavar="N", help="only these numbers of formulas")
    part.add_argument(
        "--betas", nargs="+", metavar="BETA", help="only these betas, or best:N, the best with N formulas"
    )
    part.add_argument(
        "--partitions",
        nargs="+",
        type=int,
        choices=range(5),
        default=range(5),
        metavar="I",
        help="of 0 to 4 (default: all)",
    )
    part.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3], metavar="SEED", help="default: 1 2 3")
    part.add_argument("--dimensions", nargs="+", type=int, metavar="D", help="features of the synthetic tasks")
    how = parser.add_argument_group("how")
    how.add_argument(
        "--n-jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="trials at a time (default: cores)"
    )
    how.add_argument("--threads", type=int, default=1, metavar="N", help="threads of each trial (default: 1)")
    how.add_argument("--budget", metavar="TIME", help="stop after this time, such as 2h")
    how.add_argument("--trial-limit", metavar="TIME", help="time that one trial may take, such as 20m")
    how.add_argument("--retry-failed", action="store_true", help="run failed and timed-out trials again")
    how.add_argument("--backend", default="loky", metavar="NAME", help="loky, threading, dask or ray (default: loky)")
    how.add_argument("--address", metavar="URL", help="scheduler of a running Dask or Ray cluster")
    how.add_argument("--dry-run", action="store_true", help="only say how many trials there are to run")
    _add_store(parser)
    _add_data(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run trials; 130 after Ctrl-C."""
    from dnfnet.paper.backends import backend
    from dnfnet.paper.clock import parse_duration
    from dnfnet.paper.environment import describe_environment
    from dnfnet.paper.exchange import open_store
    from dnfnet.paper.plan import plan
    from dnfnet.paper.runner import pending
    from dnfnet.paper.runner import run as run_trials
    from dnfnet.paper.worker import Task

    deadline = time.time() + parse_duration(args.budget) if args.budget else None
    limit = parse_duration(args.trial_limit) if args.trial_limit else None
    store, _ = open_store(args.store, args.results)
    sources = _sources(args)
    trials = plan(_selection(args), store)
    todo = pending(trials, store, retry_failed=args.retry_failed and not args.dry_run)
    print(f"{len(trials)} trials, {len(trials) - len(todo)} of them finished already, {len(todo)} to run.")
    if args.dry_run or not todo:
        return 0
    todo = _with_data(todo, sources, named=args.datasets is not None)
    environment = describe_environment()
    store.add_environment(environment)
    task = Task(str(store.path.resolve()), sources, limit, deadline, args.threads, environment["id"])
    with backend(args.backend, args.n_jobs, args.address):
        summary = run_trials(todo, task, n_jobs=args.n_jobs, progress=True)
    print(f"{summary}. Results are in {store.path}.")
    if summary.unfinished:
        print(f"To go on:  {shlex.join(['dnfnet', *sys.argv[1:]])}")
    return 130 if summary.interrupted else 0


def _selection(args: argparse.Namespace) -> Selection:
    from dnfnet.paper.plan import Selection, check_datasets, expand_rows
    from dnfnet.paper.synthetic import DIMENSIONS

    return Selection(
        rows=expand_rows(tuple(args.models)),
        datasets=check_datasets(tuple(args.datasets)) if args.datasets else None,
        grid=args.grid,
        formulas=tuple(args.formulas) if args.formulas else None,
        betas=_betas(args.betas),
        partitions=tuple(args.partitions),
        seeds=tuple(args.seeds),
        dimensions=tuple(args.dimensions) if args.dimensions else DIMENSIONS,
    )


def _betas(words: Sequence[str] | None) -> tuple[float, ...] | int | None:
    """Read ``0.7 1.3`` as betas, and ``best:512`` as the number of formulas to take the best from."""
    if not words:
        return None
    try:
        name, _, number = words[0].partition(":")
        return int(number) if name == "best" and len(words) == 1 else tuple(map(float, words))
    except ValueError as error:
        raise InvalidParameterError(f"--betas must be numbers or best:N, however: {' '.join(words)}") from error


def _sources(args: argparse.Namespace) -> DataSources:
    from dnfnet.paper.sources import DataSources

    pairs = [text.partition("=") for text in args.csv]
    if not all(name and path for name, _, path in pairs):
        raise InvalidParameterError(f"--csv must be such as otto=train.csv, however: {' '.join(args.csv)}")
    return DataSources.of(args.data_dir, {name: path for name, _, path in pairs})


def _with_data(trials: Sequence[Trial], sources: DataSources, *, named: bool) -> list[Trial]:
    """Keep the trials whose data can be had; a data set that the user named must be there."""
    from dnfnet.paper.datasets import DATASETS

    real = [name for name in dict.fromkeys(trial.dataset for trial in trials) if name in DATASETS]
    missing = {name for name in real if not _is_there(name, sources, must_be=named)}
    return [trial for trial in trials if trial.dataset not in missing]


def _is_there(name: str, sources: DataSources, *, must_be: bool) -> bool:
    from dnfnet.paper.split import open_dataset

    try:
        open_dataset(name, sources)
    except DatasetUnavailableError as error:
        if must_be:
            raise
        print(f"Left out: {error}", file=sys.stderr)
        return False
    return True


def _results(args: argparse.Namespace) -> tuple[Store, Results, dict[str, Any]]:
    from dnfnet.paper.aggregate import Results
    from dnfnet.paper.exchange import open_store

    store, environments = open_store(args.store, args.results)
    records = store.records()
    if not records:
        print(f"There are no results yet in {args.store} or {args.results}.", file=sys.stderr)
    return store, Results(records), environments


def tables(args: argparse.Namespace) -> int:
    """Print the tables as Markdown, and write them in three forms."""
    from dnfnet.paper.tables import all_tables

    _, results, _ = _results(args)
    files: list[Path] = []
    for table in all_tables(results):
        print(table.markdown())
        files += table.write(Path(args.out))
    print("Written: " + ", ".join(map(str, files)))
    return 0


def figures(args: argparse.Namespace) -> int:
    """Draw the figures."""
    from dnfnet.paper.figures import draw_figures

    _, results, _ = _results(args)
    print("Written: " + ", ".join(map(str, draw_figures(results, Path(args.out)))))
    return 0


def report(args: argparse.Namespace) -> int:
    """Write the page on the reproduction."""
    from dnfnet.paper.report import write_report

    store, results, environments = _results(args)
    file = Path(args.notes or Path(args.results) / "notes.md")
    notes = file.read_text() if args.notes or file.exists() else ""
    write_report(Path(args.out), results, store.records(), environments, notes)
    print(f"Written: {args.out}")
    return 0


def export(args: argparse.Namespace) -> int:
    """Write the results in the form that a project commits."""
    from dnfnet.paper.exchange import export_results

    store, _, environments = _results(args)
    print("Written: " + ", ".join(map(str, export_results(store, args.out, environments))))
    return 0


def datasets(args: argparse.Namespace) -> int:
    """Say of each data set where it comes from and whether it is as expected."""
    from dnfnet.paper.datasets import DATASETS

    sources = _sources(args)
    for spec in DATASETS.values():
        print(f"{spec.name:<10} {_availability(spec, sources)}")
    return 0


def _availability(spec: DatasetSpec, sources: DataSources) -> str:
    from dnfnet.exceptions import DNFNetError
    from dnfnet.paper.datasets import load_from

    try:
        place = sources.locate(spec) or "OpenML"
        data = load_from(sources, spec)
    except DNFNetError as error:
        return str(error)
    return f"ok: {len(data.x)} rows, {data.x.shape[1]} features, {len(data.classes)} classes ({place})"
