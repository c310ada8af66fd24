"""The result store: one small file for each finished trial, written whole or not at all.

Any number of runs may share a store: a trial is claimed by a lock that dies with its holder, and a result
appears under its key by one atomic rename, so killing a run at any moment loses only the trials in hand.
Results that are committed with the project (see :mod:`dnfnet.paper.exchange`) can lie underneath, read-only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dnfnet.atomic import replacing
from dnfnet.exceptions import ResultStoreError
from dnfnet.paper.locks import try_lock
from dnfnet.paper.trial import PROTOCOL, Trial

Record = dict[str, Any]
OK, FAILED, TIMEOUT = "ok", "failed", "timeout"


class Store:
    """Results by key.

    Parameters
    ----------
    path : path
        Directory of the store; made when the first result comes.
    base : mapping, optional
        Records by key that are finished already, such as the committed ones.
    """

    def __init__(self, path: str | Path, base: Mapping[str, Record] | None = None) -> None:
        self.path = Path(path)
        self.base = dict(base or {})

    def has(self, key: str) -> bool:
        """Tell whether the trial of this key is finished, in whatever way."""
        return self._file(key).exists() or key in self.base

    def get(self, key: str) -> Record | None:
        """Return the record of a key, or None."""
        try:
            return _read(self._file(key))
        except FileNotFoundError:
            return self.base.get(key)

    def put(self, trial: Trial, **outcome: Any) -> Record:
        """Store the outcome of a trial at once."""
        record = {**trial.fields, "protocol": PROTOCOL, **outcome}
        write_atomically(self._file(trial.key), json.dumps(record, sort_keys=True))
        return record

    def forget(self, key: str) -> None:
        """Remove one record, so that the trial runs again."""
        self._file(key).unlink(missing_ok=True)
        self.base.pop(key, None)

    def records(self) -> list[Record]:
        """Return all records, those underneath included, in the order of their keys."""
        found = dict(self.base)
        for file in (self.path / "trials").glob("*/*.json"):
            found[file.stem] = _read(file)
        return [found[key] for key in sorted(found)]

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Claim a trial for the time of the block; yields False when another worker has it."""
        with try_lock(self.claim_file(key)) as mine:
            yield mine

    def claim_file(self, key: str) -> Path:
        """Where the lock of a claim is; a worker that was killed leaves the file, without the lock."""
        return self.path / "claims" / f"{key}.lock"

    def add_environment(self, environment: Mapping[str, Any]) -> None:
        """Keep a description of the code and the machine, under its ``id``."""
        file = self.path / "environments" / f"{environment['id']}.json"
        if not file.exists():
            write_atomically(file, json.dumps(dict(environment), sort_keys=True))

    def environments(self) -> dict[str, Record]:
        """Return what :meth:`add_environment` kept, by id."""
        files = (self.path / "environments").glob("*.json")
        return {file.stem: json.loads(file.read_text()) for file in sorted(files)}

    def partitions_file(self, dataset: str) -> Path:
        """Where the indices of a data set's partitions are kept."""
        return self.path / "partitions" / f"{dataset}.npz"

    def _file(self, key: str) -> Path:
        # Two levels: the full study has more trials than a directory lists quickly.
        return self.path / "trials" / key[:2] / f"{key}.json"


def _read(file: Path) -> Record:
    try:
        record = json.loads(file.read_text())
    except json.JSONDecodeError as error:
        raise ResultStoreError(f"{file} is no stored result ({error}): delete it, and its trial runs again.") from error
    if record.get("protocol") != PROTOCOL:
        raise ResultStoreError(
            f"{file} is a result of protocol {record.get('protocol')}, this code has {PROTOCOL}: use another store."
        )
    return record


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that it is there in full, also after a power cut, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_text(text)
