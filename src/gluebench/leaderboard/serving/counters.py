"""Counters for /metrics, which the processes of a machine share through files. Independent of Django.

Each process keeps its counts in memory and writes them to a file of its own. They are written, not mapped: on
a full disk a write fails and is tried again with the next count, while a mapped page would end the process.
"""

import json
import logging
import os
import secrets
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock

from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from gluebench.leaderboard.keeping.folder import METRICS

READS = 3
"""Times to read a file in which a line was being written."""
Key = tuple[str, ...]
"""The name of a metric, and the values of its labels."""

logger = logging.getLogger(__name__)


class Counter:
    """Events by the values of labels."""

    def __init__(self, name: str, about: str, labels: Sequence[str]) -> None:
        self.name = name
        self.about = about
        self.labels = labels

    def count(self, *values: object) -> None:
        """Count an event with these values of the labels."""
        self.add(values, [1.0])

    def add(self, values: Sequence[object], numbers: Sequence[float]) -> None:
        """Add to the numbers that it has for these values of the labels."""
        _COUNTS.add((self.name, *map(str, values)), numbers)

    def family(self, totals: dict[Key, list[float]]) -> Metric:
        """The metric as Prometheus takes it."""
        family = CounterMetricFamily(self.name, self.about, labels=self.labels)
        for key, numbers in totals.items():
            family.add_metric(key[1:], numbers[0])
        return family


class Histogram(Counter):
    """Durations by the values of labels: how many are at most each bound, and their sum in seconds."""

    def __init__(self, name: str, about: str, labels: Sequence[str], bounds: Sequence[float]) -> None:
        super().__init__(name, about, labels)
        self._bounds = [float(bound) for bound in bounds] + [float("inf")]

    def observe(self, seconds: float, *values: object) -> None:
        """Count a duration with these values of the labels."""
        reached = [float(seconds <= bound) for bound in self._bounds]
        reached.append(seconds)
        self.add(values, reached)

    def family(self, totals: dict[Key, list[float]]) -> Metric:
        """The metric as Prometheus takes it."""
        family = HistogramMetricFamily(self.name, self.about, labels=self.labels)
        bounds = [str(bound).replace("inf", "+Inf") for bound in self._bounds]
        for key, numbers in totals.items():
            counts = zip(bounds, numbers[:-1], strict=True)
            family.add_metric(key[1:], list(counts), numbers[-1])
        return family


class _Counts:
    """The counts of this process, in memory and in its file."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._numbers: dict[Key, list[float]] = {}
        self._places: dict[Key, int] = {}
        """Where the line of each key begins; its length never changes."""
        self._size = 0
        self._unsaved: dict[Key, None] = {}
        self._is_saved = True
        self._path: Path | None = None
        self._file = -1

    def add(self, key: Key, amounts: Sequence[float]) -> None:
        """Add to the numbers of a key, and save them."""
        with self._lock:
            _add(self._numbers, key, amounts)
            self._unsaved[key] = None
            self._save()

    def save(self) -> bool:
        """Save what is not saved yet; returns whether that was possible."""
        with self._lock:
            return self._save()

    def _save(self) -> bool:
        folder = os.environ.get(METRICS)
        if not folder:
            return True
        try:
            if self._path is None:
                path = Path(folder) / f"{os.getpid()}-{secrets.token_hex(4)}"
                self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                self._path = path
            for key in tuple(self._unsaved):
                self._write(key)
        except OSError as error:
            if self._is_saved:
                logger.warning("Counters for /metrics are kept in memory alone: %s", error)
            self._is_saved = False
        else:
            self._is_saved = True
        return self._is_saved

    def _write(self, key: Key) -> None:
        line = _encode_line(key, self._numbers[key])
        if key not in self._places:
            self._places[key] = self._size
            self._size += len(line)
        if os.pwrite(self._file, line, self._places[key]) < len(line):
            raise OSError("the disk is full")
        del self._unsaved[key]

    def totals(self) -> dict[Key, list[float]]:
        """The counts of this process, and those that the others of this machine have saved."""
        with self._lock:
            totals = {key: list(numbers) for key, numbers in self._numbers.items()}
            own = self._path
        folder = os.environ.get(METRICS)
        if not folder:
            return totals
        for path in sorted(Path(folder).iterdir()):
            if path != own:
                for key, numbers in _read(path):
                    _add(totals, key, numbers)
        return totals


def _add(totals: dict[Key, list[float]], key: Key, amounts: Sequence[float]) -> None:
    earlier = totals.get(key, [0.0] * len(amounts))
    totals[key] = [a + b for a, b in zip(earlier, amounts, strict=True)]


def _encode_line(key: Key, numbers: Sequence[float]) -> bytes:
    """A key and its numbers, at a width that no number changes, with a checksum."""
    text = f"{json.dumps(key)}\t{' '.join(f'{number:24.16e}' for number in numbers)}".encode()
    return b"%s\t%08x\n" % (text, zlib.crc32(text))


def _read(path: Path) -> list[tuple[Key, list[float]]]:
    """The lines of a file. One that a full disk kept from being written whole is left out."""
    records: list[tuple[Key, list[float]]] = []
    for _ in range(READS):
        records = []
        lines = path.read_bytes().splitlines()
        for line in lines:
            # A line that was not written leaves zeros before the next.
            text, _, checksum = line.rpartition(b"\0")[2].rpartition(b"\t")
            if checksum == b"%08x" % zlib.crc32(text):
                key, _, numbers = text.decode().partition("\t")
                records.append((tuple(json.loads(key)), [float(number) for number in numbers.split()]))
        if len(records) == len(lines):
            break
    return records


_COUNTS = _Counts()
REQUESTS = Histogram(
    "gluebench_request_seconds",
    "Time to answer a request.",
    ["route", "method", "status"],
    (0.01, 0.03, 0.1, 0.3, 1, 3, 10),
)
UPLOADS = Counter("gluebench_uploads", "Submissions sent over the page or the API.", ["outcome"])
GRADINGS = Histogram(
    "gluebench_grading_seconds",
    "Time to check and grade a submission; queued is one that was given back.",
    ["result"],
    (0.3, 1, 3, 10, 30, 100),
)


def families() -> Iterator[Metric]:
    """All counters of this machine, and whether some are missing."""
    is_saved = _COUNTS.save()
    totals = _COUNTS.totals()
    for metric in (REQUESTS, UPLOADS, GRADINGS):
        yield metric.family({key: numbers for key, numbers in totals.items() if key[0] == metric.name})
    about = "1 while counters cannot be written: those of other processes lack their latest counts."
    yield GaugeMetricFamily("gluebench_counters_unsaved", about, float(not is_saved))
