"""Kaggle's solution files in the shapes that are published, with contents that are made up."""

from __future__ import annotations

from pathlib import Path

import pytest
from result_files import lines, text

from gluebench import DataError, compare, read_results

SEVERAL = (
    "ID,toxic,insult,Usage\n"
    "a,1,0,Public\nb,0,0,Private\nc,1,1,Private\nd,0,1,Ignored\ne,,1,Private\nf,1,0,Public\n"
)


def test_several_columns_of_labels_are_tasks(tmp_path: Path) -> None:
    gold = text(tmp_path / "solution.csv", SEVERAL)
    a = text(tmp_path / "a.csv", "ID,toxic,insult\nf,1,0\na,1,1\nb,0,0\nc,1.0,1\nd,0,1\ne,1,0\n")
    b = text(tmp_path / "b.csv", "id,Insult,Toxic\na,0,0\nb,0,0\nc,1,1\nd,1,0\ne,1,1\nf,1,1\n")
    table = read_results([a, b], gold=gold)
    assert table.unit == "items"
    rows = dict(
        zip(
            zip(table.tasks or (), table.items, strict=True),
            zip(*table.scores.values(), strict=True),
            strict=True,
        )
    )
    assert rows == {
        **{
            ("toxic", item): right
            for item, right in zip("fabc", [(1, 1), (1, 0), (1, 1), (1, 1)], strict=True)
        },
        **{
            ("insult", item): right
            for item, right in zip("fabc", [(1, 0), (0, 1), (1, 1), (1, 1)], strict=True)
        },
        ("insult", "e"): (0, 1),
    }
    assert "a: a.csv: 1 item without a score or gold label, left out: d" in table.notes
    with pytest.raises(DataError, match="the log has no column Usage; expected one of gold, usage"):
        read_results([a, b], gold=gold, only={"Usage": "Private"})
    private = read_results([a, b], gold=gold, only={"usage": "Private"})
    assert [*zip(private.tasks or (), private.items, strict=True)] == [
        *(("toxic", "b"), ("toxic", "c"), ("insult", "b"), ("insult", "c"), ("insult", "e"))
    ]
    assert "the tasks are fixed" in compare("a", "b", table).conclusion
    assert read_results([a, b], gold=gold, over="tasks").items == ("toxic", "insult")


def test_columns_that_nobody_predicts_are_no_labels(tmp_path: Path) -> None:
    """As width and height beside the labels of images."""
    gold = text(
        tmp_path / "solution.csv", "ImageId,kind,other,Width,Usage\nx,cat,a,1.5,Public\ny,dog,b,2,Public\n"
    )
    table = read_results(text(tmp_path / "a.csv", "ImageId,kind\nx,cat\ny,cat\n"), gold=gold)
    assert table.scores == {"a": (1, 0)}
    with pytest.raises(DataError, match=r"columns named as those of the gold labels: kind, other, Width"):
        read_results(text(tmp_path / "b.csv", "ImageId,label\nx,cat\ny,cat\n"), gold=gold)
    with pytest.raises(DataError, match=r"gold labels in 3 columns"):
        read_results(lines(tmp_path / "a.jsonl", [{"id": "x", "label": "cat"}]), gold=gold)
    with pytest.raises(DataError, match=r"the gold labels of Width are numbers, not labels"):
        read_results(text(tmp_path / "c.csv", "ImageId,Width\nx,1\ny,2\n"), gold=gold)


@pytest.mark.parametrize(
    "solution",
    [
        "Usage,PassengerId,Survived\nPublic,x,1\nignored,y,0\nPrivate,z,1\n",
        "PassengerId,Survived,Usage\nx,1,public\ny,0,IGNORED\nz,1,private\n",
        "PassengerId,Survived,Usage\nx,1,Public\ny,,Private\nz,1,Private\n",
    ],
)
def test_usage_in_any_place_and_letter_case(tmp_path: Path, solution: str) -> None:
    gold = text(tmp_path / "solution.csv", solution)
    table = read_results(text(tmp_path / "a.csv", "PassengerId,Survived\nx,1\ny,0\nz,0\n"), gold=gold)
    assert dict(zip(table.items, table.scores["a"], strict=True)) == {"x": 1, "z": 0}


def test_amounts_are_no_labels_although_they_are_whole(tmp_path: Path) -> None:
    """Numbers of cases, for instance: a prediction of 1,001 for 1,000 would be as wrong as one of 0."""
    cases = [at * at * 7 for at in range(30)]
    rows = "".join(f"{at},{count},Private\n" for at, count in enumerate(cases))
    gold = text(tmp_path / "solution.csv", f"ForecastId,Cases,Usage\n{rows}")
    a = text(tmp_path / "a.csv", "ForecastId,Cases\n" + "".join(f"{at},{at}\n" for at in range(30)))
    with pytest.raises(DataError, match=r"are numbers, not labels; .* scores of each item"):
        read_results(a, gold=gold)
    wide = "".join(f"{at},{count},{at}\n" for at, count in enumerate(cases))
    with pytest.raises(DataError, match=r"the gold labels of gold are numbers"):
        read_results(text(tmp_path / "wide.csv", f"id,gold,a\n{wide}"))


@pytest.mark.parametrize(("count", "noted"), [(20, False), (30, True)])
def test_many_classes_that_are_numbers_are_noted(tmp_path: Path, count: int, noted: bool) -> None:
    rows = "".join(f"{at},{at}\n" for at in range(count))
    gold = text(tmp_path / "solution.csv", f"id,label\n{rows}")
    table = read_results(text(tmp_path / "a.csv", f"id,label\n{rows}"), gold=gold)
    assert table.scores == {"a": (1,) * count}
    assert any("30 whole numbers, and only the same number is right" in note for note in table.notes) == noted


def test_texts_among_columns_of_labels_are_noted(tmp_path: Path) -> None:
    rows = "".join(f"{at},text {at},{at % 2},Public\n" for at in range(30))
    gold = text(tmp_path / "solution.csv", f"id,text,kind,Usage\n{rows}")
    table = read_results(text(tmp_path / "a.csv", f"id,text,kind,more\n{rows}"), gold=gold)
    assert table.notes == (
        "the gold labels of text differ in every item; if they are texts, leave that column out",
    )


@pytest.mark.parametrize("column", ["Survived", "label"])
def test_more_columns_of_a_submission_are_no_systems(tmp_path: Path, column: str) -> None:
    """As probabilities or texts beside the labels, which the gold file's name or a usual one tells."""
    gold = text(tmp_path / "solution.csv", "id,Survived,Usage\nx,1,Public\ny,0,Private\n")
    table = read_results(
        text(tmp_path / "a.csv", f"id,text,{column},prob\nx,t,1,0.9\ny,u,1,0.8\n"), gold=gold
    )
    assert table.scores == {"a": (1, 0)}
    assert table.notes == (f"a.csv: only the column {column} is read, not text, prob",)


def test_the_index_of_pandas_is_no_system(tmp_path: Path) -> None:
    gold = text(tmp_path / "solution.csv", "id,Survived\nx,1\ny,0\n")
    table = read_results(text(tmp_path / "a.csv", ",id,Survived\n0,x,1\n1,y,1\n"), gold=gold)
    assert (table.scores, table.notes) == ({"a": (1, 0)}, ())


def test_columns_that_may_be_systems_are_named(tmp_path: Path) -> None:
    gold = text(tmp_path / "solution.csv", "id,Survived\nx,1\ny,0\n")
    table = read_results(text(tmp_path / "a.csv", "id,bert,esim\nx,1,0\ny,1,0\n"), gold=gold)
    assert table.scores == {"bert": (1, 0), "esim": (0, 1)}
    assert table.notes == (
        "a.csv: each of the columns bert, esim is read as a system; if one has the answers, name it label",
    )
    with pytest.raises(DataError, match=r"expected one column of answers, not prediction, label"):
        read_results(text(tmp_path / "b.csv", "id,prediction,label\nx,1,1\n"))


def test_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    gold = text(tmp_path / "solution.csv", "id,a,a,Usage\nx,1,0,Public\n")
    with pytest.raises(DataError, match=r'solution\.csv:1: 2 columns are called "a"'):
        read_results(text(tmp_path / "a.csv", "id,a\nx,1\n"), gold=gold)
