"""Benchmarks that were not used in the design: minimal pairs, multi-label tasks, soft labels, HANS."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from benchmark.family.hosting import host, table, values
from scipy.spatial.distance import cityblock, jensenshannon
from scipy.stats import wasserstein_distance
from sklearn.metrics import accuracy_score, f1_score, jaccard_score, log_loss  # noqa: TID251 the oracles

from gluebench import GoldError, check, load_benchmark, read_gold
from gluebench.benchmark import ManifestError

N = 60
RANDOM = Random(8)


def test_minimal_pairs_by_phenomenon(tmp_path: Path) -> None:
    """BLiMP: the gold answer is always the same; one plain file counts, and is reported by phenomenon too."""
    manifest = f"""
[tasks.BLiMP]
labels = ["good", "bad"]
metrics = [{{ name = "accuracy" }}]
splits.test.size = {N}
[tasks."BLiMP by phenomenon"]
scored = false
labels = ["good", "bad"]
metrics = [{{ name = "accuracy" }}]
splits.test.size = {N}
files = [{{ name = "BLiMP-phenomena", member = "BLiMP.tsv", column = "prediction" }}]
phenomena = {{ agreement = {{ anaphor = [], determiner = [] }} }}
"""
    answers = [RANDOM.choice(["good", "good", "bad"]) for _ in range(N)]
    gold = table(["index", "label"], range(N), ["good"] * N, separator="\t")
    kinds = ["anaphor" if at < 20 else "determiner" for at in range(N)]
    tags = table(["index", "coarse", "fine"], range(N), ["agreement"] * N, kinds, separator="\t")
    report = host(
        tmp_path,
        manifest,
        {"BLiMP.tsv": table(["index", "prediction"], range(N), answers, separator="\t")},
        {"BLiMP.tsv": gold, "BLiMP-phenomena.tsv": gold, "BLiMP-phenomena.phenomena.tsv": tags},
    )
    assert values(report) == {"BLiMP": {"accuracy": pytest.approx(answers.count("good") / N)}}
    diagnostic = report.diagnostics["BLiMP by phenomenon"]
    assert diagnostic is not None
    assert [score.value for score in diagnostic.fine.values()] == [
        pytest.approx(answers[:20].count("good") / 20),
        pytest.approx(answers[20:].count("good") / 40),
    ]


def test_sizes_of_russian_superglue() -> None:
    """As in dataset_infos.json of the hub's russian_super_glue, which counts the released files."""
    sizes = {task.name: task.splits["test"].size for task in load_benchmark("russian-superglue").scored}
    assert sizes == {
        "LiDiRus": 1104, "RCB": 438, "PARus": 500, "MuSeRC": 7614, "TERRa": 3198,
        "RUSSE": 18892, "RWSD": 154, "DaNetQA": 805, "RuCoS": 7257,
    }  # fmt: skip


WARNINGS = ["abuse", "blood", "death", "violence"]


def work_rows(ids: list[str], sets: list[list[str]]) -> str:
    rows = [json.dumps({"work_id": name, "labels": labels}) for name, labels in zip(ids, sets, strict=True)]
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("pattern", ["{}", "work-{}"])
def test_ids_that_the_manifest_does_not_list(tmp_path: Path, pattern: str) -> None:
    """PAN 2023 trigger detection: sets in JSON lines, with ids far above their number, in any order."""
    manifest = f"""
[tasks.Triggers]
form = "sets"
labels = {json.dumps(WARNINGS)}
metrics = [{{ name = "sets_macro_f1" }}, {{ name = "sets_micro_f1" }}, {{ name = "sets_accuracy" }}]
splits.test = {{ size = {N}, ids = "order" }}
files = [{{ name = "labels", member = "labels.jsonl", column = "labels" }}]
"""
    ids = [pattern.format(number) for number in RANDOM.sample(range(10**7), N)]
    gold, given = ([[word for word in WARNINGS if RANDOM.random() < 0.4] for _ in ids] for _ in range(2))
    order = RANDOM.sample(range(N), N)
    shuffled = work_rows([ids[at] for at in order], [given[at] for at in order])
    report = host(tmp_path, manifest, {"labels.jsonl": shuffled}, {"labels.jsonl": work_rows(ids, gold)})
    columns = [[[word in labels for word in WARNINGS] for labels in of] for of in (gold, given)]
    assert values(report)["Triggers"] == {
        "sets_macro_f1": pytest.approx(f1_score(*columns, average="macro")),
        "sets_micro_f1": pytest.approx(f1_score(*columns, average="micro")),
        "sets_accuracy": pytest.approx(accuracy_score(*columns)),
    }
    (tmp_path / "twice").mkdir()
    (tmp_path / "twice" / "labels.jsonl").write_text(work_rows([*ids[1:], ids[1]], given))
    checked = check(tmp_path / "twice", tmp_path / "shared-task.toml")
    expected = [f"expected each id once, and {ids[1]} is there 2 times"]
    assert [problem.expected for problem in checked.errors] == expected


def test_labels_as_the_data_of_superglue_have_them(tmp_path: Path) -> None:
    """WSC's labels are booleans; ReCoRD's answers are inside passages, beside entities without ids."""
    manifest = """
[tasks.WSC]
labels = ["True", "False"]
metrics = [{ name = "accuracy" }]
splits.test.size = 4
files = [{ member = "WSC.jsonl", column = "label" }]
[tasks.ReCoRD]
form = "text"
metrics = [{ name = "exact_match" }]
splits.test.size = 3
files = [{ member = "ReCoRD.jsonl", column = "label" }]
"""

    def lines(rows: list[dict[str, Any]]) -> str:
        return "".join(f"{json.dumps(row)}\n" for row in rows)

    def passage(number: int, *queries: tuple[int, list[str]]) -> dict[str, Any]:
        qas = [
            {"query": "q", "answers": [{"start": 1, "end": 4, "text": text} for text in texts], "idx": index}
            for index, texts in queries
        ]
        entities = [{"start": 3, "end": 5}, {"start": 7, "end": 9}]
        return {"source": "s", "passage": {"text": "t", "entities": entities}, "qas": qas, "idx": number}

    booleans = [True, False, False, True]
    report = host(
        tmp_path,
        manifest,
        {
            "WSC.jsonl": lines([{"idx": at, "label": at < 2} for at in range(4)]),
            "ReCoRD.jsonl": lines([{"idx": at, "label": name} for at, name in enumerate("abc")]),
        },
        {
            "WSC.jsonl": lines(
                [{"text": "t", "idx": at, "label": label} for at, label in enumerate(booleans)]
            ),
            "ReCoRD.jsonl": lines([passage(0, (0, ["x", "a"]), (1, ["c"])), passage(1, (2, ["c"]))]),
        },
    )
    assert values(report) == {"WSC": {"accuracy": 0.5}, "ReCoRD": {"exact_match": pytest.approx(2 / 3)}}


def test_hans_by_subcase(tmp_path: Path) -> None:
    """Commas in a .txt, other words for a label, other letter case in gold's header, tags by id."""
    task = f"""
labels = ["entailment", "non-entailment"]
label_synonyms = {{ neutral = "non-entailment", contradiction = "non-entailment" }}
metrics = [{{ name = "accuracy" }}]
splits.test = {{ size = {N}, ids = "ex{{}}" }}
"""
    manifest = f"""
[tasks.HANS]{task}
files = [{{ name = "hans", member = "preds.txt", column = "gold_label" }}]
[tasks.Subcases]{task}
scored = false
metadata = ["subcase"]
files = [{{ name = "subcases", member = "preds.txt", column = "gold_label" }}]
"""
    ids = [f"ex{at}" for at in range(N)]
    words = ["entailment", "neutral", "contradiction"]
    given = [RANDOM.choice(words) for _ in ids]
    gold = [RANDOM.choice(["entailment", "non-entailment"]) for _ in ids]
    labels = table(["pairID", "Gold_Label"], ids, gold)
    kinds = [f"sn_{at % 3}" for at in range(N)]
    files = {"hans.csv": labels, "subcases.csv": labels}
    files["subcases.metadata.tsv"] = table(["id", "subcase"], ids, kinds, separator="\t")
    report = host(tmp_path, manifest, {"preds.txt": table(["pairID", "gold_label"], ids, given)}, files)
    right = [
        (word == "entailment") == (label == "entailment") for word, label in zip(given, gold, strict=True)
    ]
    assert values(report) == {"HANS": {"accuracy": pytest.approx(sum(right) / N)}}
    diagnostic = report.diagnostics["Subcases"]
    assert diagnostic is not None
    scores = {name: score.value for name, score in diagnostic.metadata["subcase"].items()}
    assert scores == {f"sn_{at}": pytest.approx(sum(right[at::3]) / 20) for at in range(3)}
    tags = tmp_path / "gold" / "subcases.metadata.tsv"
    tags.write_text(tags.read_text().replace("ex7\t", "ex70\t"))
    with pytest.raises(
        GoldError, match=r"metadata\.tsv:9: unknown-id: found 'ex70'; expected an id of the split"
    ):
        read_gold(tmp_path / "gold", tmp_path / "shared-task.toml")


def test_advglue_says_which_gold_it_reads(tmp_path: Path) -> None:
    with pytest.raises(GoldError, match=r"at least one of SST-2.tsv, dev.json, QQP.tsv"):
        read_gold(tmp_path, "advglue")


EMOTIONS = ["anger", "fear", "joy"]


def test_a_column_for_each_label(tmp_path: Path) -> None:
    """SemEval-2025 task 11 (0/1 columns, in other letter case), GermEval 2024 and Kaggle (shares)."""
    manifest = f"""
[tasks.A]
form = "sets"
labels = {json.dumps(EMOTIONS)}
metrics = [{{ name = "sets_macro_f1" }}, {{ name = "sets_jaccard" }}]
splits.test = {{ size = {N}, ids = {json.dumps([*range(100, 100 + N)])} }}
files = [{{ name = "a", member = "pred_eng.csv", columns = {json.dumps(EMOTIONS)} }}]
[tasks.Shares]
weight = 0
form = "distributions"
labels = {json.dumps(EMOTIONS)}
metrics = [{{ name = "neg_jensen_shannon" }}]
splits.test.size = {N}
files = [{{ name = "shares", member = "run.tsv", columns = ["share_1", "share_2", "share_3"] }}]
[tasks.Winner]
weight = 0
form = "probabilities"
labels = {json.dumps(EMOTIONS)}
metrics = [{{ name = "neg_log_loss" }}]
splits.test.size = {N}
files = [{{ name = "winner", member = "winner.csv", columns = ["1", "2", "3"] }}]
"""
    rng = np.random.default_rng(3)
    gold, given = rng.integers(0, 2, (2, N, 3))
    left, right, probable = (rng.dirichlet([1, 1, 1], N) for _ in range(3))
    winners = rng.integers(0, 3, N)
    upper, names = ["ID", *map(str.title, EMOTIONS)], ["index", "share_1", "share_2", "share_3"]
    report = host(
        tmp_path,
        manifest,
        {
            "pred_eng.csv": table(upper, range(100, 100 + N), *given.T),
            "run.tsv": table(names, range(N), *right.T, separator="\t"),
            "winner.csv": table(["id", "1", "2", "3"], range(N), *probable.T),
        },
        {
            "a.csv": table(["id", "text", *EMOTIONS], range(100, 100 + N), ["t,\nt"] * N, *gold.T),
            "shares.tsv": table(names, range(N), *left.T, separator="\t"),
            "winner.csv": table(["id", "1", "2", "3"], range(N), *np.eye(3, dtype=int)[winners].T),
        },
    )
    divergence = np.mean([jensenshannon(*rows, base=2) for rows in zip(left, right, strict=True)])
    assert values(report) == {
        "A": {
            "sets_macro_f1": pytest.approx(f1_score(gold, given, average="macro")),
            "sets_jaccard": pytest.approx(jaccard_score(gold, given, average="samples", zero_division=1)),
        },
        "Shares": {"neg_jensen_shannon": pytest.approx(-divergence)},
        "Winner": {"neg_log_loss": pytest.approx(-log_loss(winners, probable, labels=[0, 1, 2]))},
    }
    file = tmp_path / "submission" / "pred_eng.csv"
    rows = file.read_text().splitlines()
    for text, line, expected in (
        ("\n".join([*rows[:2], "102,0,1,2", *rows[3:]]), 3, "expected 0 or 1 for each label, not '2'"),
        (
            file.read_text().replace("Joy", "Mirth"),
            1,
            "the columns anger, fear, joy, not 'ID, Anger, Fear, Mirth'",
        ),
    ):
        file.write_text(text)
        (problem,) = check(file, tmp_path / "shared-task.toml").errors
        assert (problem.code, problem.line) == ("shape", line)
        assert expected in problem.expected


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ('columns = ["a", "b"], column = "c"', "files[0].columns: expected the columns of a table, one"),
        ('columns = ["a"]', "files[0].columns: expected the columns of a table, one"),
        ('member = "x/y.csv"', 'files[0].member: "x/y.csv" is a path; expected the name of a file'),
        ('test = "test" }]\nsplits.test = { size = 2, ids = "x" }\n#', 'test.ids: "x" is not a pattern'),
    ],
)
def test_what_a_manifest_cannot_say(tmp_path: Path, changed: str, found: str) -> None:
    (tmp_path / "m.toml").write_text(
        f'[benchmark]\nname = "m"\n[tasks.T]\nform = "sets"\nlabels = ["a", "b"]\n'
        f'metrics = [{{ name = "sets_jaccard" }}]\n'
        f'splits.other.size = 2\nfiles = [{{ name = "f", {changed} }}]\n'
    )
    with pytest.raises(ManifestError, match=re.escape(found)):
        load_benchmark(tmp_path / "m.toml")


def test_soft_labels_in_tables_without_a_header(tmp_path: Path) -> None:
    """LeWiDi 2025: an id and a list in each line; gold is one object of ids to objects, rounded."""
    manifest = f"""
[tasks.Sarcasm]
form = "distributions"
exclusive = false
labels = ["1", "2", "3"]
metrics = [{{ name = "neg_wasserstein" }}, {{ name = "neg_manhattan" }}]
splits.test = {{ size = {N}, ids = "{{}}", first_id = 70 }}
files = [{{ name = "CSC", member = "CSC_test_soft.tsv", column = "2" }}]
"""
    rng = np.random.default_rng(5)
    gold, given = np.round(rng.dirichlet([1, 1, 1], N), 2), rng.dirichlet([1, 1, 1], N)
    lines = "".join(f"{70 + at}\t{json.dumps([*row])}\n" for at, row in enumerate(given))
    rows = {
        70 + at: {"lang": "en", "soft": dict(zip("123", row, strict=True))} for at, row in enumerate(gold)
    }
    answers = {"CSC_test_soft.tsv": lines}
    report = host(tmp_path, manifest, answers, {"CSC.tsv": "id\tlabel\n" + lines})
    assert values(report)["Sarcasm"] == {"neg_wasserstein": 0.0, "neg_manhattan": 0.0}
    (tmp_path / "named").mkdir()
    named = {"CSC_test_soft.tsv": f"id\tsoft\n{lines}"}
    report = host(
        tmp_path / "named", manifest.replace('"2" }', '"soft" }'), named, {"CSC.json": json.dumps(rows)}
    )
    pairs = [*zip(gold, given, strict=True)]
    assert values(report)["Sarcasm"] == {
        "neg_wasserstein": pytest.approx(
            -np.mean([wasserstein_distance(range(3), range(3), *row) for row in pairs])
        ),
        "neg_manhattan": pytest.approx(-np.mean([cityblock(*row) for row in pairs])),
    }


@pytest.mark.parametrize(
    ("gold", "content"),
    [
        (
            'file = "l.csv", columns = { label = "target", id = "nr" }',
            'nr,target,text\n1,b,"x,y"\n0,a,"""z"""\n',
        ),
        (
            'file = "l.jsonl", columns = { label = "target" }',
            '{"id": 1, "target": "b"}\n{"id": 0, "target": "a"}\n',
        ),
        ('file = "l.tsv"', "index\tlabel\n0\ta\n1\tb\n"),
    ],
)
def test_labels_of_another_shape_than_the_predictions(tmp_path: Path, gold: str, content: str) -> None:
    manifest = f"""
[tasks.T]
labels = ["a", "b"]
metrics = [{{ name = "accuracy" }}]
splits.test.size = 2
files = [{{ gold = {{ {gold} }} }}]
"""
    submission = {"T.tsv": "index\tprediction\n0\tb\n1\tb\n"}
    name = gold.split('"')[1]
    assert values(host(tmp_path, manifest, submission, {name: content})) == {"T": {"accuracy": 0.5}}
