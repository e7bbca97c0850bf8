"""Add a benchmark to the site: its manifest, its labels, its files to download, its organizers."""

from __future__ import annotations

import hashlib
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import transaction

from gluebench import benchmark as records
from gluebench.data import DataError, Example, load_split
from gluebench.data.home import split_file, task_folder
from gluebench.leaderboard.accounts.trust import account, require_vouched
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks import models
from gluebench.leaderboard.benchmarks.models import SAMPLE, Benchmark, DataFile, Manifest
from gluebench.leaderboard.common.signals import benchmark_changed
from gluebench.leaderboard.common.text import require_fields
from gluebench.leaderboard.folder import SiteError, make_private, write_private
from gluebench.scoring import Gold, read_gold
from gluebench.scoring.gold import KEY_FILE, label_key
from gluebench.submission import Column, write_submission
from gluebench.submission.forms import values_of


def add_benchmark(name_or_path: str, gold_folder: Path, data_folder: Path | None = None) -> str:
    """See `commands.add`."""
    manifested = records.load_benchmark(name_or_path)
    # The name is part of an address, and some databases refuse a value longer than its column.
    named = Benchmark(name=manifested.name, title=manifested.title)
    require_fields(named, ("name", "title"), what=f"The benchmark {manifested.name!r}")
    if not gold_folder.is_dir():
        raise SiteError(f"{gold_folder} is not a folder. Name the folder of {manifested.name}'s labels.")
    gold = read_gold(gold_folder, manifested)  # reports all problems now, to the organizer
    _require_all(gold)
    manifest = models.read_manifest(name_or_path)
    _require_kept(manifest, manifested)
    contents = [] if data_folder is None else read_folder(data_folder, gold)
    place, digest = _keep_gold(manifested.name, gold_folder)
    models.publish_labels(place)
    values = {
        "title": manifested.title,
        "manifest": manifest.text,
        "parents": list(manifest.parents),
        "gold": place,
        "gold_digest": digest,
    }
    files = _save(manifested.name, [*contents, _sample_submission(manifested)])
    with transaction.atomic():
        row, new = Benchmark.objects.get_or_create(name=manifested.name, defaults=values)
        changed = [] if new else [field for field, value in values.items() if getattr(row, field) != value]
        if changed:
            Benchmark.objects.filter(pk=row.pk).update(**values)
            reason = "The labels changed." if "gold" in changed else "The manifest changed."
            record("labels" if "gold" in changed else "manifest", benchmark=row, reason=reason)
            benchmark_changed.send(Benchmark, benchmark=row, reason=reason)
            row.refresh_from_db()
        if _replace(row, files, examples=data_folder is not None) and not new:
            Benchmark.objects.filter(pk=row.pk).touch()
            record("data", benchmark=row, reason="The files to download changed.")
    return manifested.name


def _require_all(gold: Gold) -> None:
    """Raise SiteError for test files without labels, on which every submission would fail."""
    bare = [f"{file.name}.tsv" for file in gold.benchmark.files(gold.role) if file.name not in gold.columns]
    if bare:
        raise SiteError(
            f"{gold.folder} has no labels for {', '.join(bare)}; a board needs them for every test file. Add "
            f'them, or leave their tasks out by a manifest of your own: extends = "{gold.benchmark.name}" '
            "and tasks = [...]."
        )


def _require_kept(manifest: Manifest, record: records.Benchmark) -> None:
    """Raise SiteError unless the site's copy of the manifest, which it uses, gives the same record."""
    try:
        same = records.load_benchmark(manifest.write_below(settings.FOLDER.manifests)) == record
    except records.ManifestError:
        same = False
    if not same:
        raise SiteError(
            f"The site's copy of the manifest of {record.name} would not find what it extends. Name that on "
            'a line of its own below [benchmark], as extends = "./other.toml".'
        )


def _keep_gold(name: str, source: Path) -> tuple[str, str]:
    """Copy the labels into a folder named by their content; returns that name and the content's digest.

    The key beside them stays the one that the benchmark's labels on this site had before: it names their
    versions and selects the rows that are held back, which must not change when some labels are fixed.
    A missing key is made here, so that machines that share the labels do not make different ones.
    """
    files = {path.name: path.read_bytes() for path in sorted(source.iterdir()) if path.is_file()}
    digest = digest_of(source)
    place = f"{name}/{digest[:16]}"
    home: Path = settings.FOLDER.labels / place
    make_private(home.parent)
    make_private(home)
    former = Benchmark.objects.filter(name=name).first()
    if former and (key := former.gold_path / KEY_FILE).exists():
        files[KEY_FILE] = key.read_bytes()
    for file, data in files.items():
        if not (home / file).exists():
            write_private(home / file, data)
    if not (home / KEY_FILE).exists():
        label_key(str(home))
    return place, digest


def digest_of(folder: Path) -> str:
    """SHA-256 of the files of labels, without the key that names their versions; empty for no folder."""
    if not folder.is_dir():
        return ""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] != "."):
        data = path.read_bytes()
        digest.update(f"{path.name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def set_organiser(email: str, benchmark: str, *, remove: bool = False, unconfirmed: bool = False) -> None:
    """Let this account organize a benchmark, or no longer.

    Raises SiteError for an unknown account or benchmark, and for an address that is not confirmed.
    """
    user = account(email)
    if not (remove or unconfirmed):
        require_vouched(user)
    row = Benchmark.objects.named(benchmark)
    with transaction.atomic():
        if remove:
            row.organisers.remove(user)
        else:
            row.organisers.add(user)
        action = "organiser removed" if remove else "organiser added"
        record(action, benchmark=row, account=user.pk, by="command line")


Content = tuple[DataFile, bytes]
"""A file that anybody may download, and its bytes, which are not stored yet."""


def _content(path: str, data: bytes, **facts: Any) -> Content:
    return DataFile(path=path, size=len(data), sha256=hashlib.sha256(data).hexdigest(), **facts), data


def read_folder(folder: Path, gold: Gold) -> list[Content]:
    """Read the examples of a data folder, checked to hold no test labels. Raises SiteError with all problems.

    Only the files that the manifest names are read. They are rewritten, so that only the index, the
    input columns and the labels of other splits are published.
    """
    benchmark, contents = gold.benchmark, []
    problems = []
    for name in models.linked_tasks(benchmark):  # publishers with terms of their own, as all of GLUE's
        with suppress(DataError):
            home = task_folder(folder, benchmark, benchmark.dataset(name))
            problems.append(
                f"{home}: {name} is published elsewhere on its own terms; the site links to it. Leave it out"
            )
    for task in (*benchmark.tasks, *benchmark.auxiliary):
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
        contents += [_published(task, name, examples) for name, examples in read.items()]
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
    if any("\t" in text or "\n" in text for example in examples for text in example.inputs.values()):
        raise DataError([f"{path}: a tab or line end within a text; expected none, since columns end there"])
    return examples


def _label_problems(task: records.Task, read: dict[str, list[Example]], gold: Gold) -> Iterator[str]:
    """Problems: ways in which the files would reveal test labels."""
    for file in task.files:
        if "test" not in file.splits or (name := file.splits["test"].name) not in read:
            continue
        examples, where = read[name], f"{task.name}/{file.splits['test'].file}"
        if any(example.label is not None for example in examples):
            yield f"{where}: has a label column; expected index {' '.join(task.columns)} without labels"
        in_order = sorted(examples, key=lambda example: example.index)
        for column in task.columns:
            if _equals([example.inputs[column] for example in in_order], gold.columns[file.name], task):
                yield f"{where}: column {column} holds the test labels; expected texts"
        tests = {tuple(example.inputs.values()) for example in examples}
        for other, rows in read.items():
            labelled = other != name and rows[0].label is not None
            if labelled and tests <= {tuple(row.inputs.values()) for row in rows}:
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


def _published(task: records.Task, split: str, examples: Sequence[Example]) -> Content:
    labelled = examples[0].label is not None
    ids = task.splits[split].ids
    rows = [("id" if ids else "index", *task.columns, *["label"] * labelled)]
    for example in examples:
        label = example.label if isinstance(example.label, str) else repr(example.label)
        key = ids[example.index] if ids else str(example.index)
        rows.append((key, *example.inputs.values(), *[label] * labelled))
    data = "".join("\t".join(row) + "\n" for row in rows).encode()
    return _content(f"{task.name}/{split}.tsv", data, task=task.name, split=split, rows=len(examples))


def _sample_submission(benchmark: records.Benchmark) -> Content:
    """A valid submission that needs no data: the most frequent label or the mid-range in each row.

    Cells of other forms are empty, uniform, or the first label.
    """
    answers = {}
    for file in benchmark.files():
        task, size = benchmark.task(file.task), file.size()
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
        return _content(SAMPLE, path.read_bytes())


def _constant(task: records.Task) -> str | tuple[Any, ...]:
    """The simplest cell of a task of another form than labels and numbers."""
    words = task.vocabulary
    if task.form in ("probabilities", "distributions"):
        return (1 / len(words),) * len(words)
    if task.form == "tokens":
        return (words[0] if words else "O",)
    return "" if task.form == "text" else ()


def _save(name: str, contents: Sequence[Content]) -> list[DataFile]:
    """Put files into the storage under their checksums; returns rows that `_replace` writes."""
    for row, data in contents:
        row.file = f"{name}/{row.sha256}"
        if not storages["data"].exists(row.file):
            storages["data"].save(row.file, ContentFile(data))
    return [row for row, _ in contents]


def _replace(row: Benchmark, files: Sequence[DataFile], *, examples: bool) -> bool:
    """Make these the benchmark's files, in this transaction; return whether any changed.

    Without `examples`, those that it has stay, unless their split has gone or has another size.
    """
    before = list(row.data_files.all())
    sizes = {
        (task.name, split.name): split.size
        for task in (*row.record.tasks, *row.record.auxiliary)
        for split in task.splits.values()
    }
    kept = [] if examples else [file for file in before if sizes.get((file.task, file.split)) == file.rows]
    after = [*kept, *files]
    if {(file.path, file.sha256) for file in before} == {(file.path, file.sha256) for file in after}:
        return False
    row.data_files.all().delete()
    for file in after:
        file.pk, file.benchmark = None, row
    DataFile.objects.bulk_create(after)
    for name in {file.file for file in before} - {file.file for file in after}:
        transaction.on_commit(partial(storages["data"].delete, name))
    return True
