"""What a benchmark consists of, read and checked: manifest, labels, public files. Independent of Django."""

import hashlib
import json
import re
import tempfile
import tomllib
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from gluebench import benchmark as records
from gluebench.data import DataError, Example, load_split
from gluebench.data.home import split_file, task_folder
from gluebench.leaderboard.keeping.folder import SiteError, make_private, write_private
from gluebench.scoring import Gold, read_gold
from gluebench.submission import Column, write_submission
from gluebench.submission.forms import values_of

MANIFEST_SIZE = 4_000_000
"""Most characters of a manifest with those that it extends: each process of a site parses and keeps it."""
SAMPLE = "sample-submission.zip"
"""The path of the sample submission among the files to download."""
_EXTENDS = re.compile(r"^([^\S\n]*extends[^\S\n]*=[^\S\n]*)(\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE)


class Manifest(NamedTuple):
    """The text of a manifest, and of the files it extends, nearest first."""

    text: str
    parents: tuple[str, ...] = ()

    @property
    def own_and_parent_texts(self) -> tuple[str, ...]:
        """Its text, and then those of its parents."""
        return (self.text,) + self.parents

    @property
    def size(self) -> int:
        """The number of characters of it and its parents."""
        return sum(map(len, self.own_and_parent_texts))

    @property
    def sha256(self) -> str:
        """The hash of it and its parents."""
        return hashlib.sha256("\0".join(self.own_and_parent_texts).encode()).hexdigest()

    @property
    def short_hash(self) -> str:
        """The first digits of its hash."""
        return self.sha256[:16]

    def write_below(self, folder: Path) -> Path:
        """Write the manifest to a folder named by its hash, unless it is there; return the path."""
        home = folder / self.short_hash
        path = home / "manifest.toml"
        if not path.exists():
            make_private(home)
            for number, text in enumerate(self.parents, start=1):
                write_private(home / f"parent-{number}.toml", text.encode())
            write_private(path, self.text.encode())
        return path


def part_of(manifest: Manifest, name: str, tasks: Sequence[str]) -> Manifest:
    """The manifest of a benchmark of that name with some tasks of another, which it extends."""
    below = []
    for number, text in enumerate(manifest.own_and_parent_texts, start=1):
        if number <= len(manifest.parents):  # the last one extends a packaged benchmark, or none
            text = _EXTENDS.sub(rf'\g<1>"./parent-{number + 1}.toml"', text, count=1)
        below.append(text)
    head = f"[benchmark]\nname = {json.dumps(name)}\n"
    return Manifest(f'{head}extends = "./parent-1.toml"\ntasks = {json.dumps(list(tasks))}\n', tuple(below))


def manifest_of(home: Path) -> Manifest:
    """The manifest of a folder that `write_below` wrote, as it is now. Raises OSError, ValueError."""
    parents = sorted(home.glob("parent-*.toml"), key=lambda parent: int(parent.stem[7:]))
    text = (home / "manifest.toml").read_bytes().decode()
    return Manifest(text, tuple(path.read_bytes().decode() for path in parents))


def read_manifest(name_or_path: str) -> Manifest:
    """The packaged manifest of that name or the file at a path, with the files it extends."""
    texts: list[str] = []
    path: Path | None = _path(name_or_path, Path())
    while path is not None:
        text = path.read_text(encoding="utf-8-sig")
        parent = tomllib.loads(text)["benchmark"].get("extends")
        folder = path.parent
        path = None
        if parent and _is_file(parent):
            path = _path(parent, folder)
            text = _EXTENDS.sub(rf'\g<1>"./parent-{len(texts) + 1}.toml"', text, count=1)
        texts.append(text)
    return Manifest(texts[0], tuple(texts[1:]))


def _is_file(name: str) -> bool:
    return "/" in name or name.endswith(".toml")


def _path(name: str, beside: Path) -> Path:
    if _is_file(name):
        return beside / name
    packaged = next(known for known in records.installed() if known.casefold() == name.casefold())
    return Path(records.__file__).parent / f"{packaged}.toml"


class PublicFile(NamedTuple):
    """A file that anybody may download."""

    path: str
    """Its address below the Data page."""
    data: bytes
    task: str = ""
    split: str = ""
    rows: int = 0


class Prepared(NamedTuple):
    """A benchmark whose files are checked and can be stored."""

    name: str
    title: str
    manifest: Manifest
    gold: Path | None
    """The folder of labels; None if only a machine of the organizer has them."""
    files: list[PublicFile]
    has_examples: bool
    """Whether a data folder was given, whose examples replace those from before."""


def prepare(name_or_path: str, gold_folder: Path | None, data_folder: Path | None = None) -> Prepared:
    """Read and check it all. Raises SiteError, ManifestError, or scoring's error about the labels."""
    manifested = records.load_benchmark(name_or_path)
    gold = None
    if gold_folder is not None:
        if not gold_folder.is_dir():
            raise SiteError(f"{gold_folder} is not a folder. Name the folder of {manifested.name}'s labels.")
        gold = read_gold(gold_folder, manifested)  # reports all problems now, to the organizer
        _require_all(gold)
    files = []
    if data_folder is not None:
        files = read_folder(data_folder, manifested, gold)
    files.append(_sample_submission(manifested))
    manifest = read_manifest(name_or_path)
    if manifest.size > MANIFEST_SIZE:
        raise SiteError(
            f"The manifest of {manifested.name} has {manifest.size:,} characters, with those that it "
            f"extends; expected at most {MANIFEST_SIZE:,}. Number its ids by a pattern, or let its files "
            "have indices."
        )
    _require_kept(manifest, manifested)
    return Prepared(manifested.name, manifested.title, manifest, gold_folder, files, data_folder is not None)


def _require_kept(manifest: Manifest, record: records.Benchmark) -> None:
    """Raise SiteError unless the site's copy of the manifest, which it uses, gives the same record."""
    with tempfile.TemporaryDirectory(prefix="gluebench-") as scratch:
        try:
            same = records.load_benchmark(manifest.write_below(Path(scratch))) == record
        except records.ManifestError:
            same = False
    if not same:
        raise SiteError(
            f"The site's copy of the manifest of {record.name} would not find what it extends. Name that on "
            'a line of its own below [benchmark], as extends = "./other.toml".'
        )


def _require_all(gold: Gold) -> None:
    """Raise SiteError for test files without labels, on which every submission would fail."""
    bare = [f"{file.name}.tsv" for file in gold.benchmark.files(gold.role) if file.name not in gold.columns]
    if bare:
        name = gold.benchmark.name
        parent = name if name in records.installed() else f"./{name}.toml"
        raise SiteError(
            f"{gold.folder} has no labels for {', '.join(bare)}; a board needs them for every test file. Add "
            f'them, or leave their tasks out by a manifest of your own: extends = "{parent}" '
            "and tasks = [...]."
        )


def fetchable_tasks(benchmark: records.Benchmark) -> dict[str, str]:
    """Task name to packaged benchmark, for tasks that `gluebench data get` fetches from their publishers."""
    from gluebench.data.sources.release import load_release

    publishers = {}
    for name in records.installed():
        shared = [task for task in records.load_benchmark(name).tasks if task in benchmark.tasks]
        if not shared:
            continue  # reading a release takes a while, and most benchmarks share no task with a packaged one
        releases = load_release(name).tasks
        for task in shared:
            release = releases[task.name]
            hub = any(split.hub for split in release.splits.values())
            if hub or release.archive or release.manual:
                publishers[task.name] = name
    return publishers


def read_folder(folder: Path, benchmark: records.Benchmark, gold: Gold | None) -> list[PublicFile]:
    """Read the examples of a data folder, checked to hold no test labels. Raises SiteError with all problems.

    Only the files that the manifest names are read. They are rewritten, so that only the index, the
    input columns and the labels of other splits are published.
    """
    contents = []
    problems = []
    for name in fetchable_tasks(benchmark):  # publishers with terms of their own, as all of GLUE's
        with suppress(DataError):
            home = task_folder(folder, benchmark, benchmark.dataset(name))
            problems.append(
                f"{home}: {name} is published elsewhere on its own terms; the site links to it. Leave it out"
            )
    for task in benchmark.tasks + benchmark.auxiliary:
        read = {}
        for split in task.splits.values():
            try:
                examples = _examples(folder, benchmark, task, split)
            except DataError as error:
                problems += error.problems
                continue
            if examples:
                read[split.name] = examples
        problems += _label_problems(task, read, gold)
        contents += [_public_file(task, name, examples) for name, examples in read.items()]
    if not contents and not problems:
        expected = f"{benchmark.tasks[0].name}/test.tsv"
        problems.append(f"{folder}: no file of {benchmark.name}; expected {expected} and others")
    if problems:
        raise SiteError("Nothing was published:\n" + "\n".join(problems))
    return contents


def _examples(
    folder: Path, benchmark: records.Benchmark, task: records.Task, split: records.Split
) -> list[Example]:
    """All examples of a split; none where the folder has no file of it. Raises DataError."""
    path = None
    with suppress(DataError):
        path = split_file(task_folder(folder, benchmark, task), split)
    if path is None:
        return []
    examples = load_split(folder, benchmark, task.name, split.name)
    if len(examples) != split.size:
        raise DataError([f"{path}: {len(examples):,} examples, expected {split.size:,}"])
    for example in examples:
        if any("\t" in text or "\n" in text for text in example.inputs.values()):
            problem = f"{path}: a tab or line end within a text; expected none, since columns end there"
            raise DataError([problem])
    return examples


def _label_problems(task: records.Task, read: dict[str, list[Example]], gold: Gold | None) -> Iterator[str]:
    """Problems: ways in which the files would reveal test labels."""
    for file in task.files:
        if "test" not in file.splits or (name := file.splits["test"].name) not in read:
            continue
        examples = read[name]
        where = f"{task.name}/{file.splits['test'].file}"
        if any(example.label is not None for example in examples):
            yield f"{where}: has a label column; expected index {' '.join(task.columns)} without labels"
        in_order = sorted(examples, key=lambda example: example.index)
        for column in task.columns:
            texts = [example.inputs[column] for example in in_order]
            if gold and _equals(texts, gold.columns[file.name], task):
                yield f"{where}: column {column} holds the test labels; expected texts"
        tests = {tuple(example.inputs.values()) for example in examples}
        for other, rows in read.items():
            labeled = other != name and rows[0].label is not None
            if labeled and tests <= {tuple(row.inputs.values()) for row in rows}:
                path = f"{task.name}/{task.splits[other].file}"
                yield f"{path}: holds every test example with a label; expected the {other} split"


def _equals(texts: Sequence[str], gold: Column, task: records.Task) -> bool:
    """Whether the texts are the labels, in any notation of numbers."""
    if task.form != "numbers":
        return texts == values_of(gold, task, gold=True)
    try:
        return list(map(float, texts)) == list(gold.numbers)
    except ValueError:
        return False


def _public_file(task: records.Task, split: str, examples: Sequence[Example]) -> PublicFile:
    labeled = examples[0].label is not None
    ids = task.splits[split].ids
    head = ["id" if ids else "index"]
    head += task.columns
    if labeled:
        head.append("label")
    rows = [head]
    for example in examples:
        row = [ids[example.index] if ids else str(example.index)]
        row += example.inputs.values()
        if labeled:
            row.append(example.label if isinstance(example.label, str) else repr(example.label))
        rows.append(row)
    data = "".join("\t".join(row) + "\n" for row in rows).encode()
    return PublicFile(f"{task.name}/{split}.tsv", data, task.name, split, len(examples))


def _sample_submission(benchmark: records.Benchmark) -> PublicFile:
    """A valid submission that needs no data: the most frequent label or the mid-range in each row.

    Cells of other forms are empty, uniform, or the first label.
    """
    answers = {}
    for file in benchmark.files():
        task = benchmark.task(file.task)
        size = file.size()
        if task.form not in ("labels", "numbers"):
            answers[file.name] = Column((), (_constant(task),) * size)
        elif task.score_range is not None:
            answers[file.name] = Column((), array("d", [sum(task.score_range) / 2]) * size)
        else:
            shares = [label.share or 0.0 for label in task.labels]
            answers[file.name] = Column(task.words, bytes([shares.index(max(shares))]) * size)
    with tempfile.TemporaryDirectory(prefix="gluebench-") as scratch:
        path = Path(scratch, SAMPLE)
        write_submission(path, answers, benchmark)
        return PublicFile(SAMPLE, path.read_bytes())


def _constant(task: records.Task) -> str | tuple[Any, ...]:
    """The simplest cell of a task of another form than labels and numbers."""
    words = task.vocabulary
    if task.form in ("probabilities", "distributions"):
        return (1 / len(words),) * len(words)
    if task.form == "tokens":
        return (words[0] if words else "O",)
    if task.form == "dependencies":
        return (f"0:{words[0] if words else 'root'}",)
    return "" if task.form == "text" else ()
