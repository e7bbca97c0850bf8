"""Which file of a submission is meant as which test file: by its very name, or by one like it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import product

from gluebench.benchmark import Benchmark, Role, TestFile
from gluebench.benchmark.lookup import fold
from gluebench.submission.archive_problems import READ, base_name

SUFFIX = ".tsv"
_FOREIGN = {
    "a spreadsheet": (".xlsx", ".xls", ".ods"),
    "an array or a pickle": (".npy", ".npz", ".pkl", ".pickle", ".p", ".pt"),
    "compressed": (".gz", ".tgz", ".zip", ".bz2", ".xz", ".7z", ".rar"),
}
"""Kinds of file that have to be saved otherwise first, by the end of the name."""
_SUFFIXES = READ + tuple(suffix for suffixes in _FOREIGN.values() for suffix in suffixes)
_OTHER = frozenset({"eval", "train", "config", "log", "logs", "metrics", "scores", "gold", "readme"})
"""Words in the names of files that hold no predictions, though they name a task."""

_RESULTS = frozenset({"results", "result", "predict", "predictions", "prediction", "preds", "pred", "output"})
"""Words in the names of files that do not say which task they are of."""
_SPLITS = {"test": {"test"}, "dev": {"dev", "val", "valid", "validation"}}
"""Words in the names of files that say which split they are of."""


class FileNames:
    """Which file names mean which test file of a benchmark, letter case aside."""

    def __init__(self, benchmark: Benchmark, role: Role) -> None:
        self._benchmark = benchmark
        self._role = role
        self.files: dict[str, list[TestFile]] = {}
        for file in benchmark.files(role):
            for name in _paths(file):
                self.files.setdefault(name, []).append(file)
        self.others = {name for file in benchmark.ignored for name in _paths(file)}

    @cached_property
    def _alike(self) -> dict[str, TestFile]:
        """Test file by each of its names without signs and letter case; few submissions need these."""
        alike: dict[str, TestFile] = {}
        for name, files in self.files.items():
            alike.setdefault(fold(split_name(name)[0]), files[0])
        for task in self._benchmark.tasks:
            names = [fold(task.name)]
            names += map(fold, task.aliases)
            files_of_role = [file for file in task.files if self._role in file.splits]
            for name, file in product(names, files_of_role):
                # MNLI is the first of its files, MNLI matched the one of that split.
                part = fold(file.splits[self._role].name).removeprefix(self._role)
                alike.setdefault(name + part, file)
                alike.setdefault(name, file)
        return alike

    @property
    def row_count(self) -> int:
        """The number of rows of all test files."""
        return sum(file.size(self._role) for file in self._benchmark.files(self._role))

    def named(self, path: str) -> list[TestFile]:
        """The test files that a member is named as: several are columns of one file."""
        return self.files.get(base_name(path).casefold(), [])

    def knows(self, name: str) -> bool:
        """Whether a member of that base name is to be read."""
        return bool(self.named(name))

    def by_file(self, paths: Iterable[str]) -> dict[str, list[str]]:
        """Test-file name to the members that are named as it."""
        by_name: dict[str, list[str]] = {}
        for path in paths:
            for file in self.named(path):
                by_name.setdefault(file.name, []).append(path)
        return by_name

    def meant(self, name: str) -> TestFile | None:
        """The test file, or first test file of the task, of that name, letter case and signs aside."""
        return self._alike.get(fold(name))

    def of_other_task(self, path: str) -> bool:
        """Whether it is a test file of a task that only the parent benchmark has."""
        return base_name(path).casefold() in self.others

    def of_other_split(self, path: str) -> bool:
        """Whether its name says another split: cola_val.tsv among predictions for the test split."""
        words = set(_split_words(split_name(path)[0]))
        if words & _SPLITS[self._role]:
            return False
        return any(words & of_split for of_split in _SPLITS.values())

    def likely(self, path: str) -> TestFile | None:
        """The test file that a name like SST2.tsv, sst-2_test.csv or test_results_sst2.txt seems to mean.

        Of a name that says no more than that it has results, as MRPC/test_results.tsv, the folder says it.
        """
        stem, suffix = split_name(path)
        words = _words_without_split(stem)
        if not suffix or not _OTHER.isdisjoint(words):
            return None
        folder = path.rpartition("/")[0].rpartition("/")[2]
        if folder and _RESULTS.issuperset(words):
            words = _words_without_split(folder)
        # The most words that follow each other and are a name decide, unless they are several names.
        for length in range(len(words), 0, -1):
            alike = [self._alike[run] for run in _runs(words, length) if run in self._alike]
            if len({file.name for file in alike}) > 1:
                return None
            if alike:
                return alike[0]
        return None


def _words_without_split(name: str) -> list[str]:
    """The words of a name, without those for its split."""
    return [word for word in _split_words(name) if word not in ("", "test", "dev")]


def _split_words(name: str) -> list[str]:
    return re.split(r"[^a-z0-9]+", name.casefold())


def _paths(file: TestFile) -> list[str]:
    """The names of its file, letter case aside."""
    _, suffix = split_name(file.path)
    paths = [file.path.casefold()]
    for name in file.synonyms:
        paths.append(f"{name}{suffix or SUFFIX}".casefold())
    return paths


def split_name(path: str) -> tuple[str, str]:
    """A name without the ends that say a format, and the last of these: "SST-2.tsv.gz" is SST-2 and .gz."""
    stem = base_name(path)
    last = ""
    while suffix := _suffix_of(stem):
        stem = stem[: -len(suffix)]
        last = last or suffix
    return stem, last


def _suffix_of(name: str) -> str:
    """The end of a name that says a format; empty for any other."""
    for suffix in _SUFFIXES:
        if name.casefold().endswith(suffix):
            return suffix
    return ""


def foreign(path: str) -> str:
    """What a file is by its name that cannot be read as text, as "a spreadsheet"; empty for others."""
    _, suffix = split_name(path)
    for kind, suffixes in _FOREIGN.items():
        if suffix in suffixes:
            return kind
    return ""


def _runs(words: list[str], length: int) -> Iterator[str]:
    """The words of each run of this length, put together."""
    return ("".join(words[at : at + length]) for at in range(len(words) - length + 1))
