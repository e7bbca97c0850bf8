"""The lint on released GLUE files, against what is known of them from elsewhere."""

from __future__ import annotations

from real import REAL, needs_real

from gluebench.analysis.lint import Finding, lint_task
from gluebench.analysis.lint.findings import LintSplit
from gluebench.analysis.lint.repeats import duplicate_findings
from gluebench.benchmark import load_benchmark
from gluebench.data import Example


def examples(task: str, split: str, *, columns: int, first: int) -> list[Example]:
    """The rows of a released file with a header: texts from column `first` on, then the label, if any."""
    record = load_benchmark("glue").task(task)
    lines = (REAL / "glue" / task / f"{split}.tsv").read_text("utf-8-sig").removesuffix("\n").split("\n")[1:]
    rows = [line.split("\t") for line in lines]
    return [
        Example(
            index,
            dict(zip(record.columns, row[first : first + columns], strict=True)),
            row[first + columns] if len(row) > first + columns else None,
        )
        for index, row in enumerate(rows)
    ]


@needs_real
def test_the_dev_set_of_wnli_is_shown_for_what_it_is() -> None:
    """65 of its 71 premises stand in train, and 5 of its hypotheses, all of these with the opposite label."""
    splits = {split: examples("WNLI", split, columns=2, first=1) for split in ("train", "dev", "test")}
    findings = lint_task(load_benchmark("glue").task("WNLI"), splits).findings
    found: dict[tuple[str, str], Finding] = {(each.check, each.where): each for each in findings}
    assert found["shared premise", "train, dev"].number == 65
    assert found["shared hypothesis", "train, dev"].number == 5
    assert ("leakage", "train, dev") not in found
    assert found["hypothesis alone", "dev"].severity == "note"
    assert found["prior shift", "train, dev"].severity == "note"  # 323 and 312 against 40 and 31


@needs_real
def test_the_duplicates_of_sst_2_are_counted() -> None:
    """Five of its training sentences have both labels."""
    split = LintSplit("train", examples("SST-2", "train", columns=1, first=0), role=None)
    found = {each.check: each for each in duplicate_findings(split, score_range=None)}
    assert found["contradictions"].number == 5
    assert (
        found["duplicates"].number == 371
    )  # 366 rows that repeat an earlier one, label and all, and those five
