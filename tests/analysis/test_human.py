"""A human baseline on the sample's diagnostic set, from the draw to the agreement, as its users make one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.metrics import matthews_corrcoef  # noqa: TID251 the oracle

from gluebench.analysis.human.sheets import draw, pairs_of, sheet_order
from gluebench.benchmark import load_benchmark
from gluebench.cli import main
from gluebench.data import DataError, load
from gluebench.data.sample import GOLD
from gluebench.data.sample.prepare import get_sample
from gluebench.scoring import read_gold


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    get_sample(load_benchmark("sample").diagnostics, folder)
    return folder


@pytest.fixture(scope="module")
def task():
    return load_benchmark("sample").diagnostics[0]


@pytest.fixture(scope="module")
def table(data, task):
    return load(task.name, task.files[0].splits["test"].name, data, benchmark="sample")


def run(*words):
    return CliRunner().invoke(main, ["annotate", *map(str, words)])


def rows_of(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text().splitlines()]


@pytest.fixture
def folder(data, tmp_path):
    place = tmp_path / "human"
    answer = run("draw", "--data", data, "--out", place, "--seed", 4, "--pairs", 20, "--benchmark", "sample")
    assert answer.exit_code == 0, answer.output
    return place


def fill(folder: Path, label_of) -> dict[str, list[str | None]]:
    """Write labels into every sheet; `label_of` takes the annotator's number and the item's index."""
    items = json.loads((folder / "draw.json").read_text())["items"]
    given = {}
    for number in range(1, 7):
        path = folder / f"annotator-{number}.tsv"
        header, *rows = rows_of(path)
        for row in rows:
            row[3] = label_of(number, items[int(row[0]) - 1]) or ""
        path.write_text("\n".join("\t".join(row) for row in [header, *rows]) + "\n")
        by_item = {int(row[0]): row[3] or None for row in rows}
        given[path.stem] = [by_item[item] for item in range(1, len(items) + 1)]
    return given


@pytest.fixture(scope="module")
def gold(data):
    return data / "sample" / GOLD["test"]


@pytest.fixture(scope="module")
def labels(gold, task):
    column = read_gold(gold, "sample", partial=True).columns[task.files[0].name]
    return dict(enumerate(column.words()))


def test_a_draw_is_the_seeds_and_whole_pairs(table):
    one, again, other = (
        draw(table, benchmark="sample", pairs=30, annotators=6, seed=seed) for seed in (1, 1, 2)
    )
    assert one == again
    assert one.items != other.items
    assert len(set(one.items)) == 60
    indices = {tuple(sorted(one.items[item - 1] for item in pair)) for pair in one.pairs}
    assert indices <= {tuple(sorted(pair)) for pair in pairs_of(table)}
    texts = {example.index: tuple(example.inputs.values()) for example in table}
    assert all(texts[first] == texts[second][::-1] for first, second in indices)


def test_the_two_directions_stand_far_apart_and_nobodys_order_is_anothers(table):
    drawn = draw(table, benchmark="sample", pairs=50, annotators=6, seed=0)
    orders = [sheet_order(drawn, number) for number in range(1, 7)]
    assert len(set(map(tuple, orders))) == 6
    for order in orders:
        assert sorted(order) == list(range(1, 101))
        where = {item: at for at, item in enumerate(order)}
        assert min(abs(where[first] - where[second]) for first, second in drawn.pairs) > 25
    first_half = [drawn.items[item - 1] for item in orders[0][:50]]
    assert 10 < sum(index % 2 for index in first_half) < 40, "neither direction comes first throughout"


def test_too_many_pairs_are_refused(table):
    with pytest.raises(DataError, match="cannot be drawn"):
        draw(table, benchmark="sample", pairs=10**6, annotators=2, seed=0)


def test_a_sheet_shows_texts_alone(folder, table, task):
    header, *rows = rows_of(folder / "annotator-1.tsv")
    assert header == ["item", *task.columns, "label"]
    texts = {tuple(example.inputs.values()) for example in table}
    assert len(rows) == 40
    assert all(tuple(row[1:3]) in texts and row[3] == "" for row in rows)
    said = (folder / "instructions.md").read_text()
    assert all(f"`{word}`" in said for word in task.words)
    assert "40 pairs" in said


def test_each_annotator_meets_the_drawn_items_in_an_order_of_their_own(folder, table, task):
    drawn = json.loads((folder / "draw.json").read_text())
    texts = {example.index: [example.inputs[name] for name in task.columns] for example in table}
    orders = []
    for number in range(1, 7):
        _, *rows = rows_of(folder / f"annotator-{number}.tsv")
        orders.append(tuple(int(row[0]) for row in rows))
        assert sorted(orders[-1]) == list(range(1, 41))
        for item, row in zip(orders[-1], rows, strict=True):
            assert row[1:3] == [" ".join(text.split()) for text in texts[drawn["items"][item - 1]]]
    assert len(set(orders)) == 6


def test_everybody_right_is_full_agreement(folder, data, labels, gold):
    fill(folder, lambda _number, index: labels[index])
    answer = run("score", folder, "--gold", gold, "--benchmark", "sample", "--json")
    found = json.loads(answer.output)
    assert found["mean"]["value"] == found["kappa"]["value"] == 1.0
    assert {score["withheld"] for score in found["annotators"].values()} == {"too few to say"}
    assert found["blanks"] == []


def test_scores_are_sklearns_and_blanks_are_named(folder, data, labels, task, gold):
    rng = np.random.default_rng(1)

    def answered(number, index):
        if rng.random() < 0.05 and number < 3:
            return None
        return labels[index] if rng.random() < 0.8 else str(rng.choice(task.words))

    given = fill(folder, answered)
    found = json.loads(run("score", folder, "--gold", gold, "--benchmark", "sample", "--json").output)
    truth = [labels[index] for index in json.loads((folder / "draw.json").read_text())["items"]]
    values = []
    for name, answers in given.items():
        kept = [(g, p) for g, p in zip(truth, answers, strict=True) if p is not None]
        values.append(matthews_corrcoef(*zip(*kept, strict=True)))
        score = found["annotators"][name]
        assert score["value"] == pytest.approx(values[-1])
        assert score["n"] == len(kept)
        assert score["low"] < score["value"] < score["high"]
    assert found["mean"]["value"] == pytest.approx(np.mean(values))
    assert found["mean"]["high"] - found["mean"]["low"] < min(
        score["high"] - score["low"] for score in found["annotators"].values()
    )
    blank = {(name, at) for name, answers in given.items() for at, p in enumerate(answers, 1) if p is None}
    assert blank
    assert {(each["annotator"], each["item"]) for each in found["blanks"]} == blank
    assert found["kappa"]["n"] == 40 - len({item for _, item in blank})
    shown = run("score", folder, "--gold", gold, "--benchmark", "sample").output
    assert all(str(item) in shown.split("Left blank")[1] for _, item in blank)


def test_a_sheet_that_a_spreadsheet_saved_is_read(folder, data, labels, task, gold):
    fill(folder, lambda _number, index: labels[index])
    path = folder / "annotator-2.tsv"
    header, *rows = rows_of(path)
    quoted = ["\t".join(f'"{cell}"' for cell in row) for row in reversed(rows)]
    path.write_bytes("\r\n".join(["\t".join(header), *quoted]).encode("utf-16"))
    found = json.loads(run("score", folder, "--gold", gold, "--benchmark", "sample", "--json").output)
    assert found["mean"]["value"] == 1.0


def test_what_is_wrong_in_any_sheet_is_said_at_once(folder, data, labels, gold):
    fill(folder, lambda _number, index: labels[index])
    first, second, third = (folder / f"annotator-{number}.tsv" for number in (1, 2, 3))
    rows = rows_of(first)
    rows[1][3] = "perhaps"
    first.write_text("\n".join("\t".join(row) for row in [*rows[:3], rows[2], *rows[4:]]))
    second.unlink()
    third.write_text("a,b\n1,2\n")
    answer = run("score", folder, "--gold", gold, "--benchmark", "sample")
    assert answer.exit_code == 1
    for said in ("annotator-1.tsv:2: label 'perhaps'", "stands twice", f"no row for item {rows[3][0]}",
                 "annotator-2.tsv: not there", "annotator-3.tsv:1: the header"):  # fmt: skip
        assert said in answer.output


def test_nobodys_work_is_written_over_and_strange_folders_are_refused(folder, data, tmp_path, gold):
    answer = run("draw", "--data", data, "--out", folder, "--benchmark", "sample")
    assert (answer.exit_code, "not empty" in answer.output) == (1, True)
    assert run("score", tmp_path, "--gold", gold, "--benchmark", "sample").exit_code == 1
    assert run("score", folder, "--gold", gold).exit_code == 2, "the default benchmark is not the sample"
    (folder / "draw.json").write_text("{}")
    assert "not as annotate draw wrote it" in run("score", folder, "--gold", gold).output
