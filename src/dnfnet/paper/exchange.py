"""Results as a project commits them: a few sorted text files, each with what they were made by."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dnfnet.exceptions import ResultStoreError
from dnfnet.paper.store import Record, Store, write_atomically
from dnfnet.paper.synthetic import parse_name
from dnfnet.paper.trial import PROTOCOL, Trial, canonical

_FORMAT = 1


def export_results(store: Store, folder: str | Path, environments: dict[str, Record] | None = None) -> list[Path]:
    """Write all results of a store to ``folder``, one file per data set; returns the files.

    The first line of a file has the protocol and the environments, every other line is one trial; lines are
    sorted, so that the difference between two versions is what was added.
    """
    known = {**(environments or {}), **store.environments()}
    files = []
    for name, records in sorted(_grouped(store.records()).items()):
        used = sorted({record["environment"] for record in records})
        header = {
            "format": _FORMAT,
            "protocol": PROTOCOL,
            "environments": {i: known[i] for i in used if i in known},
        }
        lines = [canonical(header), *sorted(canonical(_compact(record)) for record in records)]
        path = Path(folder) / f"{name}.jsonl"
        write_atomically(path, "\n".join(lines) + "\n")
        files.append(path)
    return files


def import_results(folder: str | Path) -> tuple[dict[str, Record], dict[str, Record]]:
    """Read what :func:`export_results` wrote: the records by key, and the environments by id."""
    records: dict[str, Record] = {}
    environments: dict[str, Record] = {}
    for file in sorted(Path(folder).glob("*.jsonl")):
        header, *lines = file.read_text().splitlines()
        environments.update(_checked(json.loads(header), file)["environments"])
        for line in lines:
            record = {**json.loads(line), "protocol": PROTOCOL}
            records[Trial.from_record(record).key] = record
    return records, environments


def open_store(path: str | Path, results: str | Path | None) -> tuple[Store, dict[str, Record]]:
    """Open a store on top of committed results; returns it with all the environments that are known."""
    records, environments = import_results(results) if results else ({}, {})
    store = Store(path, records)
    return store, {**environments, **store.environments()}


def _checked(header: Any, file: Path) -> Any:
    if header.get("format") != _FORMAT or header.get("protocol") != PROTOCOL:
        raise ResultStoreError(
            f"{file} has format {header.get('format')} and protocol {header.get('protocol')}, "
            f"this code reads {_FORMAT} and {PROTOCOL}."
        )
    return header


def _grouped(records: Iterable[Record]) -> dict[str, list[Record]]:
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        synthetic = parse_name(record["dataset"])
        groups[synthetic[0] if synthetic else record["dataset"]].append(record)
    return groups


def _compact(record: Record) -> Record:
    """Leave out what the header says, and digits beyond what single precision training can mean."""
    kept = {name: value for name, value in record.items() if name != "protocol"}
    return {name: float(f"{v:.8g}") if isinstance(v, float) else v for name, v in kept.items()}
