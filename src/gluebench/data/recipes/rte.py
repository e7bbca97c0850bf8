"""RTE from the challenges RTE1, RTE2, RTE3 and RTE5; recipes.toml has the procedure."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.errors import refuse
from gluebench.data.recipes import Columns, RecipeResult
from gluebench.data.recipes.reading import Reader, records, table, train_and_dev

ORDER = ("2", "3", "1", "5")
NAME = re.compile(r"rte[-_ ]?([1235])(?!\d).*?(dev|test)", re.IGNORECASE)
ENTAILED = ("TRUE", "YES", "ENTAILMENT")
JUDGMENTS = ENTAILED + ("FALSE", "NO", "UNKNOWN", "CONTRADICTION")
HIDDEN = "test: labels left out, as in GLUE; the originals publish them (--test-labels yes)"
DRAWN = "train, dev: drawn anew; GLUE's own division of the challenges' dev sets cannot be told from them"
_BREAK = re.compile(r"\r\n|\r|\n")


def build(corpus: Path, task: Task, options: Mapping[str, Any]) -> RecipeResult:
    """Train and dev from the challenges' dev sets, test from their test sets; notes list missing files."""
    reader = Reader(corpus, task, options)
    files = _files(corpus)
    names = reader.inputs(2) + ("label", "challenge", "pair", "subtask")
    parts = {part: table(names, _read_rows(reader, files, part)) for part in ("dev", "test")}
    reader.check()
    notes = []
    for part in parts:
        for challenge in ORDER:
            if (challenge, part) not in files:
                notes.append(f"RTE{challenge}: no {part} file in the folder; its pairs are left out")
    splits: dict[str, Columns] = {}
    if parts["dev"]["label"]:
        splits |= train_and_dev(parts["dev"], options["dev"], options["seed"])
        notes.append(DRAWN)
    if parts["test"]["label"]:
        splits["test"] = parts["test"]
        notes += reader.hide_labels(splits, HIDDEN)
    return reader.built(splits, notes)


def _files(corpus: Path) -> dict[tuple[str, str], Path]:
    """Challenge and part to its file, by name. Raises DataError if two files match, or none at all."""
    files: dict[tuple[str, str], Path] = {}
    problems = []
    for path in sorted(corpus.rglob("*.xml")):
        if match := NAME.search(path.name):
            key = (match[1], match[2].lower())
            if key in files:
                problems.append(f"{path}: RTE{key[0]} {key[1]} is also {files[key]}; keep one of the two")
            files[key] = path
    if not files:
        problems.append(f"{corpus}: no file named as rte1_dev.xml or RTE5_MainTask_TestSet_Gold.xml in it")
    refuse(problems)
    return files


def _read_rows(reader: Reader, files: Mapping[tuple[str, str], Path], part: str) -> Iterator[tuple[str, ...]]:
    entailment, other = reader.words("10").values()
    for challenge in ORDER:
        path = files.get((challenge, part))
        if path is None:
            continue
        pairs = records(path, reader.read(path), "pair")
        if not pairs:
            expected = "expected elements like <pair id=... entailment=...>"
            reader.problems.append(f"{path}: no pair in it; {expected}")
        for pair in pairs:
            text = _BREAK.sub(" ", pair.text("t").strip())
            hypothesis = _BREAK.sub(" ", pair.text("h").strip())
            # RTE2 and later use the attribute `entailment`, RTE1 `value`.
            judgment = pair.attributes.get("entailment", pair.attributes.get("value", "")).upper()
            if judgment not in JUDGMENTS:
                known = ", ".join(JUDGMENTS)
                problem = f'the judgment is "{judgment}", expected one of {known}'
                reader.reject(path, pair.line, problem)
            elif not text or not hypothesis:
                problem = "expected a text <t> and a hypothesis <h>, both with words in them"
                reader.reject(path, pair.line, problem)
            else:
                label = entailment if judgment in ENTAILED else other
                identity = pair.attributes.get("id", "")
                subtask = pair.attributes.get("task", "")
                yield text, hypothesis, label, f"RTE{challenge}", identity, subtask
