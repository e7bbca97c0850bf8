"""Shared tasks by form of answer and shape of file: ids, JSON lines, tokens, sets with two golds, spans."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from uuid import UUID

import pytest
from benchmark.family.hosting import host, table, values
from sklearn.metrics import (  # noqa: TID251 the oracles
    accuracy_score,
    f1_score,
    matthews_corrcoef,
    precision_recall_fscore_support,
)

from gluebench import check, load_benchmark

N = 50
RANDOM = Random(11)


def drawn(words: list[str], count: int = N) -> list[str]:
    return [RANDOM.choice(words) for _ in range(count)]


def test_hate_in_three_languages(tmp_path: Path) -> None:
    """HASOC 2023 task 4: a CSV and a board for each language."""
    languages, words = ["Assamese", "Bengali", "Bodo"], ["HOF", "NOT"]
    manifest = "".join(
        f"""
[tasks.{language}]
labels = ["NOT", "HOF"]
metrics = [{{ name = "macro_f1" }}]
splits.test = {{ size = {N}, ids = "{{}}", first_id = 1 }}
[[tasks.{language}.files]]
member = "{language}.csv"
column = "task_1"
id = "S. No."
gold.file = "{language}_gold.csv"
"""
        for language in languages
    )
    gold, given = ({language: drawn(words) for language in languages} for _ in range(2))
    report = host(
        tmp_path,
        manifest,
        {
            f"{language}.csv": table(["S. No.", "task_1"], range(1, N + 1), given[language])
            for language in languages
        },
        {
            f"{language}_gold.csv": table(
                ["S. No.", "text", "task_1"], range(1, N + 1), ['a "b", c'] * N, gold[language]
            )
            for language in languages
        },
    )
    assert values(report) == {
        language: {"macro_f1": pytest.approx(f1_score(gold[language], given[language], average="macro"))}
        for language in languages
    }


def test_subjectivity_with_random_ids(tmp_path: Path) -> None:
    """CheckThat! 2025 task 1: UUIDs as ids, in any order; a file for each of nine languages."""
    languages = ["arabic", "bulgarian", "english", "german", "greek", "italian", "polish", "romanian", "all"]
    ids = [str(UUID(int=RANDOM.getrandbits(128))) for _ in range(N)]
    metrics = ", ".join(
        ['{ name = "macro_f1" }']
        + [f'{{ name = "{name}", positive = "SUBJ" }}' for name in ("precision", "recall", "f1")]
    )
    manifest = "".join(
        f"""
[tasks.{language}]
labels = ["OBJ", "SUBJ"]
metrics = [{metrics}]
splits.test = {{ size = {N}, ids = {ids} }}
[[tasks.{language}.files]]
member = "subtask_{language}.tsv"
column = "label"
gold.file = "test_{language}_labeled.tsv"
"""
        for language in languages
    )
    gold, given = ({language: drawn(["OBJ", "SUBJ"]) for language in languages} for _ in range(2))
    order = RANDOM.sample(range(N), N)
    report = host(
        tmp_path,
        manifest,
        {
            f"subtask_{language}.tsv": table(
                ["sentence_id", "label"],
                *([column[at] for at in order] for column in (ids, given[language])),
                separator="\t",
            )
            for language in languages
        },
        {
            f"test_{language}_labeled.tsv": table(
                ["sentence_id", "sentence", "label", "solved_conflict"],
                *(ids, ['"a', *["b"] * (N - 1)], gold[language], ["True", "False"] * (N // 2)),
                separator="\t",
            )
            for language in languages
        },
    )
    for language in languages:
        precision, recall, f1, _ = precision_recall_fscore_support(
            gold[language], given[language], average="binary", pos_label="SUBJ"
        )
        macro = f1_score(gold[language], given[language], average="macro")
        assert values(report)[language] == pytest.approx(
            {"macro_f1": macro, "precision": precision, "recall": recall, "f1": f1}
        )


def test_entities_in_token_files_of_three_domains(tmp_path: Path) -> None:
    """EVALITA 2023 NERMuD: F1 of tokens without B- and I-, one domain with a single ORG.

    dhfbk/KIND @ a2ad139171ef7fde0dff0f8ea94d18356340ada9, evalita-2023; its test files are read the same way.
    """
    types, domains = ["LOC", "ORG", "PER"], ["WN", "FIC", "ADG"]
    tags = ["O", *(f"{prefix}-{kind}" for kind in types for prefix in "BI")]
    manifest = "".join(
        f"""
[tasks.{domain}]
form = "tokens"
labels = {tags}
metrics = [{{ name = "token_macro_f1" }}]
splits.test = {{ size = 12, ids = "order" }}
files = [{{ member = "{domain}.tsv", gold.file = "{domain}_test.tsv" }}]
"""
        for domain in domains
    )
    lengths = [RANDOM.randint(1, 9) for _ in range(12)]
    gold, given = (
        {domain: [drawn(tags, length) for length in lengths] for domain in domains} for _ in range(2)
    )
    gold["FIC"] = [[tag.replace("ORG", "PER") for tag in tags] for tags in gold["FIC"]]
    gold["FIC"][0][0], given["FIC"][0][0] = "B-ORG", "O"

    def text(sentences: list[list[str]]) -> str:
        return "\n".join("".join(f"token\t{tag}\n" for tag in sentence) for sentence in sentences)

    report = host(
        tmp_path,
        manifest,
        {f"{domain}.tsv": text(given[domain]) for domain in domains},
        {f"{domain}_test.tsv": text(gold[domain]) for domain in domains},
    )
    for domain in domains:
        flat = [[tag[-3:] for sentence in of[domain] for tag in sentence] for of in (gold, given)]
        macro = f1_score(*flat, labels=types, average="macro", zero_division=0)
        assert values(report)[domain]["token_macro_f1"] == pytest.approx(macro)


def test_argument_reasoning(tmp_path: Path) -> None:
    """SemEval-2024 task 5: a CSV of 98 rows with an index; macro F1 and accuracy."""
    manifest = """
[tasks.Argument]
labels = { 0 = "wrong", 1 = "right" }
metrics = [{ name = "macro_f1" }, { name = "accuracy" }]
splits.test.size = 98
files = [{ name = "argument", member = "predictions.csv", column = "label", test = "test" }]
"""
    gold, given = (drawn(["0", "1"], 98) for _ in range(2))
    report = host(
        tmp_path,
        manifest,
        *({"predictions.csv": table(["idx", "label"], range(98), of)} for of in (given, gold)),
    )
    assert values(report)["Argument"] == pytest.approx(
        {"macro_f1": f1_score(gold, given, average="macro"), "accuracy": accuracy_score(gold, given)}
    )


def test_sentiment_in_fifteen_languages(tmp_path: Path) -> None:
    """SemEval-2023 task 12: boards of subtasks A, B and C; ids with leading zeros."""
    boards = ["am", "dz", "ha", "ig", "kr", "ma", "pcm", "pt", "sw", "ts", "twi", "yo", "all", "tg", "or"]
    words = ["positive", "neutral", "negative"]
    manifest = "".join(
        f"""
[tasks.{board}]
labels = {words}
metrics = [{{ name = "weighted_f1" }}]
splits.test = {{ size = {N}, ids = "{board}_test_{{:05}}", first_id = 1 }}
files = [{{ name = "{board}", member = "pred_{board}.tsv", column = "label", test = "test" }}]
"""
        for board in boards
    )
    gold, given = ({board: drawn(words) for board in boards} for _ in range(2))
    gold["ts"] = drawn(words[:2])
    report = host(
        tmp_path,
        manifest,
        *(
            {
                f"pred_{board}.tsv": table(
                    ["ID", "label"],
                    [f"{board}_test_{at:05}" for at in range(1, N + 1)],
                    of[board],
                    separator="\t",
                )
                for board in boards
            }
            for of in (given, gold)
        ),
    )
    for board in boards:
        weighted = f1_score(gold[board], given[board], average="weighted")
        assert values(report)[board]["weighted_f1"] == pytest.approx(weighted)


def test_sentiment_with_negative_label_words(tmp_path: Path) -> None:
    """Zindi 2021, Tunisian Arabizi: labels -1, 0 and 1; a file of any subset is complete on its own."""
    manifest = f"""
[tasks.Arabizi]
labels = {{ -1 = "negative", 0 = "neutral", 1 = "positive" }}
metrics = [{{ name = "accuracy" }}]
splits.test = {{ size = {N}, ids = "SRHR{{:04}}", first_id = 900 }}
files = [{{ member = "SampleSubmission.csv", column = "label", gold.file = "Test.csv" }}]
"""
    ids = [f"SRHR{at:04}" for at in range(900, 900 + N)]
    gold, given = (drawn(["-1", "0", "1"]) for _ in range(2))
    submission = {"SampleSubmission.csv": table(["ID", "label"], ids, given)}
    labels = {"Test.csv": table(["ID", "text", "label"], ids, ["3asslema, ca va"] * N, gold)}
    report = host(tmp_path, manifest, submission, labels)
    assert values(report)["Arabizi"] == {"accuracy": pytest.approx(accuracy_score(gold, given))}


def test_causal_news_in_json_lines(tmp_path: Path) -> None:
    """CASE 2022 task 3, subtask 1: integers in JSON lines, against a gold CSV with texts."""
    manifest = f"""
[tasks.Causal]
labels = {{ 0 = "not causal", 1 = "causal" }}
metrics = [
  {{ name = "f1", positive = "1" }},
  {{ name = "accuracy" }},
  {{ name = "matthews_correlation" }},
]
splits.test.size = {N}
files = [{{ name = "causal", member = "submission.jsonl", column = "prediction", test = "test" }}]
"""
    gold, given = (drawn(["0", "1"]) for _ in range(2))
    lines = [json.dumps({"index": at, "prediction": int(word)}) + "\n" for at, word in enumerate(given)]
    rows = table(["index", "label"], range(N), gold, separator="\t")
    report = host(tmp_path, manifest, {"submission.jsonl": "".join(lines)}, {"causal.tsv": rows})
    assert values(report)["Causal"] == pytest.approx(
        {
            "f1": f1_score(gold, given, pos_label="1"),
            "accuracy": accuracy_score(gold, given),
            "matthews_correlation": matthews_corrcoef(gold, given),
        }
    )


def test_a_missing_file_leaves_the_others_scored(tmp_path: Path) -> None:
    text = "".join(
        f'[tasks.{name}]\nlabels = ["a", "b"]\nmetrics = [{{ name = "macro_f1" }}]\nsplits.test.size = 2\n'
        for name in ("A", "B")
    )
    path = tmp_path / "two.toml"
    path.write_text(f'[benchmark]\nname = "two"\n{text}')
    (tmp_path / "A.tsv").write_text("index\tprediction\n0\ta\n1\tb\n")
    read = check(tmp_path / "A.tsv", load_benchmark(path))
    assert (read.verdict, read.missing) == ("incomplete", ("B",))
