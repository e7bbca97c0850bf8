"""Writing a plan: the manifest, the examples in the plain layout, and the gold folders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.data.organise.manifest import manifest
from gluebench.data.organise.plan import Plan, TaskPlan
from gluebench.data.tsv import Example

GOLD_FOLDERS = {"test": "gold", "dev": "gold-dev"}


def write_plan(plan: Plan, folder: Path) -> Benchmark:
    """Write `NAME.toml`, `data/`, `gold/` and `gold-dev/`; the benchmark is the manifest read back.

    Gold folders are readable by their owner alone. Raises ManifestError for names a manifest cannot have.
    """
    path = folder / f"{plan.name}.toml"
    path.write_bytes(manifest(plan).encode())
    benchmark = load_benchmark(path)
    for task in plan.tasks:
        home = folder / "data" / task.name
        home.mkdir(parents=True)
        for split, examples in task.splits.items():
            _write_examples(home / f"{split}.tsv", task, examples, labelled=split != "test")
            if split in GOLD_FOLDERS and examples[0].label is not None:
                _write_gold(folder / GOLD_FOLDERS[split], task.name, examples)
    return benchmark


def _write_examples(path: Path, task: TaskPlan, examples: Sequence[Example], *, labelled: bool) -> None:
    header = ("index", *task.columns.inputs, *(("label",) if labelled else ()))
    rows = ((str(e.index), *e.inputs.values(), *((_cell(e.label),) if labelled else ())) for e in examples)
    _write(path, header, rows)


def _write_gold(folder: Path, task: str, examples: Sequence[Example]) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    in_order = sorted(examples, key=lambda example: example.index)
    rows = ((str(example.index), _cell(example.label)) for example in in_order)
    _write(folder / f"{task}.tsv", ("index", "label"), rows)


def _cell(label: str | float | None) -> str:
    return label if isinstance(label, str) else repr(label)


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("\t".join(header) + "\n")
        file.writelines("\t".join(row) + "\n" for row in rows)
