"""From files to a plan: what is detected, what is told, and every error with its file and line."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gluebench.data import DataError, load_split
from gluebench.data.organize import Choices, fresh_folder, make_plan, write_plan
from gluebench.scoring.gold import read_gold


def folder(root: Path, **files: str) -> Path:
    """A flat folder of one task: train_csv="..." is train.csv."""
    home = root / "source"
    home.mkdir(exist_ok=True)
    for name, text in files.items():
        (home / name.replace("_", ".")).write_bytes(text.encode())
    return home


MOOD = "sentence,label\nA fine day,good\nA dull day,bad\n"


def only(home: Path, **choices: object):
    (task,) = make_plan([home], "mine", Choices(**choices)).tasks  # type: ignore[arg-type]
    return task


def problems(home: Path, **choices: object) -> list[str]:
    with pytest.raises(DataError) as caught:
        make_plan([home], "mine", Choices(**choices))  # type: ignore[arg-type]
    return caught.value.problems


def test_a_flat_folder_is_one_task_of_the_benchmarks_name(tmp_path: Path) -> None:
    task = only(folder(tmp_path, test_csv=MOOD))
    assert (task.name, task.columns.inputs, task.labels.words) == ("mine", ("sentence",), ("bad", "good"))
    assert [each.inputs["sentence"] for each in task.splits["test"]] == ["A fine day", "A dull day"]


def test_sub_folders_are_tasks(tmp_path: Path) -> None:
    for name in ("B", "A", ".hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "test.csv").write_text(MOOD)
    assert [task.name for task in make_plan([tmp_path], "mine", Choices()).tasks] == ["A", "B"]


def test_csv_is_read_with_quoting_and_tsv_without(tmp_path: Path) -> None:
    quoted = 'sentence,label\n"He said ""no"", twice",good\nplain,bad\n'
    plain = 'sentence\tlabel\n"He said ""no"", twice"\tgood\n"open\tbad\n'
    task = only(folder(tmp_path, train_csv=quoted, test_tsv=plain))
    assert [each.inputs["sentence"] for each in task.splits["train"]] == ['He said "no", twice', "plain"]
    assert [each.inputs["sentence"] for each in task.splits["test"]] == ['"He said ""no"", twice"', '"open']


def test_a_spreadsheets_semicolons_byte_order_mark_and_line_ends_are_read(tmp_path: Path) -> None:
    text = "\ufeffsentence;label\r\nAh, so;good\r\nOh;bad\r\n"
    task = only(folder(tmp_path, test_csv=text))
    assert task.formats == {"test": "CSV, cells between semicolons"}
    assert [each.inputs["sentence"] for each in task.splits["test"]] == ["Ah, so", "Oh"]


def test_a_stray_quote_is_an_error_on_its_own_line_and_swallows_nothing(tmp_path: Path) -> None:
    rows = "".join(f"row {number},good\n" for number in range(50))
    text = f'sentence,label\nfirst,bad\n"open,good\n{rows}'
    (problem,) = problems(folder(tmp_path, test_csv=text))
    assert problem.startswith(f"{tmp_path / 'source/test.csv'}:3: ")
    assert "quotation mark" in problem


def test_rows_of_the_wrong_width_are_all_listed(tmp_path: Path) -> None:
    found = problems(folder(tmp_path, test_csv=MOOD + "one\n", dev_csv=MOOD + "a,b,c\n\nd\n"))
    assert [problem.split("source/")[1].split(": ")[0] for problem in found] == [
        "dev.csv:4",
        "dev.csv:6",
        "test.csv:4",
    ]


def test_text_that_is_not_utf_8_names_line_and_remedy(tmp_path: Path) -> None:
    home = folder(tmp_path)
    (home / "test.csv").write_bytes("sentence,label\nschön,good\ntrüb,bad\n".encode("cp1252"))
    (problem,) = problems(home)
    assert "test.csv:2: expected utf-8 text" in problem
    assert "--encoding" in problem
    assert only(home, encoding="cp1252").splits["test"][0].inputs["sentence"] == "schön"


def test_breaks_within_texts_are_errors_or_spaces_as_told(tmp_path: Path) -> None:
    text = 'sentence,label\n"two\nlines",good\n"a\ttab",bad\nplain,bad\n'
    home = folder(tmp_path, test_csv=text)
    found = problems(home)
    assert [problem.split("source/")[1].split(": ")[0] for problem in found] == ["test.csv:2", "test.csv:4"]
    assert all("--replace-whitespace" in problem for problem in found)
    task = only(home, replace_whitespace=True)
    assert [each.inputs["sentence"] for each in task.splits["test"]] == ["two lines", "a tab", "plain"]
    assert any("2 texts of sentence were made spaces" in note for note in task.notes)


@pytest.mark.parametrize("name", ["label", "Gold", "SCORE", "target", "gold_label"])
def test_a_label_column_is_known_by_name(tmp_path: Path, name: str) -> None:
    task = only(folder(tmp_path, test_csv=f"a text,{name}\nx,1\ny,0\n"))
    assert task.columns.label == name
    assert "label" not in task.given


def test_a_label_column_that_is_not_clear_has_to_be_told(tmp_path: Path) -> None:
    home = folder(tmp_path, test_csv="sentence,label,score\nx,good,1.5\ny,bad,2\n")
    (problem,) = problems(home)
    assert "label and score could be it" in problem
    assert only(home, label=("label",)).columns.ignored == ("score",)
    (problem,) = problems(home, label=("mine=lable",))
    assert "Did you mean label" in problem


def test_what_names_a_task_goes_before_what_is_for_all(tmp_path: Path) -> None:
    for name in ("A", "B"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "test.csv").write_text("sentence,mood,tone\nx,good,low\ny,bad,high\n")
    plan = make_plan([tmp_path], "mine", Choices(label=("B=tone", "mood")))
    assert [task.columns.label for task in plan.tasks] == ["mood", "tone"]


def test_a_task_that_is_not_there_is_never_taken_for_a_value(tmp_path: Path) -> None:
    home = folder(tmp_path, test_csv=MOOD)
    assert only(home, license=("mine=CC0",)).license == "CC0"
    (problem,) = problems(home, license=("mien=CC0",))
    assert "no task is called 'mien'. Did you mean mine?" in problem


def test_numbers_and_indices_are_no_inputs(tmp_path: Path) -> None:
    task = only(folder(tmp_path, test_csv="id,year,sentence,label\n1,1999,x,a\n0,2001,y,b\n"))
    assert (task.columns.inputs, task.columns.row_index, task.columns.ignored) == (
        ("sentence",),
        "id",
        ("year",),
    )
    assert [each.index for each in task.splits["test"]] == [1, 0]
    assert any("left out: year" in note for note in task.notes)


@pytest.mark.parametrize("ids", [("7", "9"), ("tweet 2", "tweet 1"), ("0", "2")])
def test_ids_are_kept(tmp_path: Path, ids: tuple[str, str]) -> None:
    text = "".join(f"{name},{text},{label}\n" for name, text, label in zip(ids, "xy", "ab", strict=True))
    task = only(folder(tmp_path, test_csv=f"id,sentence,label\n{text}"))
    assert [each.index for each in task.splits["test"]] == [0, 1]
    assert tuple(task.ids["test"]) == ids


def test_rows_are_numbered_if_an_id_is_there_twice_or_blank(tmp_path: Path) -> None:
    task = only(folder(tmp_path, test_csv="id,sentence,label\n7,x,a\n7,y,b\n"))
    assert [each.index for each in task.splits["test"]] == [0, 1]
    assert not task.ids["test"]
    assert any('"id" has no id for every row' in note for note in task.notes)


def test_a_made_benchmark_has_ids_and_any_name_and_is_graded(tmp_path: Path) -> None:
    from gluebench.benchmark import load_benchmark
    from gluebench.scoring import grade

    home = tmp_path / "Opinión política"
    home.mkdir()
    (home / "test.csv").write_text("id,text,label\nt9,x,left\nt2,y,right\nt5,z,right\n", encoding="utf-8")
    (tmp_path / "Mood").mkdir()
    (tmp_path / "Mood" / "test.csv").write_text("text,score\nx,1.5\ny,4\nz,2\n")
    choices = Choices(metrics=("Opinión política=macro_f1", "Mood=neg_rmse"))
    with fresh_folder(tmp_path / "made") as made:
        write_plan(make_plan([tmp_path], "mine", choices), made)
    made = tmp_path / "made"
    benchmark = load_benchmark(made / "mine.toml")
    assert (
        made / "gold" / "Opinion-politica.tsv"
    ).read_text() == "id\tlabel\nt9\tleft\nt2\tright\nt5\tright\n"
    assert (made / "data" / "Opinión política" / "test.tsv").read_text().startswith("id\ttext\nt9\tx\n")
    assert [row.index for row in load_split(made / "data", benchmark, "Opinión política", "test")] == [
        0,
        1,
        2,
    ]
    run = tmp_path / "run"
    run.mkdir()
    answers = "id\tprediction\nt5\tright\nt9\tleft\nt2\tleft\n"
    (run / "Opinion-politica.tsv").write_text(answers)
    (run / "Mood.tsv").write_text("index\tprediction\n0\t1.5\n1\t4\n2\t2\n")
    report = grade(str(run), made / "gold", benchmark=benchmark)
    assert report.tasks["Opinión política"].metrics["macro_f1"].value == pytest.approx(2 / 3)
    assert report.tasks["Mood"].metrics["neg_rmse"].value == 1, "put on a scale, beside a share"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ("1 0 1", "labels"),
        ("1.5 0 1", "scores"),
        (" ".join(map(str, range(11))), "scores"),
        ("yes no", "labels"),
    ],
)
def test_labels_are_told_from_scores(tmp_path: Path, values: str, kind: str) -> None:
    rows = "".join(f"text {value},{value}\n" for value in values.split())
    assert only(folder(tmp_path, test_csv=f"sentence,label\n{rows}")).labels.kind == kind


def test_a_kind_that_is_told_is_heeded(tmp_path: Path) -> None:
    task = only(folder(tmp_path, test_csv="sentence,label\nx,1\ny,5\n"), kind=("scores",))
    assert task.labels.score_range == (1.0, 5.0)
    assert task.labels.metrics == ("pearson", "spearman")
    task = only(folder(tmp_path), kind=("scores",), score_range=("0,5",))
    assert task.labels.score_range == (0.0, 5.0)
    assert not any("range" in note for note in task.notes)


def test_the_f1_from_a_score_needs_the_score(tmp_path: Path) -> None:
    chosen = {"kind": ("scores",), "metrics": ("pearson,f1_from",)}
    home = folder(tmp_path, test_csv="sentence,label\nx,1\ny,5\n")
    labels = only(home, **chosen, positive=("3",)).labels
    assert (labels.metrics, labels.positive) == (("pearson", "f1_from"), "3")
    (problem,) = problems(home, **chosen)
    assert problem.endswith("=f1_from needs --positive mine=NUMBER, from which a score counts")


def test_two_unbalanced_classes_get_f1_of_the_rarer(tmp_path: Path) -> None:
    rows = "".join(f"text {number},{'no' if number % 4 else 'yes'}\n" for number in range(40))
    home = folder(tmp_path, test_csv=f"sentence,label\n{rows}")
    assert (only(home).labels.metrics, only(home).labels.positive) == (("accuracy", "f1"), "yes")
    assert only(home, positive=("no",)).labels.positive == "no"
    assert only(home, metrics=("mine=matthews_correlation",)).labels.metrics == ("matthews_correlation",)
    (problem,) = problems(home, metrics=("pearson",))
    assert "no metric of labels is called 'pearson'" in problem


def test_labels_in_two_spellings_are_refused(tmp_path: Path) -> None:
    (problem,) = problems(folder(tmp_path, test_csv="sentence,label\nx,good\ny,Good\nz,bad\n"))
    assert "look like one label" in problem


def test_a_label_may_be_absent_from_the_whole_test_file_alone(tmp_path: Path) -> None:
    home = folder(tmp_path, train_csv=MOOD, test_csv="sentence\nA grey day\n")
    task = only(home)
    assert task.splits["test"][0].label is None
    assert not task.labeled
    folder(tmp_path, test_csv="sentence,label\nA grey day,\nA wet day,bad\n")
    (problem,) = problems(home)
    assert "test.csv:2: has no label" in problem


def test_tables_of_other_names_are_errors(tmp_path: Path) -> None:
    home = folder(tmp_path, test_csv=MOOD, tset_csv=MOOD, test_tsv=MOOD.replace(",", "\t"))
    assert any("(is it test?)" in problem for problem in problems(home))
    assert any("there is test.csv as well" in problem for problem in problems(home))


def test_splits_in_other_formats_are_errors_and_never_passed_over(tmp_path: Path) -> None:
    home = folder(tmp_path, test_CSV=MOOD, train_xlsx="a workbook")
    (problem,) = problems(home)
    assert "train.xlsx: is not a CSV" in problem
    (home / "train.xlsx").unlink()
    assert only(home).formats == {"test": "CSV, cells between commas"}


def test_a_stand_in_for_hidden_labels_is_no_label(tmp_path: Path) -> None:
    test = "sentence,label\nA grey day,-1\nA wet day,-1\n"
    (problem,) = problems(folder(tmp_path, train_csv=MOOD, test_csv=test))
    assert 'every label of the test split is "-1"' in problem


def test_the_problems_of_all_tasks_are_told_together(tmp_path: Path) -> None:
    for name in ("A", "B"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "test.csv").write_text("sentence,mark\nx,1\n")
    assert [problem[:2] for problem in problems(tmp_path)] == ["A:", "B:"]


TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs"], exclude_characters="\t\r\n"),
    min_size=1,
    max_size=20,
)


@settings(max_examples=12)
@given(st.lists(st.tuples(TEXT, TEXT, st.sampled_from(["yes", "no"])), min_size=2, max_size=8))
def test_every_text_comes_out_of_the_written_folder_as_it_went_in(tmp_path_factory, rows) -> None:
    rows = [("a", "b", "yes"), ("c", "d", "no"), *rows]
    root = tmp_path_factory.mktemp("case")
    with (root / "train.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("one", "two", "label"), *rows])
    (root / "test.csv").write_bytes((root / "train.csv").read_bytes())
    plan = make_plan([root], "mine", Choices())
    with fresh_folder(root / "made") as made:
        write_plan(plan, made)
        from gluebench.benchmark import load_benchmark

        found = load_split(made / "data", load_benchmark(made / "mine.toml"), "mine", "train")
    assert [(*example.inputs.values(), example.label) for example in found] == rows


def test_folders_that_cannot_name_tasks_are_errors(tmp_path: Path) -> None:
    for name in ("What?", "QA-1", "qa_1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "test.csv").write_text(MOOD)
    found = problems(tmp_path)
    assert any('"What?" is not a name for a task' in problem for problem in found)
    assert any('"QA-1" and "qa_1" have one name' in problem for problem in found)


def test_a_label_with_a_line_end_is_an_error(tmp_path: Path) -> None:
    (problem,) = problems(folder(tmp_path, test_csv='sentence,label\nx,"go\nod"\ny,bad\n'))
    assert "not printed" in problem


def test_tasks_of_several_folders_stand_together(tmp_path: Path) -> None:
    for place, name in (("csv", "B"), ("built", "A")):
        (tmp_path / place / name).mkdir(parents=True)
        (tmp_path / place / name / "test.csv").write_text(MOOD)
    plan = make_plan([tmp_path / "csv", tmp_path / "built"], "mine", Choices())
    assert [task.name for task in plan.tasks] == ["A", "B"]
    with pytest.raises(DataError, match="have one name"):
        make_plan([tmp_path / "csv", tmp_path / "csv"], "mine", Choices())


def test_what_a_recipe_built_is_taken_as_it_says(tmp_path: Path) -> None:
    import pyarrow as pa

    from gluebench.benchmark import load_benchmark
    from gluebench.data.dataset import Origin
    from gluebench.data.prepared import prepare

    suite = load_benchmark("glue")
    texts = {"index": [0, 1], "premise": ["7", "a\nb"], "hypothesis": ["8", "c"], "label": ["1", "0"]}
    batch = pa.RecordBatch.from_pydict({**texts, "schema": ["x", "y"]})
    origin = Origin("recipe", "schemas", recipe="wnli")
    prepare(tmp_path, suite, suite.task("WNLI"), {"test": [batch]}, origin=origin, sized=False)
    (task,) = make_plan([tmp_path / "glue"], "mine", Choices(replace_whitespace=True)).tasks
    assert (task.columns.inputs, task.columns.ignored) == (tuple(suite.task("WNLI").columns), ("schema",))
    assert [(*each.inputs.values(), each.label) for each in task.splits["test"]] == [
        ("7", "8", "1"),
        ("a b", "c", "0"),
    ]
    assert "Built by the recipe wnli from schemas." in task.notes


DIAGNOSTIC = (
    "label,sentence,phenomena\nbad,Not a fine day,Logic: Negation; Lexicon: Weather\ngood,A day,\n"
    "good,No rain,Idiom\n"
)


def test_a_diagnostic_file_is_a_task_of_its_own_with_its_phenomena(tmp_path: Path) -> None:
    home = folder(tmp_path, train_csv=MOOD, test_csv=MOOD, diagnostic_csv=DIAGNOSTIC)
    (tmp_path / "made").mkdir()
    benchmark = write_plan(make_plan([home], "mine", Choices()), made := tmp_path / "made")
    task = benchmark.task("mine-diagnostic")
    assert [one.name for one in benchmark.tasks if one.scored] == ["mine"]
    assert (task.columns, task.predict_with, len(task.metrics)) == (("sentence",), "mine", 1)
    tags = (made / "gold" / "mine-diagnostic.phenomena.tsv").read_text().splitlines()
    assert tags[1:] == ["0\tLogic\tNegation", "0\tLexicon\tWeather", "2\tPhenomena\tIdiom"]
    assert read_gold(made / "gold", benchmark).columns.keys() == {"mine", "mine-diagnostic"}
    assert "bad" not in (made / "data" / "mine-diagnostic" / "test.tsv").read_text()


def test_a_diagnostic_file_lacks_no_column(tmp_path: Path) -> None:
    home = folder(tmp_path, test_csv=MOOD, diagnostic_csv="text,phenomena\nA day,Logic\n")
    absent = [problem.partition(": ")[2] for problem in problems(home)]
    assert absent == ['has no column "sentence"', 'has no column "label"']
