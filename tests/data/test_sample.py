"""The sample benchmark as a folder: complete, the same each time, nothing shared between splits."""

from __future__ import annotations

import json
import re
import tarfile
from collections import Counter
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
from data.sample_rows import rows_of

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.data import Example, load_split
from gluebench.data.sample import ARCHIVE, SEED, build


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".label-key"  # left by whoever graded against it
    }


def gold(folder: Path, name: str) -> list[list[str]]:
    return [line.split("\t") for line in (folder / name).read_text("utf-8").splitlines()]


def test_it_has_the_shape_of_glue(sample: Benchmark) -> None:
    glue = load_benchmark("glue")
    assert [task.name for task in sample.tasks] == [task.name for task in glue.tasks]
    assert [file.name for file in sample.files()] == [file.name for file in glue.files()]
    for ours, theirs in zip(sample.tasks, glue.tasks, strict=True):
        assert ours.words == theirs.words
        assert ours.metrics == theirs.metrics
        assert ours.columns == theirs.columns
        assert ours.score_range == theirs.score_range
        assert (ours.scored, ours.predict_with) == (theirs.scored, theirs.predict_with)
        assert ours.title != theirs.title
        assert not ours.private
    names = [(each.name, each.coarse) for each in sample.task("AX").phenomena]
    assert names == [(each.name, each.coarse) for each in glue.task("AX").phenomena]
    assert len(names) == 33


def test_every_split_is_read_with_the_size_that_the_manifest_says(
    sample: Benchmark, sample_folder: Path
) -> None:
    for task in sample.tasks:
        for name, split in task.splits.items():
            examples = load_split(sample_folder, sample, task.name, name)
            assert [example.index for example in examples] == list(range(split.size))
            hidden = name.startswith("test")
            assert all((example.label is None) == hidden for example in examples)
            assert name == "train" or task.name == "AX" or 50 <= split.size <= 1500


def test_the_gold_folders_hold_the_labels_of_the_graded_splits(
    sample: Benchmark, sample_folder: Path
) -> None:
    for role, name in (("test", "gold"), ("dev", "gold-dev")):
        for file in sample.files(role):
            header, *rows = gold(sample_folder, f"{name}/{file.name}.tsv")
            assert header == ["index", "label"]
            assert [row[0] for row in rows] == [str(index) for index in range(file.size(role))]
            words = sample.task(file.task).words
            assert all(label in words if words else 0 <= float(label) <= 5 for _, label in rows)
    dev = [example.label for example in load_split(sample_folder, sample, "RTE", "dev")]
    assert [row[1] for row in gold(sample_folder, "gold-dev/RTE.tsv")[1:]] == dev


def test_the_folder_holds_what_is_shipped_with_its_seed(sample_folder: Path) -> None:
    shipped = files("gluebench.data.sample").joinpath(ARCHIVE)
    with shipped.open("rb") as stream, tarfile.open(fileobj=stream, mode="r:xz") as archive:
        members = archive.getmembers()
        assert all(member.isfile() and member.mtime == 0 for member in members)
        assert sorted(member.name for member in members) == sorted(bytes_of(sample_folder))
    assert len(shipped.read_bytes()) <= 1_500_000
    assert json.loads((sample_folder / "sample.json").read_text())["seed"] == SEED


def test_a_folder_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "data"
    build(target)
    (target / "CoLA" / "train.tsv").write_text("spoilt")
    (target / "stale").write_text("old")
    build(target)
    assert not (target / "stale").exists()
    assert (target / "CoLA" / "train.tsv").read_text() != "spoilt"
    assert [path.name for path in target.parent.iterdir()] == ["data"]


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match=r"has no sample\.json.*name a new or empty folder"):
        build(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    (tmp_path / "empty").mkdir()
    build(tmp_path / "empty")
    assert (tmp_path / "empty" / "sample.json").is_file()


def test_a_build_that_fails_leaves_the_old_folder_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "data"
    build(target)
    before = bytes_of(target)

    def full(*arguments: object, **named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tarfile.TarFile.extractall", full)
    with pytest.raises(OSError, match="No space left"):
        build(target)
    assert bytes_of(target) == before
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def normalized(inputs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(" ".join(re.findall(r"\w+", text.lower())) for text in inputs)


def test_no_example_stands_in_two_splits_or_twice_in_one(sample: Benchmark, sample_folder: Path) -> None:
    """Not even with another case or punctuation."""
    for task in sample.scored:
        splits = rows_of(sample_folder, sample, task.name)
        texts = [normalized(row.inputs) for rows in splits.values() for row in rows]
        assert len(set(texts)) == len(texts), task.name


TYPES = 5000


def test_the_vocabulary_is_large(sample: Benchmark, sample_folder: Path) -> None:
    """Inflected forms are counted, possessives are not."""
    types: set[str] = set()
    for task in sample.scored:
        for rows in rows_of(sample_folder, sample, task.name).values():
            types.update(
                re.sub(r"['’]s$", "", word)
                for row in rows
                for text in row.inputs
                for word in re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text.lower())
            )
    assert len(types) >= TYPES


def test_premises_of_wnli_stay_in_one_split_and_dev_is_adversarial(
    sample: Benchmark, sample_folder: Path
) -> None:
    splits = rows_of(sample_folder, sample, "WNLI")
    premises = {name: {row.inputs[0] for row in rows} for name, rows in splits.items()}
    assert not premises["train"] & premises["dev"]
    assert not (premises["train"] | premises["dev"]) & premises["test"]
    train: dict[str, set[str]] = {}
    for row in splits["train"]:
        train.setdefault(row.inputs[1], set()).add(row.label)
    opposite = [row for row in splits["dev"] if row.label not in train[row.inputs[1]]]
    assert len(opposite) >= 0.8 * len(splits["dev"])


def test_wnli_rows_of_one_premise_are_one_group(sample: Benchmark, sample_folder: Path) -> None:
    header, *rows = gold(sample_folder, "gold/WNLI.metadata.tsv")
    assert header == ["index", "group"]
    premises = [example.inputs["premise"] for example in load_split(sample_folder, sample, "WNLI", "test")]
    assert len({(row[1], premise) for row, premise in zip(rows, premises, strict=True)}) == len(set(premises))
    assert len({row[1] for row in rows}) == len(set(premises)) < len(rows)


@pytest.mark.parametrize(
    ("task", "split", "label", "share"),
    [
        ("CoLA", "train", "1", 0.70),
        ("CoLA", "test", "1", 0.70),
        ("SST-2", "test", "1", 0.5),
        ("MRPC", "train", "1", 0.68),
        ("MRPC", "test", "1", 0.68),
        ("QQP", "train", "1", 0.37),
        ("QQP", "test", "1", 0.5),
        ("MNLI", "test_matched", "neutral", 1 / 3),
        ("MNLI", "test_mismatched", "contradiction", 1 / 3),
        ("QNLI", "test", "entailment", 0.5),
        ("RTE", "test", "entailment", 0.5),
        ("WNLI", "train", "1", 0.5),
        ("WNLI", "test", "0", 0.65),
    ],
)
def test_the_shares_of_the_labels_are_those_of_glue(
    sample: Benchmark, sample_folder: Path, task: str, split: str, label: str, share: float
) -> None:
    rows = rows_of(sample_folder, sample, task)[split]
    assert sum(row.label == label for row in rows) / len(rows) == pytest.approx(share, abs=0.01)


def test_similarity_scores_spread_over_the_whole_range(sample: Benchmark, sample_folder: Path) -> None:
    values = [float(row.label) for row in rows_of(sample_folder, sample, "STS-B")["test"]]
    assert min(values) < 0.5
    assert max(values) == 5
    assert all(sum(low <= value < low + 1.25 for value in values) > 15 for low in (0, 1.25, 2.5, 3.75))


def test_every_word_of_acceptability_is_about_as_often_in_good_sentences_as_in_bad(
    sample: Benchmark, sample_folder: Path
) -> None:
    rows = rows_of(sample_folder, sample, "CoLA")["train"]
    good = Counter(
        word for row in rows if row.label == "1" for word in set(row.inputs[0].lower()[:-1].split())
    )
    all_of_them = Counter(word for row in rows for word in set(row.inputs[0].lower()[:-1].split()))
    for word, count in all_of_them.items():
        if count >= 30:
            assert abs(good[word] / count - 0.7) < 4 * (0.7 * 0.3 / count) ** 0.5, word


def test_sentences_look_like_sentences(sample: Benchmark, sample_folder: Path) -> None:
    for task in sample.scored:
        for name, rows in rows_of(sample_folder, sample, task.name).items():
            for text in (text for row in rows for text in row.inputs):
                assert text == text.strip()
                assert "  " not in text
                assert not set("\t\n{}") & set(text)
                if (task.name, name) != ("SST-2", "train"):
                    assert text[0].isupper(), text
                    assert text[-1] in ".?", text
                    assert text[-2] not in ".?,;", text
                words = text.lower().split()
                for one, two in pairwise(words):
                    assert one != two or task.name == "CoLA", text
                    assert one != "a" or two[0] not in "aeio" or two.startswith("eu"), text


def test_an_example_is_a_frozen_record(sample: Benchmark, sample_folder: Path) -> None:
    example = load_split(sample_folder, sample, "MNLI", "train")[0]
    assert isinstance(example, Example)
    assert list(example.inputs) == ["premise", "hypothesis"]
