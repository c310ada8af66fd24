"""The command: ``python -m benchmarks.accuracy run|table|losses|export``."""

from __future__ import annotations

import argparse
import os
import sys
import time

# Idle threads sleep instead of spinning; it has to be said before torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from benchmarks.accuracy.compare import Bench
from benchmarks.accuracy.data import GROUPS, TABLES, load_split, named_tables, open_table
from benchmarks.accuracy.models import check_packages, evaluate
from benchmarks.accuracy.plan import plan, refuse_old_names
from benchmarks.accuracy.render import losses, markdown
from benchmarks.accuracy.variants import find_variant, parse_variant
from dnfnet.exceptions import DNFNetError, InvalidParameterError
from dnfnet.paper.backends import backend
from dnfnet.paper.clock import parse_duration
from dnfnet.paper.environment import describe_environment
from dnfnet.paper.exchange import export_results, open_store
from dnfnet.paper.partitions import N_PARTITIONS
from dnfnet.paper.runner import pending
from dnfnet.paper.runner import run as run_trials
from dnfnet.paper.sources import DataSources
from dnfnet.paper.trial import Trial
from dnfnet.paper.worker import Task

PACKAGES = ("lightgbm", "catboost", "pytabkit")


def parser() -> argparse.ArgumentParser:
    """The command's arguments."""
    top = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description="How good a variant is.")
    actions = top.add_subparsers(title="actions", required=True, metavar="ACTION")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--store", default="accuracy-store", metavar="DIR", help="default: %(default)s")
    shared.add_argument("--results", default="results/accuracy", metavar="DIR", help="committed results, read first")
    part = argparse.ArgumentParser(add_help=False)
    part.add_argument("--variants", nargs="+", metavar="NAME", help="names of the registry, or xgboost-tuned:N")
    part.add_argument(
        "--datasets", nargs="+", choices=[*GROUPS, *TABLES], metavar="NAME", help=f"of {' '.join([*GROUPS, *TABLES])}"
    )
    part.add_argument("--partitions", nargs="+", type=int, choices=range(N_PARTITIONS), metavar="I", help="of 0 to 4")
    part.add_argument("--seeds", nargs="+", type=int, metavar="SEED")
    _add_run(actions.add_parser("run", parents=[shared, part], help="run trials; finished ones are never repeated"))
    for name, write, what in (
        ("table", markdown, "print the results as Markdown"),
        ("losses", losses, "print a line for each table, and how the losses are on the whole"),
    ):
        table_parser = actions.add_parser(name, parents=[shared, part], help=what)
        table_parser.add_argument("--reference", default="default", metavar="NAME", help="default: %(default)s")
        table_parser.set_defaults(run=table, write=write)
    export_parser = actions.add_parser("export", parents=[shared], help="write the results as they are committed")
    export_parser.add_argument("--out", default="results/accuracy", metavar="DIR", help="default: %(default)s")
    export_parser.set_defaults(run=export)
    return top


def _add_run(run_parser: argparse.ArgumentParser) -> None:
    run_parser.add_argument(
        "--variant",
        nargs="+",
        action="append",
        default=[],
        metavar=("NAME", "KEY=VALUE"),
        help="a variant of DNF-Net that is not in the registry: a new name and arguments of the estimators; may repeat",
    )
    run_parser.add_argument("--data-dir", metavar="DIR", help="directory of the tables; else DNFNET_DATA_DIR")
    run_parser.add_argument("--threads", type=int, default=1, metavar="N", help="of each trial (default: 1)")
    run_parser.add_argument("--n-jobs", type=int, default=1, metavar="N", help="trials at a time (default: 1)")
    run_parser.add_argument("--trial-limit", metavar="TIME", help="time that one trial may take, such as 10m")
    run_parser.add_argument("--budget", metavar="TIME", help="stop after this time, such as 2h")
    run_parser.add_argument("--retry-failed", action="store_true", help="run failed and timed-out trials again")
    run_parser.add_argument("--dry-run", action="store_true", help="only list the trials to run")
    run_parser.set_defaults(run=run, seeds=[1])


def run(args: argparse.Namespace) -> int:
    """Run trials; 130 after Ctrl-C."""
    store, _ = open_store(args.store, args.results)
    trials = _trials(args, store.records())
    todo = pending(trials, store, retry_failed=args.retry_failed and not args.dry_run)
    print(f"{len(trials)} trials, {len(trials) - len(todo)} of them finished already, {len(todo)} to run.", flush=True)
    if args.dry_run:
        print(
            "".join(f"{t.dataset} {t.config['variant']} partition {t.partition} seed {t.seed}\n" for t in todo), end=""
        )
    if args.dry_run or not todo:
        return 0
    check_packages({trial.model for trial in todo})
    sources = DataSources.of(args.data_dir)
    for name in dict.fromkeys(trial.dataset for trial in todo):
        open_table(name, sources)  # what is missing is said now, not in every trial
    environment = describe_environment(*PACKAGES)
    store.add_environment(environment)
    task = Task(
        str(store.path.resolve()),
        sources,
        limit=parse_duration(args.trial_limit) if args.trial_limit else None,
        deadline=time.time() + parse_duration(args.budget) if args.budget else None,
        threads=args.threads,
        environment=environment["id"],
        load=load_split,
        evaluate=evaluate,
    )
    with backend("loky", args.n_jobs):
        summary = run_trials(todo, task, n_jobs=args.n_jobs, progress=sys.stderr.isatty())
    print(f"{summary}. Results are in {store.path}.")
    return 130 if summary.interrupted else 0


def _trials(args: argparse.Namespace, records: list) -> list[Trial]:
    given = [parse_variant(words) for words in args.variant]
    variants = [find_variant(name) for name in args.variants or []] + given
    if not variants:
        raise InvalidParameterError("--variants or --variant must say what to run.")
    datasets = named_tables(args.datasets)
    refuse_old_names(given, datasets, records)
    return plan(variants, datasets, args.partitions or range(N_PARTITIONS), args.seeds)


def table(args: argparse.Namespace) -> int:
    """Print the tables."""
    store, _ = open_store(args.store, args.results)
    records = store.records()
    if not records:
        print(f"There are no results yet in {args.store} or {args.results}.", file=sys.stderr)
    bench = Bench(records, args.partitions, args.seeds)
    print(args.write(bench, args.datasets and named_tables(args.datasets), args.variants, args.reference), end="")
    return 0


def export(args: argparse.Namespace) -> int:
    """Write the results in the form that a project commits."""
    store, environments = open_store(args.store, args.results)
    print("Written: " + ", ".join(map(str, export_results(store, args.out, environments))))
    return 0


def main(words: list[str] | None = None) -> int:
    """Run the command; what the user can mend is said in a line."""
    args = parser().parse_args(words)
    try:
        return args.run(args)
    except DNFNetError as error:
        print(f"accuracy: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
