"""MeasuredSystem systems and covariances in a private folder, so that a new system on a board costs one row.

Influence values tell which answers are right: nobody but the grader may read them. An entry that is missing
or damaged is computed again; one that the last complete run did not use is deleted.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gluebench.analysis.rank.decisions import PRECISE_UP_TO, Floats
from gluebench.analysis.rank.influences import PartInfluences, symmetric
from gluebench.scoring import Gold
from gluebench.scoring.influence import Influence
from gluebench.scoring.pairs import sort_key
from gluebench.version import __version__

FORM = 3
"""Number of the form of the facts that are kept."""
DAMAGED = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)
"""What reading a damaged entry raises."""


@dataclass(frozen=True)
class MeasuredSystem:
    """One system as measured: its scores, and the influence of each unit on them."""

    digest: str
    """Of the submission, the labels and the version of this package."""
    facts: Mapping[str, Any]
    """"valid"; if it is, "parts" and "variances" too, as `measure_answers` makes them."""
    read: Callable[[], Mapping[str, Influence]]

    @property
    def parts(self) -> Mapping[str, Mapping[str, Any]]:
        """Facts about the answers to each part of the test data that the system has."""
        parts: Mapping[str, Mapping[str, Any]] = self.facts["parts"]
        return parts

    @cached_property
    def influences(self) -> Mapping[str, Influence]:
        """The influence on the metrics of each part of the test data that the system has; read when used."""
        return self.read()


class Covariance(NamedTuple):
    """Covariances of systems on a part of the test data, that another system adds a row to."""

    digests: list[str]
    matrix: Floats
    """Shape (systems, systems)."""
    reference: Floats
    """The influence values that were subtracted, shape (units,)."""


class MeasurementCache:
    """A folder of entries; without one, nothing is kept."""

    def __init__(self, folder: str | os.PathLike[str] | None, gold: Gold, smallest: int) -> None:
        """`smallest` is the size below which categories are left out."""
        self._folder = None if folder is None else Path(folder)
        self._gold = f"{digest_of_gold(gold)} {smallest}" if self._folder else ""
        self._used: set[str] = set()
        if self._folder:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.chmod(0o700)

    def digest(self, path: str | os.PathLike[str]) -> str:
        """The digest of a submission with the labels; the path itself if nothing is kept."""
        if self._folder is None:
            return os.fspath(path)
        home = Path(path)
        parts = [self._gold]
        for file in sorted(home.rglob("*")) if home.is_dir() else [home]:
            if not file.is_file():
                continue
            with file.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            parts += [str(file.relative_to(home.parent)), digest]
        return _digest(*parts)

    def name_of(self, *parts: str) -> str:
        """The name of an entry that depends on these parts and the labels."""
        return _digest(self._gold, *parts)

    def read_or_measure(self, digest: str, measure: Callable[[], MeasuredSystem]) -> MeasuredSystem:
        """The measured system; measured and kept if it is not there."""
        facts = self.facts(digest)
        if facts is None or (facts["valid"] and not self._path(f"{digest}.npz").is_file()):
            return self._keep_system(digest, measure())
        self._used.add(f"{digest}.npz")

        def read() -> Mapping[str, Influence]:
            try:
                return _read_influences(self._path(f"{digest}.npz"))
            except DAMAGED:
                return self._keep_system(digest, measure()).influences

        return MeasuredSystem(digest, facts, read)

    def _keep_system(self, digest: str, system: MeasuredSystem) -> MeasuredSystem:
        if self._folder is not None:
            self._write_arrays(f"{digest}.npz", _long_arrays(system.influences))
            self.keep_facts(digest, system.facts)
        return system

    def facts(self, name: str) -> Any:
        """A kept JSON value; None if there is none that can be read."""
        if self._folder is None:
            return None
        self._used.add(f"{name}.json")
        try:
            return json.loads(self._path(f"{name}.json").read_bytes())
        except DAMAGED:
            return None

    def keep_facts(self, name: str, facts: Any) -> None:
        """Keep a JSON value."""
        if self._folder is not None:
            self._write(f"{name}.json", lambda path: path.write_text(json.dumps(facts)))

    def covariances(
        self, name: str, systems: Sequence[MeasuredSystem], influences: Callable[[], PartInfluences]
    ) -> Floats:
        """The covariances of these systems on a part of the data; only rows of new systems are computed."""
        if self._folder is None or len(systems) > PRECISE_UP_TO:
            return influences().covariances()
        file = f"{_digest(self._gold, name)}.covariances.npz"
        digests = [system.digest for system in systems]
        kept = self._read_covariance(file)
        if kept is not None and kept.digests == digests:
            return kept.matrix
        place_of: dict[str, int] = {}
        if kept is not None:
            place_of = {digest: at for at, digest in enumerate(kept.digests)}
        old = [at for at, digest in enumerate(digests) if digest in place_of]
        new = [at for at, digest in enumerate(digests) if digest not in place_of]
        data = influences()
        if kept is None or len(old) < len(new):
            reference = data.mean()
            matrix = symmetric(data.covariances(reference))
        else:
            reference = kept.reference
            matrix = np.zeros((len(digests), len(digests)))
            places = [place_of[digests[at]] for at in old]
            matrix[np.ix_(old, old)] = kept.matrix[np.ix_(places, places)]
            if new:
                rows = data.rows(new, reference)
                matrix[new] = rows
                matrix[:, new] = rows.T
        arrays = {"digests": np.array(digests), "matrix": matrix, "reference": reference}
        self._write_arrays(file, arrays)
        return matrix

    def _read_covariance(self, file: str) -> Covariance | None:
        self._used.add(file)
        try:
            with np.load(self._path(file)) as arrays:
                return Covariance(arrays["digests"].tolist(), arrays["matrix"], arrays["reference"])
        except DAMAGED:
            return None

    def delete_unused(self) -> None:
        """Delete what this run did not use: systems that left, earlier labels and versions."""
        if self._folder is not None:
            for path in self._folder.iterdir():
                if path.name not in self._used:
                    path.unlink(missing_ok=True)

    def _path(self, file: str) -> Path:
        assert self._folder is not None
        return self._folder / file

    def _write_arrays(self, file: str, arrays: Mapping[str, Any]) -> None:
        def write(path: Path) -> None:
            with open(path, "wb") as target:
                np.savez(target, **arrays)

        self._write(file, write)

    def _write(self, file: str, write: Callable[[Path], object]) -> None:
        """Write a file as a whole or not at all."""
        self._used.add(file)
        scratch = self._path(f"{file}.{os.getpid()}.part")
        write(scratch)
        os.replace(scratch, self._path(file))


def digest_of_gold(gold: Gold) -> str:
    """A digest of everything that scores depend on beside the submission."""
    hashed = hashlib.sha256(f"{FORM} {__version__} {gold.role} {gold.rows} {gold.benchmark!r}".encode())
    for name, column in sorted(gold.columns.items()):
        metadata = gold.metadata.get(name)
        hashed.update(f"{name} {column.labels} {metadata and metadata.groups}".encode())
        hashed.update(sort_key(column))
        if column.indices is not None:
            hashed.update(column.indices.tobytes())
        hashed.update(repr(gold.categories.get(name)).encode())
    return hashed.hexdigest()


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:40]


def _long_arrays(influences: Mapping[str, Influence]) -> dict[str, Any]:
    """All influences of a system in few long arrays, which are read faster than many short ones."""
    layout = []
    numbers: list[Any] = []
    kinds_by_type: dict[str, list[Any]] = {}
    for name, own in influences.items():
        type_of_kinds = own.kinds.dtype.name
        layout.append([name, *own.by_kind.shape, own.size, type_of_kinds])
        numbers += [own.values, own.by_kind.ravel(), own.counts.astype(np.float64)]
        kinds_by_type.setdefault(type_of_kinds, []).append(own.kinds)
    arrays = {"layout": np.frombuffer(json.dumps(layout).encode(), np.uint8)}
    if numbers:
        arrays["numbers"] = np.concatenate(numbers)
    for type_of_kinds, kinds in kinds_by_type.items():
        arrays[type_of_kinds] = np.concatenate(kinds)
    return arrays


def _read_influences(path: Path) -> dict[str, Influence]:
    """The influences of a system from its file; raises one of DAMAGED if it is not whole."""
    with np.load(path) as file:
        arrays = dict(file)
    read_up_to = dict.fromkeys(arrays, 0)

    def next_part(field: str, length: int) -> Any:
        start = read_up_to[field]
        read_up_to[field] = start + length
        part = arrays[field][start : start + length]
        if len(part) < length:
            raise ValueError(f"{path} has too few numbers in {field}")
        return part

    influences = {}
    for name, metrics, kinds, units, type_of_kinds in json.loads(arrays["layout"].tobytes()):
        values = next_part("numbers", metrics)
        by_kind = next_part("numbers", metrics * kinds).reshape(metrics, kinds)
        counts = next_part("numbers", kinds).astype(np.int64)
        influences[name] = Influence(values, by_kind, next_part(type_of_kinds, units), counts)
    return influences
