"""Writing a plan into a new folder: the manifest, the examples in the plain layout, and the gold folders."""

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.benchmark.lookup import file_name
from gluebench.benchmark.metrics import BUILT_IN, takes
from gluebench.data.errors import DataError
from gluebench.data.home import replacing, sha256_of
from gluebench.data.organize.plan import NOT_STATED, Plan, TaskPlan
from gluebench.data.organize.read import DIAGNOSTIC

GOLD_FOLDERS = {"test": "gold", "dev": "gold-dev"}


def write_plan(plan: Plan, folder: Path) -> Benchmark:
    """Write `NAME.toml`, `data/`, `gold/` and `gold-dev/`; returns the benchmark of that manifest.

    Only the owner can read the gold folders. Raises ManifestError for names that a manifest does not allow.
    """
    path = folder / f"{plan.name}.toml"
    path.write_bytes(manifest(plan).encode())
    benchmark = load_benchmark(path)
    for task in plan.tasks:
        home = folder / "data" / task.name
        home.mkdir(parents=True)
        for split, examples in task.splits.items():
            # Each row is index, inputs and label; the data file of test omits the label.
            labels = (e.label if isinstance(e.label, str) else repr(e.label) for e in examples)
            ids = task.ids[split]
            keys = (ids[e.index] if ids else str(e.index) for e in examples)
            rows = [
                [key, *e.inputs.values(), label] for key, e, label in zip(keys, examples, labels, strict=True)
            ]
            header = ["id" if ids else "index", *task.columns.inputs, "label"]
            width = len(header) - (split == "test")
            write_rows(home / f"{split}.tsv", header[:width], (row[:width] for row in rows))
            if split in GOLD_FOLDERS and examples[0].label is not None:
                gold = folder / GOLD_FOLDERS[split]
                gold.mkdir(mode=0o700, exist_ok=True)
                in_order = sorted(zip(examples, rows, strict=True), key=lambda pair: pair[0].index)
                cells = ((row[0], row[-1]) for _, row in in_order)
                write_rows(gold / f"{file_name(task.name)}.tsv", (header[0], "label"), cells)
                if task.phenomena:
                    tagged = zip(examples, task.phenomena, strict=True)
                    tags = ((str(e.index), *tag) for e, own in tagged for tag in own)
                    write_rows(
                        gold / f"{file_name(task.name)}.phenomena.tsv", ("index", "coarse", "fine"), tags
                    )
    return benchmark


def write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a tab-separated table; the same rows give the same bytes."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines("\t".join(row) + "\n" for row in chain([header], rows))


_HEAD = """\
# A benchmark's manifest, yours to edit; docs/reference/manifest.md explains every key. To look at the result:
#   gluebench benchmark show ./{file}
"""


def manifest(plan: Plan) -> str:
    """The whole manifest."""
    head = [
        _HEAD.format(file=f"{plan.name}.toml"),
        "[benchmark]",
        f"name = {quoted(plan.name)}",
        f"title = {quoted(plan.title)}",
        '# description = "What it is, in a sentence"',
        '# url = "Where it is at home"',
        '# citation = "How to cite it"',
    ]
    losses = [BUILT_IN[name].highest == 0 for task in plan.tasks for name in task.labels.metrics]
    mixed = any(losses) and not all(losses)
    return "\n".join([*head, *(line for task in plan.tasks for line in ("", *_task(task, mixed)))]) + "\n"


def quoted(text: str) -> str:
    """The text as a TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _task(task: TaskPlan, mixed: bool) -> Iterator[str]:
    """The lines of a task; `mixed` with shares, a loss gets a scale on which it can be averaged."""
    name = task.name if re.fullmatch(r"[\w-]+", task.name, re.ASCII) else quoted(task.name)
    path = f"tasks.{name}"
    inputs = ", ".join(map(quoted, task.columns.inputs))
    yield f"[{path}]"
    yield '# title = "Its full name"'
    yield '# summary = "What is asked, in a word or two"'
    yield '# domain = "Where its text comes from, in a word or two"'
    yield f"columns = [{inputs}]"
    if task.phenomena:
        yield "scored = false  # a diagnostic set: reported by phenomenon, never averaged"
        yield f"predict_with = {quoted(task.name.removesuffix(f'-{DIAGNOSTIC}'))}"
    if "test" in task.splits:
        yield "private = true  # of the test labels; false if they have been published"
    if task.labels.score_range:
        yield "score_range = [{!r}, {!r}]".format(*task.labels.score_range)
    yield "metrics = ["
    for name in task.labels.metrics:
        positive = f", positive = {quoted(task.labels.positive or '')}" if takes(name, "positive") else ""
        scale = _scale(task, name) if mixed and BUILT_IN[name].highest == 0 else ""
        yield f'  {{ name = "{name}", title = "{BUILT_IN[name].title}"{positive}{scale} }},'
        if scale:
            yield "  # from an error as large as the range, which counts 0, to none, which counts 1"
    yield "]"
    if task.notes:
        yield "notes = ["
        yield from (f"  {quoted(note)}," for note in task.notes)
        yield "]"
    yield from _tables(path, task)


def _scale(task: TaskPlan, metric: str) -> str:
    low, high = task.labels.score_range or (0.0, 1.0)
    return f", scale = [{-((high - low) ** (2 if metric == 'neg_mse' else 1))!r}, 0.0]"


def _tables(path: str, task: TaskPlan) -> Iterator[str]:
    if task.labels.words:
        yield ""
        yield f"[{path}.labels]  # each word as the files write it, and what it means"
        yield from (f"{quoted(word)} = {quoted(word)}" for word in task.labels.words)
    if "train" in task.splits and task.labels.words and all(task.labels.shares.values()):
        yield ""
        yield f"[{path}.label_shares]  # in train: predictions with the labels swapped are warned of"
        yield from (f"{quoted(word)} = {share:.4f}" for word, share in task.labels.shares.items())
    yield ""
    yield f"[{path}.splits]"
    for split, examples in task.splits.items():
        ids = f", ids = [{', '.join(map(quoted, task.ids[split]))}]" if task.ids[split] else ""
        yield f'{split} = {{ file = "{split}.tsv", size = {len(examples)}{ids} }}'
    yield ""
    yield f"[{path}.source]"
    yield f"corpus = {quoted(task.name)}  # the corpus, and where its text comes from"
    advice = "  # say it, and whether it may be redistributed" if task.license == NOT_STATED else ""
    yield f"license = {quoted(task.license)}{advice}"
    yield '# citation = "How to cite it"'
    for coarse in dict.fromkeys(tag[0] for tags in task.phenomena for tag in tags):
        yield ""
        yield f"[{path}.phenomena.{quoted(coarse)}]"
        fine = dict.fromkeys(tag[1] for tags in task.phenomena for tag in tags if tag[0] == coarse)
        yield from (f"{quoted(name)} = []" for name in fine)


MARK = "organize.json"
"""The file with the digests of the written files, which show whether the folder was changed."""
KEY = Path("gold", ".label-key")
"""File that grading adds to the gold folder; it is kept when the folder is replaced."""


@contextmanager
def fresh_folder(target: Path) -> Iterator[Path]:
    """A folder to write into; it becomes `target` when the block ends without an error.

    Raises DataError if `target` has other content, or was changed since it was written.
    """
    target = target.absolute()
    refuse_changed(target)
    with replacing(target) as made:
        yield made
        mark = {"files": _digests(made)}
        (made / MARK).touch(mode=0o600)  # labels could be guessed from the digest of a small file
        (made / MARK).write_text(json.dumps(mark, indent=1) + "\n", encoding="utf-8")
        for key in (KEY, Path("gold-dev", KEY.name)):
            if (target / key).is_file() and (made / key.parent).is_dir():
                shutil.copy2(target / key, made / key)


def refuse_changed(target: Path) -> None:
    """Raise DataError unless `target` is absent, empty, or as `fresh_folder` left it."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    written = None
    with suppress(OSError, ValueError, KeyError, TypeError):
        written = json.loads((target / MARK).read_text(encoding="utf-8"))["files"]
    if not isinstance(written, dict):
        raise DataError(f"{target}: is there already, and was not made by this command; name a new folder")
    current = _digests(target)
    changed = sorted(name for name in {*written, *current} if written.get(name) != current.get(name))
    if changed:
        listed = ", ".join(changed[:5]) + (", ..." if len(changed) > 5 else "")
        advice = "name a new folder, or move this one away"
        raise DataError(f"{target}: was changed by hand since ({listed}); {advice}")


def _digests(folder: Path) -> dict[str, str]:
    """Path of every file below the folder to its SHA-256, without the mark and the label keys."""
    paths = (Path(root, name) for root, _, names in os.walk(folder) for name in names)
    return {
        path.relative_to(folder).as_posix(): sha256_of(path)
        for path in paths
        if path.name not in (MARK, KEY.name)
    }
