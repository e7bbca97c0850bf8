"""JSON as people write it: each variant is read, or `check` says that `--fix` repairs it, and it does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gluebench import load_benchmark
from gluebench.cli.submission.check import as_lines
from gluebench.submission import check, fix_submission

WORDS = ["yes", "no", "no", "yes", "no", "yes"]
MANIFEST = """
[benchmark]
name = "j"
[tasks.T]
labels = { yes = "it holds", no = "it does not" }
metrics = [{ name = "accuracy" }]
splits.test.size = 6
files = [{ name = "T", member = "t.jsonl"PLACE }]
"""
Rows = list[tuple[int, str]]


def lines(make: Callable[[int, str], Any]) -> Callable[[Rows], str]:
    return lambda rows: "".join(json.dumps(make(at, word)) + "\n" for at, word in rows)


def whole(make: Callable[[Rows], Any]) -> Callable[[Rows], str]:
    return lambda rows: json.dumps(make(rows))


VARIANTS: dict[str, Callable[[Rows], str]] = {
    "idx and label": lines(lambda at, word: {"idx": at, "label": word}),
    "index and prediction": lines(lambda at, word: {"index": at, "prediction": word}),
    "id as text": lines(lambda at, word: {"id": str(at), "label": word}),
    "guid": lines(lambda at, word: {"guid": f"test-{at}", "label": word}),
    "other keys": lines(lambda at, word: {"text": "a", "idx": at, "pred": word, "score": 0.5}),
    "answer": lines(lambda at, word: {"idx": at, "answer": word}),
    "predicted_label": lines(lambda at, word: {"idx": at, "predicted_label": word}),
    "upper case": lines(lambda at, word: {"idx": at, "label": word.upper()}),
    "spaces": lines(lambda at, word: {"idx": at, "label": f" {word} "}),
    "meanings": lines(lambda at, word: {"idx": at, "label": "it holds" if word == "yes" else "it does not"}),
    "index from 1": lines(lambda at, word: {"idx": at + 1, "label": word}),
    "floats as index": lines(lambda at, word: {"idx": float(at), "label": word}),
    "lists of one": lines(lambda at, word: {"idx": at, "label": [word]}),
    "pairs": lines(lambda at, word: [at, word]),
    "answers alone": lines(lambda at, word: {"label": word}),
    "texts alone": lines(lambda at, word: word),
    "twice": lambda rows: 2 * lines(lambda at, word: {"idx": at, "label": word})(rows),
    "blank lines": lambda rows: lines(lambda at, word: {"idx": at, "label": word})(rows).replace(
        "\n", "\n\n"
    ),
    "a list of objects": whole(lambda rows: [{"idx": at, "label": word} for at, word in rows]),
    "a list of texts": whole(lambda rows: [word for _, word in rows]),
    "a list of pairs": whole(lambda rows: [[at, word] for at, word in rows]),
    "ids to texts": whole(lambda rows: {str(at): word for at, word in rows}),
    "ids to objects": whole(lambda rows: {str(at): {"label": word} for at, word in rows}),
    "predictions in an object": whole(lambda rows: {"predictions": [word for _, word in rows]}),
    "objects in an object": whole(
        lambda rows: {"data": [{"idx": at, "label": word} for at, word in rows], "version": 1}
    ),
    "indented": lambda rows: json.dumps([{"idx": at, "label": word} for at, word in rows], indent=2),
}


@pytest.mark.parametrize("column", ["", "label"])
@pytest.mark.parametrize("name", ["t.jsonl", "t.json"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_is_read_or_said_to_be_repaired(
    tmp_path: Path, variant: str, name: str, column: str
) -> None:
    manifest = tmp_path / "m.toml"
    place = f', column = "{column}"' if column else ""
    manifest.write_text(MANIFEST.replace("PLACE", place).replace("t.jsonl", name))
    benchmark = load_benchmark(manifest)
    (tmp_path / name).write_text(VARIANTS[variant](list(enumerate(WORDS))))
    submission = check(tmp_path / name, benchmark)
    if submission.verdict == "valid":
        assert submission.predictions["T"].words() == WORDS
        return
    said = "hint: --fix" in as_lines(submission, done=[])
    fixed = fix_submission(tmp_path / name, tmp_path / "o.zip", benchmark)
    assert said == (not fixed.problems), (submission.problems, fixed)
    assert said, submission.problems
    assert check(tmp_path / "o.zip", benchmark).predictions["T"].words() == WORDS
