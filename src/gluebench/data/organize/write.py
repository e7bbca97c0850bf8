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
from gluebench.data.tsv import Example

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
        for split in task.splits:
            _write_data(task, split, home)
            if split in GOLD_FOLDERS and task.splits[split][0].label is not None:
                gold = folder / GOLD_FOLDERS[split]
                gold.mkdir(mode=0o700, exist_ok=True)
                _write_gold(task, split, gold)
    return benchmark


def _write_data(task: TaskPlan, split: str, home: Path) -> None:
    """Write the rows of a split: index or id, inputs and label; test has no labels there."""
    header = [_key_column(task, split)]
    header += task.columns.inputs
    if split != "test":
        header.append("label")
    rows = []
    for example in task.splits[split]:
        row = [_key(task, split, example)]
        row += example.inputs.values()
        if split != "test":
            row.append(_label_text(example))
        rows.append(row)
    write_rows(home / f"{split}.tsv", header, rows)


def _write_gold(task: TaskPlan, split: str, gold: Path) -> None:
    """Write the labels of a split in the order of the indices, and the phenomena of a diagnostic set."""
    name = file_name(task.name)
    examples = task.splits[split]
    by_index = sorted(examples, key=lambda example: example.index)
    labels = [(_key(task, split, example), _label_text(example)) for example in by_index]
    write_rows(gold / f"{name}.tsv", (_key_column(task, split), "label"), labels)
    if task.phenomena:
        tags = []
        for example, phenomena in zip(examples, task.phenomena, strict=True):
            for coarse, fine in phenomena:
                tags.append((str(example.index), coarse, fine))
        write_rows(gold / f"{name}.phenomena.tsv", ("index", "coarse", "fine"), tags)


def _key_column(task: TaskPlan, split: str) -> str:
    return "id" if task.ids[split] else "index"


def _key(task: TaskPlan, split: str, example: Example) -> str:
    """The id of an example, or its index where there are no ids."""
    ids = task.ids[split]
    if ids:
        return ids[example.index]
    return str(example.index)


def _label_text(example: Example) -> str:
    if isinstance(example.label, str):
        return example.label
    return repr(example.label)


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
    lines = [
        _HEAD.format(file=f"{plan.name}.toml"),
        "[benchmark]",
        f"name = {toml_string(plan.name)}",
        f"title = {toml_string(plan.title)}",
        '# description = "What it is, in a sentence"',
        '# url = "Where it is at home"',
        '# citation = "How to cite it"',
    ]
    metrics = list(chain.from_iterable(task.labels.metrics for task in plan.tasks))
    losses = [name for name in metrics if _is_loss(name)]
    mixed = 0 < len(losses) < len(metrics)
    for task in plan.tasks:
        lines.append("")
        lines += _task(task, mixed)
    return "\n".join(lines) + "\n"


def _is_loss(metric: str) -> bool:
    return BUILT_IN[metric].highest == 0


def toml_string(text: str) -> str:
    """The text as a TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _task(task: TaskPlan, mixed: bool) -> Iterator[str]:
    """The lines of a task; `mixed` with shares, a loss gets a scale on which it can be averaged."""
    name = task.name
    if not re.fullmatch(r"[\w-]+", name, re.ASCII):
        name = toml_string(name)
    path = f"tasks.{name}"
    inputs = ", ".join(map(toml_string, task.columns.inputs))
    yield f"[{path}]"
    yield '# title = "Its full name"'
    yield '# summary = "What is asked, in a word or two"'
    yield '# domain = "Where its text comes from, in a word or two"'
    yield f"columns = [{inputs}]"
    if task.phenomena:
        yield "scored = false  # a diagnostic set: reported by phenomenon, never averaged"
        yield f"predict_with = {toml_string(task.name.removesuffix(f'-{DIAGNOSTIC}'))}"
    if "test" in task.splits:
        yield "private = true  # of the test labels; false if they have been published"
    if task.labels.score_range:
        low, high = task.labels.score_range
        yield f"score_range = [{low!r}, {high!r}]"
    yield "metrics = ["
    for metric in task.labels.metrics:
        yield from _metric(task, metric, scaled=mixed and _is_loss(metric))
    yield "]"
    if task.notes:
        yield "notes = ["
        for note in task.notes:
            yield f"  {toml_string(note)},"
        yield "]"
    yield from _tables(path, task)


def _metric(task: TaskPlan, name: str, *, scaled: bool) -> Iterator[str]:
    """The lines of a metric."""
    entry = f'name = "{name}", title = "{BUILT_IN[name].title}"'
    if takes(name, "positive"):
        entry += f", positive = {toml_string(task.labels.positive or '')}"
    if scaled:
        entry += f", scale = [{_worst_loss(task, name)!r}, 0.0]"
    yield f"  {{ {entry} }},"
    if scaled:
        yield "  # from an error as large as the range, which counts 0, to none, which counts 1"


def _worst_loss(task: TaskPlan, metric: str) -> float:
    """The negated loss of an error as large as the range."""
    low, high = task.labels.score_range or (0.0, 1.0)
    if metric == "neg_mse":
        return -((high - low) ** 2)
    return -(high - low)


def _tables(path: str, task: TaskPlan) -> Iterator[str]:
    if task.labels.words:
        yield ""
        yield f"[{path}.labels]  # each word as the files write it, and what it means"
        for word in task.labels.words:
            yield f"{toml_string(word)} = {toml_string(word)}"
    if "train" in task.splits and task.labels.words and all(task.labels.shares.values()):
        yield ""
        yield f"[{path}.label_shares]  # in train: predictions with the labels swapped are warned of"
        for word, share in task.labels.shares.items():
            yield f"{toml_string(word)} = {share:.4f}"
    yield ""
    yield f"[{path}.splits]"
    for split, examples in task.splits.items():
        entry = f'file = "{split}.tsv", size = {len(examples)}'
        if task.ids[split]:
            entry += f", ids = [{', '.join(map(toml_string, task.ids[split]))}]"
        yield f"{split} = {{ {entry} }}"
    yield ""
    yield f"[{path}.source]"
    yield f"corpus = {toml_string(task.name)}  # the corpus, and where its text comes from"
    license_line = f"license = {toml_string(task.license)}"
    if task.license == NOT_STATED:
        license_line += "  # say it, and whether it may be redistributed"
    yield license_line
    yield '# citation = "How to cite it"'
    yield from _phenomena(path, task)


def _phenomena(path: str, task: TaskPlan) -> Iterator[str]:
    """The tables of the phenomena, by coarse category."""
    fine_by_coarse: dict[str, dict[str, None]] = {}
    for coarse, fine in chain.from_iterable(task.phenomena):
        fine_by_coarse.setdefault(coarse, {})[fine] = None
    for coarse, names in fine_by_coarse.items():
        yield ""
        yield f"[{path}.phenomena.{toml_string(coarse)}]"
        for name in names:
            yield f"{toml_string(name)} = []"


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
    names = set(written) | set(current)
    changed = sorted(name for name in names if written.get(name) != current.get(name))
    if changed:
        first = changed[:5]
        if len(changed) > 5:
            first.append("...")
        advice = "name a new folder, or move this one away"
        raise DataError(f"{target}: was changed by hand since ({', '.join(first)}); {advice}")


def _digests(folder: Path) -> dict[str, str]:
    """Path of every file below the folder to its SHA-256, without the mark and the label keys."""
    digests = {}
    for root, _, names in os.walk(folder):
        for name in names:
            if name not in (MARK, KEY.name):
                path = Path(root, name)
                digests[path.relative_to(folder).as_posix()] = sha256_of(path)
    return digests
