"""A submission with more or fewer tags in a row than the gold labels is refused wherever it is graded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from gluebench.cli import main
from gluebench.leaderboard.serving import grader
from gluebench.scoring import GoldError, SubmissionError, grade, read_gold
from gluebench.scoring.many import grade_many
from gluebench.submission.problems import SHOWN_PER_FILE

METRICS = ("token_accuracy", "entity_f1", "entity_f1_lenient", "entity_macro_f1", "token_macro_f1")
GOLD = ["B-PER I-PER O", "O", "O B-PER"]


class Files:
    """A benchmark of tokens with one metric, its gold labels and a submission."""

    def __init__(self, folder: Path, metric: str = "entity_f1", *, ids: str = "", rows: int = 3) -> None:
        self.manifest, self.gold, self.sub = folder / "tags.toml", folder / "gold", folder / "sub"
        self.ids = [f"s{at}" for at in range(rows)] if ids else [*map(str, range(rows))]
        self.manifest.write_text(
            f"""[benchmark]
name = "tags"
title = "Tags"
[tasks.NER]
form = "tokens"
labels = {{ O = "O", B-PER = "B-PER", I-PER = "I-PER" }}
metrics = [{{ name = "score", function = "{metric}", title = "score" }}]
columns = ["sentence"]
splits.train.size = {rows}
splits.test = {{ size = {rows}{', ids = "s{}"' if ids else ""} }}
"""
        )
        self.write(self.gold, "label", GOLD * (rows // 3))

    def write(self, folder: Path, value: str, rows: list[str]) -> None:
        folder.mkdir()
        head = "index" if self.ids[0] == "0" else "id"
        lines = [f"{name}\t{cell}\n" for name, cell in zip(self.ids, rows, strict=True)]
        (folder / "NER.tsv").write_text(f"{head}\t{value}\n" + "".join(lines))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    made = Files(tmp_path)
    made.write(made.sub, "prediction", ["B-PER I-PER", "O", "O B-PER O"])
    return made


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("ids", ["", "ids"])
def test_the_row_and_both_numbers_are_named_and_no_label(tmp_path: Path, metric: str, ids: str) -> None:
    files = Files(tmp_path, metric, ids=ids)
    files.write(files.sub, "prediction", ["B-PER I-PER", "O", "O B-PER"])
    with pytest.raises(SubmissionError) as refusal:
        grade(files.sub, files.gold, benchmark=files.manifest)
    [problem] = refusal.value.problems
    assert (problem.code, problem.file, problem.index) == ("tag-count", "NER.tsv", 0)
    assert problem.place == ("NER.tsv (id s0)" if ids else "NER.tsv (index 0)")
    assert problem.value == "2 tags, not 3"
    assert "PER" not in str(refusal.value)


def test_predictions_from_python_are_refused_too(files: Files) -> None:
    with pytest.raises(SubmissionError, match="2 tags, not 1"):
        grade({"NER": [["O"] * 3, ["O"] * 2, ["O"] * 2]}, files.gold, benchmark=files.manifest)


def test_only_rows_with_gold_count_where_gold_is_partial(files: Files) -> None:
    (files.gold / "NER.tsv").write_text("index\tlabel\n1\tO\n")
    gold = read_gold(files.gold, files.manifest, partial=True)
    assert grade(files.sub, gold).tasks["NER"].score is not None
    (files.gold / "NER.tsv").write_text("index\tlabel\n2\tO B-PER\n")
    with pytest.raises(SubmissionError, match=r"index 2.*3 tags, not 2"):
        grade(files.sub, read_gold(files.gold, files.manifest, partial=True))


def test_rows_beyond_the_first_are_counted(tmp_path: Path) -> None:
    files = Files(tmp_path, rows=30)
    with pytest.raises(SubmissionError, match=f"and {30 - SHOWN_PER_FILE} more") as refusal:
        grade({"NER": [["O"] * 4] * 30}, files.gold, benchmark=files.manifest)
    assert len(refusal.value.problems) == SHOWN_PER_FILE


def test_the_command_ends_with_1(files: Files) -> None:
    words = ["grade", str(files.sub), "--gold", str(files.gold), "--benchmark", str(files.manifest)]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 1, result.output
    assert "NER.tsv (index 0): '2 tags, not 3'" in result.stderr
    assert "NER.tsv (index 2): '3 tags, not 2'" in result.stderr
    assert "PER" not in result.output


def test_a_table_of_many_submissions_calls_it_invalid(files: Files, tmp_path: Path) -> None:
    gold = read_gold(files.gold, files.manifest)
    [row] = grade_many([str(files.sub)], gold, out=tmp_path / "scores.csv", workers=1)
    assert (row["verdict"], row.get("score")) == ("invalid", None)
    assert "2 tags, not 3" in row["problem"]


@pytest.mark.parametrize("part", [{}, {"rows": "public", "share": 0.5}])
def test_the_grader_of_a_site_calls_it_not_valid(files: Files, part: dict[str, object]) -> None:
    job = {"submission": str(files.sub), "manifest": str(files.manifest), "gold": str(files.gold)}
    result = json.loads(json.dumps(grader._result(job | part)))
    assert {*result} == {"check"}
    assert result["check"]["verdict"] == "invalid"
    assert [problem["index"] for problem in result["check"]["problems"]] == [0, 2]


def test_a_best_with_wrong_tag_counts_is_passed_over(files: Files, tmp_path: Path) -> None:
    files.write(tmp_path / "new", "prediction", GOLD)
    job = {"submission": str(tmp_path / "new"), "manifest": str(files.manifest), "gold": str(files.gold)}
    result = grader._result(job | {"bests": {"NER": str(files.sub)}})
    assert result["new"] == ["NER"]


def test_gold_of_open_tags_has_to_fit_the_scheme(tmp_path: Path) -> None:
    files = Files(tmp_path)
    closed = 'labels = { O = "O", B-PER = "B-PER", I-PER = "I-PER" }\n'
    files.manifest.write_text(files.manifest.read_text().replace(closed, ""))
    assert read_gold(files.gold, files.manifest).columns["NER"].cells[0] == ("B-PER", "I-PER", "O")
    (files.gold / "NER.tsv").write_text("index\tlabel\n0\tS-PER O\n1\tO\n2\tO\n")
    with pytest.raises(GoldError, match=r"other-scheme: .* has S-PER; .* in IOB2\. Declare scheme"):
        read_gold(files.gold, files.manifest)
