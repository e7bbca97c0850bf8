"""Results of other harnesses, each format in a file or two made here, and how files are joined."""

from __future__ import annotations

import gzip
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest
from result_files import document, lines, text

from gluebench import DataError, ScoredTable, UnknownNameError, read_results, write_table


def sample(number: int, right: int, **others: Any) -> dict[str, Any]:
    """A line of lm-evaluation-harness."""
    row = {"doc_id": number, "doc": {"q": f"q{number}"}, "filter": "none", "metrics": ["acc"], "acc": right}
    return {**row, "doc_hash": f"hash of q{number}", **others}


# ---------------------------------------------------------------- lm-evaluation-harness


def test_samples_are_joined_by_document_whatever_their_order(tmp_path: Path) -> None:
    name = "samples_cola_2026-11-22T10-00-00.123456.jsonl"
    rows = [sample(number, number % 2) for number in range(40)]
    a = lines(tmp_path / "acme__a" / name, rows)
    random.Random(1).shuffle(rows)
    b = lines(tmp_path / "acme__b" / name, [{**row, "acc": 1 - row["acc"]} for row in rows[:30]])
    table = read_results([a, b])
    assert table.systems == ("acme__a", "acme__b")
    assert set(table.tasks or ()) == {"cola"}
    assert len(table.items) == 30
    assert all(x + y == 1 for x, y in zip(*table.scores.values(), strict=True)), "by id, not by line"
    lacking = [str(number) for number in range(40) if str(number) not in table.items]
    assert table.notes == (
        f"acme__a, cola: 10 of 40 items are not in all files with the same text, left out: "
        f"{', '.join(lacking[:3])}, ...",
    )


def test_documents_whose_ids_differ_match_by_their_text(tmp_path: Path) -> None:
    rows = [sample(number, number % 3 == 0) for number in range(9)]
    a = lines(tmp_path / "a.jsonl", rows)
    b = lines(tmp_path / "b.jsonl", [{**row, "doc_id": 8 - number} for number, row in enumerate(rows)])
    table = read_results([a, b])
    assert table.scores["a"] == table.scores["b"]
    assert table.notes == ("8 items have other ids in other files; they are matched by their text",)


def test_one_id_with_two_texts_is_not_one_item(tmp_path: Path) -> None:
    a = lines(tmp_path / "a.jsonl", [sample(0, 1), sample(1, 1)])
    b = lines(tmp_path / "b.jsonl", [sample(0, 1), sample(1, 1, doc_hash="another")])
    table = read_results([a, b])
    assert table.items == ("0",)
    assert table.notes[0] == "a: 1 of 2 items are not in all files with the same text, left out: 1"
    lines(tmp_path / "b.jsonl", [sample(0, 1, doc_hash="x"), sample(1, 1, doc_hash="y")])
    with pytest.raises(DataError, match=r"no item is in the files of all systems\n.*left out: 0, 1"):
        read_results([a, b])


def test_filters_of_a_document_are_a_cluster_and_one_can_be_kept(tmp_path: Path) -> None:
    rows = [
        sample(number, number % 2 if filtered == "strict" else 1, filter=filtered)
        for number in range(5)
        for filtered in ("strict", "flexible")
    ]
    a = lines(tmp_path / "a.jsonl", rows)
    table = read_results(a)
    assert len(table.items) == 10
    assert len(set(table.clusters or ())) == 5
    assert set(table.categories["filter"]) == {"strict", "flexible"}
    assert read_results(a, only={"filter": "strict"}).scores == {"a": (0, 1, 0, 1, 0)}
    with pytest.raises(DataError, match="no item has filter=loose; expected one of strict, flexible"):
        read_results(a, only={"filter": "loose"})
    with pytest.raises(DataError, match="a: the log has no column mode; expected one of filter"):
        read_results(a, only={"mode": "loose"})


def test_several_metrics_ask_for_a_choice(tmp_path: Path) -> None:
    rows = [{**sample(0, 1), "metrics": ["bleu", "chrf"], "bleu": 31.5, "chrf": 50.0}]
    a = lines(tmp_path / "a.jsonl", rows)
    with pytest.raises(DataError, match="its metrics are bleu, chrf; choose one with --metric"):
        read_results(a)
    with pytest.raises(UnknownNameError, match="chrf"):
        read_results(a, metric="chr")
    table = read_results(a, metric="bleu")
    assert table.scores["a"] == (31.5,)
    assert "--scale 100" in table.notes[0]
    assert read_results(a, metric="bleu", scale=100).scores["a"] == (0.315,)


# ---------------------------------------------------------------- inspect_ai


def inspect_document(values: list[Any], **others: Any) -> dict[str, Any]:
    samples = [
        {"id": at, "epoch": 1, "input": f"q{at}", "scores": {"match": {"value": value}}}
        for at, value in enumerate(values)
    ]
    return {
        "version": 2,
        "status": "success",
        "eval": {"model": "m", "task": "t"},
        "samples": samples,
        **others,
    }


def test_grades_of_inspect_and_samples_with_an_error(tmp_path: Path) -> None:
    log = inspect_document(["C", "I", "P", "N", True, 0.25])
    log["samples"].append({"id": 6, "epoch": 1, "input": "q6", "error": {"message": "timeout"}})
    table = read_results(document(tmp_path / "log.json", {**log, "status": "error"}))
    assert table.scores == {"m": (1, 0, 0.5, 0, 1, 0.25)}
    assert table.notes[0] == "log.json: 1 item with an error, left out: 6"
    assert "status of this log is error" in table.notes[1]


def test_epochs_are_a_cluster_and_an_archive_reads_as_a_document(tmp_path: Path) -> None:
    log = inspect_document(["C", "I", "C"])
    log["samples"] += [{**each, "epoch": 2} for each in log["samples"]]
    table = read_results(document(tmp_path / "log.json", log))
    assert table.items[3] == "0 epoch 2"
    assert table.clusters == ("0", "1", "2", "0", "1", "2")
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({**log, "samples": None}))
        for each in log["samples"]:
            archive.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
    archived = read_results(tmp_path / "log.eval", name="log")
    assert archived == table


DAMAGED = {"log.eval": b"PK no zip", "t.parquet": b"PAR1", "t.csv.gz": gzip.compress(b"item,a\n1,1\n")[:-9]}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_refused(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    (tmp_path / name).write_bytes(DAMAGED[name])
    with pytest.raises(DataError, match=f"{name}: .*damaged"):
        read_results(tmp_path / name)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            {"eval": {"model": "m", "task": "t"}, "samples": [{"epoch": 1, "scores": {"s": {"value": 1}}}]},
            "'id'",
        ),
        (
            {"eval": {"model": "m", "task": "t"}, "samples": [{"id": 1, "scores": {"s": 3}}]},
            "scores: {SCORER",
        ),
        ({"mteb_version": "2", "scores": [{"main_score": 0.5}]}, "expected {task_name, scores: .* of MTEB"),
        ({"mteb_version": "2", "scores": {"test": [0.5]}}, "expected {task_name, scores: .* of MTEB"),
        ({"eval": {"model": "m", "task": "t"}, "samples": []}, "expected samples"),
        ({"evaluation_results": [{"evaluation_name": "t"}]}, "'metric_config'"),
    ],
)
def test_a_document_that_lacks_something_says_what(tmp_path: Path, content: Any, problem: str) -> None:
    with pytest.raises(DataError, match=f"log.json: .*{problem}"):
        read_results(document(tmp_path / "log.json", content))


# ---------------------------------------------------------------- HELM, SWE-bench, MTEB, Every Eval Ever


def test_perturbations_of_helm_are_a_cluster(tmp_path: Path) -> None:
    def stat(value: float, **about: Any) -> dict[str, Any]:
        return {"name": {"name": "exact_match", "split": "test", **about}, "count": 2, "sum": 2 * value}

    typos = {"perturbation": {"name": "typos"}}
    instances = [
        {
            "instance_id": "id1",
            "train_trial_index": 0,
            "stats": [stat(1.0), stat(0.0, perturbation={"name": "w"})],
        },
        {"instance_id": "id1", "train_trial_index": 0, **typos, "stats": [stat(0.5, **typos)]},
        {"instance_id": "id2", "train_trial_index": 0, "stats": []},
    ]
    folder = tmp_path / "mmlu:subject=law,model=acme_tiny"
    table = read_results(document(folder / "per_instance_stats.json", instances))
    assert table.scores == {"acme_tiny": (1.0, 0.5)}
    assert set(table.tasks or ()) == {"mmlu:subject=law"}
    assert table.clusters == ("id1", "id1")
    assert table.categories["perturbation"] == ("none", "typos")
    assert "1 item without exact_match, left out: id2" in table.notes[0]


def test_swe_bench_needs_the_list_of_all_issues(tmp_path: Path) -> None:
    results = document(
        tmp_path / "agent" / "results" / "results.json", {"no_logs": [], "resolved": ["django-1"]}
    )
    with pytest.raises(DataError, match="expected the list of all ids"):
        read_results(results)
    ids = text(tmp_path / "ids.txt", "django-1\ndjango-2\nsympy-7\n")
    table = read_results(results, ids=ids)
    assert dict(zip(table.items, table.scores["agent"], strict=True)) == {
        "django-1": 1,
        "django-2": 0,
        "sympy-7": 0,
    }
    assert table.categories["repository"] == ("django", "django", "sympy")
    document(tmp_path / "ids.json", ["django-2"])
    with pytest.raises(DataError, match="1 resolved ids are not in the list of all: django-1"):
        read_results(results, ids=tmp_path / "ids.json")
    report = {"total_instances": 2, "resolved_ids": ["a-1"], "unresolved_ids": ["a-2"], "schema_version": 2}
    assert read_results(document(tmp_path / "m.run.json", report)).scores == {"m.run": (1, 0)}


def test_tasks_of_mteb_without_a_test_split_and_of_a_numbered_revision(tmp_path: Path) -> None:
    scores = {split: [{"main_score": score}] for split, score in (("dermatology", 0.2), ("genetics", 0.5))}
    result = {"task_name": "CURE", "mteb_version": None, "scores": scores}
    path = document(tmp_path / "acme__tiny" / "1" / "CURE.json", result)
    assert read_results(path).scores == {"acme__tiny": (pytest.approx(0.35),)}
    with pytest.raises(DataError, match="CURE: left out of acme__tiny, without a ndcg from -1 to 1"):
        read_results(path, metric="ndcg")


def test_tasks_of_mteb_are_the_rows(tmp_path: Path) -> None:
    for model, shift in (("a", 0.0), ("b", 0.1)):
        for task, scores in {"STS12": [0.5], "Massive": [0.2, 0.4]}.items():
            subsets = [
                {"hf_subset": f"s{at}", "main_score": score + shift} for at, score in enumerate(scores)
            ]
            result = {
                "task_name": task,
                "mteb_version": "2.26",
                "dataset_revision": "r",
                "scores": {"test": subsets},
            }
            document(tmp_path / model / ("0" * 40) / f"{task}.json", result)
        document(tmp_path / model / ("0" * 40) / "model_meta.json", {"name": model})
    table = read_results([tmp_path / "a", tmp_path / "b"])
    assert table.unit == "tasks"
    assert table.items == ("Massive", "STS12")
    assert table.scores["b"] == pytest.approx((0.4, 0.6))
    assert "over tasks" in table.gold.scope


EEE = {"schema_version": "0.3.0", "evaluation_id": "e", "model_id": "acme/tiny", "evaluation_name": "RTE"}


def test_instances_and_aggregates_of_every_eval_ever(tmp_path: Path) -> None:
    rows = [
        {**EEE, "sample_id": str(at), "evaluation_result_id": f"rte.{metric}", "input": {"raw": ""}}
        | {"evaluation": {"score": score, "is_correct": score > 0.5}}
        for metric, scores in {"accuracy": (1.0, 0.0), "length": (7.0, 9.0)}.items()
        for at, score in enumerate(scores)
    ]
    assert read_results(lines(tmp_path / "x_samples.jsonl", rows)).scores == {"acme/tiny": (1.0, 0.0)}
    assert read_results(tmp_path, metric="rte.length", scale=10).scores == {"acme/tiny": (0.7, 0.9)}

    def result(name: str, score: float, lower: bool = False) -> dict[str, Any]:
        return {
            "evaluation_name": name,
            "metric_config": {"lower_is_better": lower},
            "score_details": {"score": score},
        }

    results = [result("RTE", 0.7), result("CoLA", 0.4), result("perplexity", 12.0, lower=True)]
    record = {"schema_version": "0.3.0", "model_info": {"id": "acme/tiny"}, "evaluation_results": results}
    table = read_results(document(tmp_path / "aggregate.json", record))
    assert (table.unit, table.items, table.scores) == ("tasks", ("RTE", "CoLA"), {"acme/tiny": (0.7, 0.4)})
    assert "where lower is better, left out: perplexity" in table.notes[0]


# ---------------------------------------------------------------- labels and predictions


def test_superglue_predictions_nested_or_not(tmp_path: Path) -> None:
    gold = lines(tmp_path / "val.jsonl", [{"idx": at, "question": "?", "label": at == 1} for at in range(3)])
    predicted = [{"idx": 2, "label": "false"}, {"idx": 0, "label": "true"}, {"idx": 1, "label": "true"}]
    table = read_results(lines(tmp_path / "BoolQ.jsonl", predicted), gold=gold)
    assert dict(zip(table.items, table.scores["BoolQ"], strict=True)) == {"0": 0, "1": 1, "2": 1}
    assert table.categories["gold"] == ("false", "false", "true")

    def passage(*labels: int) -> dict[str, Any]:
        answers = [{"idx": at, "label": label} for at, label in enumerate(labels)]
        return {"idx": 4, "passage": {"questions": [{"idx": 0, "answers": answers}]}}

    lines(gold, [passage(0, 1)])
    multirc = read_results(lines(tmp_path / "MultiRC.jsonl", [passage(1, 1)]), gold=gold)
    assert multirc.scores == {"MultiRC": (0.0, 1.0)}
    assert multirc.clusters == ("4", "4")
    lines(gold, [{"idx": 0, "qas": [{"idx": 9, "answers": [{"text": "Bonn"}, {"text": "the city"}]}]}])
    record = read_results(lines(tmp_path / "ReCoRD.jsonl", [{"idx": 9, "label": "the city"}]), gold=gold)
    assert record.scores == {"ReCoRD": (1.0,)}
    with pytest.raises(DataError, match="whose gold labels are needed"):
        read_results(tmp_path / "ReCoRD.jsonl")


def test_a_kaggle_solution_with_public_private_and_ignored_rows(tmp_path: Path) -> None:
    solution = "Id,Survived,Usage\nx,1,Public\ny,0,Private\nz,1,Ignored\nw,1,Private\n"
    gold = text(tmp_path / "solution.csv", solution)
    a = text(tmp_path / "a.csv", "Id,Survived\nw,1\nz,0\ny,1\nx,1\n")
    b = text(tmp_path / "b.csv", "Id,Survived\nx,0\ny,0\nz,1\nw,1\n")
    table = read_results([a, b], gold=gold)
    assert dict(zip(table.items, table.scores["a"], strict=True)) == {"w": 1, "y": 0, "x": 1}
    assert dict(zip(table.items, table.scores["b"], strict=True)) == {"w": 1, "y": 1, "x": 0}
    private = read_results([a, b], gold=gold, only={"usage": "Private"})
    assert set(private.items) == {"w", "y"}
    text(gold, "Id,price\nx,1.5\ny,2\n")
    with pytest.raises(DataError, match="numbers, not labels"):
        read_results(a, gold=gold)


# ---------------------------------------------------------------- tables


def test_wide_and_long_tables_are_one(tmp_path: Path) -> None:
    wide = text(
        tmp_path / "w.csv", "item,cluster,category,a,b\n1,x,short,1,0\n2,x,long,right,1\n3,y,long,0,\n"
    )
    table = read_results(wide, name="t")
    assert table.scores == {"a": (1, 1), "b": (0, 1)}
    assert table.clusters == ("x", "x")
    assert table.categories == {"category": ("short", "long")}
    assert len(table.notes) == 2
    rows = [("1", "x", "short", "b", "0"), ("1", "x", "short", "a", "1"), ("3", "y", "long", "a", "0")]
    rows += [("2", "x", "long", "a", "1"), ("2", "x", "long", "b", "1")]
    content = "\n".join("\t".join(row) for row in [("item", "cluster", "category", "system", "score"), *rows])
    long = read_results(text(tmp_path / "l.tsv", content), name="t")
    order = [long.items.index(item) for item in table.items]
    assert {name: tuple(own[at] for at in order) for name, own in long.scores.items()} == table.scores


def test_labels_beside_gold_in_one_table(tmp_path: Path) -> None:
    table = read_results(text(tmp_path / "w.csv", "id,gold,a,b\n1,yes,yes,no\n2,no,no,no\n3,no,maybe,no\n"))
    assert table.scores == {"a": (1, 1, 0), "b": (0, 1, 1)}
    assert table.categories == {"gold": ("yes", "no", "no")}
    assert "no gold label is like them: maybe (1 times)." in table.notes[0]
    again = read_results(tmp_path / "w.csv", synonyms={"maybe": "no"})
    assert again.scores["a"] == (1, 1, 1)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("item,a\n1,1\n1,0\n", "w.csv: item 1 has two scores of system a; expected one"),
        ("item,system,score\n1,a,1\n1,a,0\n", "w.csv: item 1 has two scores of system a; expected one"),
        ("item,a,b,a\n1,1,0,1\n", 'w.csv:1: 2 columns are called "a"; expected different names'),
        ("item;a;b\n\n1;1;0\n2;x;0\n", "w.csv:4: 'x' as the score of a"),
        (
            "item,a\n1,yes\n",
            "w.csv:2: 'yes' as the score of a; expected a number up to 1e50, or right or wrong",
        ),
        ("item,a\n1,1e300\n", "w.csv:2: '1e300' as the score of a; expected a number up to 1e50, or right"),
        ("item,a\n1,nan\n", "w.csv:2: 'nan' as the score"),
        ("text,a\n" + "x" * 99 + ",1\n" + "x" * 99 + ",0\n", r"item x{60}\.\.\. has .* by the column text"),
        ("item,a\n1\n", "w.csv:2: 1 columns, expected 2 as in the header"),
        ("item\n1\n", "w.csv:1: expected several columns, separated by commas, semicolons or tabs"),
        ("item,category\n1,x\n", "expected a column for each system"),
        ("item,a,b\n1,1,\n2,,1\n", "no item is in the files of all systems"),
    ],
)
def test_a_wrong_table_says_where_and_what(tmp_path: Path, content: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        read_results(text(tmp_path / "w.csv", content))


def test_the_system_without_a_score_is_named(tmp_path: Path) -> None:
    table = read_results(text(tmp_path / "w.csv", "task,a,b,c\nt1,1,1,0\nt2,1,0,\nt3,0,0,1\n"))
    assert table.notes[-1] == "c: no score for 1 of 3 tasks, left out for all systems: t2"
    assert not any(note.startswith(("a:", "b:")) for note in table.notes)


def test_a_table_is_written_and_read_again(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = ScoredTable(
        "t",
        ("1", "2", "1"),
        {"a, or so": (1 / 3, 0.0, 1.0), "b": (0.1, 1e-9, 2.0)},
        tasks=("x", "x", "y"),
        clusters=("p", "p", "q"),
        categories={"length": ("short", "long", "long")},
    )
    for suffix in (".csv", ".tsv", ".parquet"):
        write_table(table, tmp_path / f"t{suffix}")
        again = read_results(tmp_path / f"t{suffix}")
        assert (again.items, again.tasks, again.clusters) == (table.items, table.tasks, table.clusters)
        assert again.scores == table.scores, "to the last bit"
        assert again.categories == table.categories
    means = read_results(tmp_path / "t.csv", over="tasks")
    write_table(means, tmp_path / "tasks.csv")
    assert read_results(tmp_path / "tasks.csv", name="t").scores == means.scores
    assert read_results(tmp_path / "tasks.csv").unit == "tasks"
    with pytest.raises(DataError, match=r"ends in .csv, .tsv or .parquet"):
        write_table(table, tmp_path / "t.xlsx")
    with pytest.raises(DataError, match="a system is named gold"):
        write_table(ScoredTable("t", ("1",), {"gold": (1.0,)}), tmp_path / "t.csv")


def test_files_that_are_not_results_are_refused(tmp_path: Path) -> None:
    averages = document(tmp_path / "results.json", {"results": {}, "lm_eval_version": "0.4.13"})
    with pytest.raises(DataError, match=r"expected the samples_\*.jsonl beside it"):
        read_results(averages)
    with pytest.raises(DataError, match="its format is not known"):
        read_results(document(tmp_path / "other.json", {"a": 1}))
    with pytest.raises(DataError, match=r"x.jsonl:2: not JSON"):
        read_results(text(tmp_path / "x.jsonl", "{}\n{\n"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no file of results in this folder"):
        read_results(tmp_path / "empty")
    a = lines(tmp_path / "a.jsonl", [sample(0, 1)])
    with pytest.raises(DataError, match="a is in two files"):
        read_results([a, a])
