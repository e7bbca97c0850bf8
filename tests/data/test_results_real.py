"""Real logs of other harnesses, with the paired counts that the README beside them has."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest
from real import REAL

from gluebench import DataError, ScoredTable, compare, diagnose, read_results

FORMATS = REAL / "formats"
needs_formats = pytest.mark.skipif(not FORMATS.is_dir(), reason=f"no logs of other harnesses at {FORMATS}")
NOT_ENTAILMENT = {"neutral": "non-entailment", "contradiction": "non-entailment"}


@pytest.fixture(scope="module")
def hans(tmp_path_factory: pytest.TempPathFactory) -> ScoredTable:
    """Three systems on 30,000 pairs; the README beside the files has the rule for gold."""
    heuristics = ("lexical overlap", "subsequence", "constituent")
    rows = [
        f"ex{n},{'entailment' if n // 5000 % 2 else 'non-entailment'},{heuristics[n // 10_000]},{n // 1000}"
        for n in range(30_000)
    ]
    header = "pairID,gold_label,category:heuristic,category:subcase"
    gold = tmp_path_factory.mktemp("hans") / "gold.csv"
    gold.write_text("\n".join([header, *rows]))
    names = {"bert": "bert", "esim": "esim_heur", "decomp": "decomp_attn_heur"}
    paths = {name: FORMATS / f"hans_{name}_preds.txt.gz" for name in names}
    return read_results(paths, gold=gold, synonyms=NOT_ENTAILMENT, name="HANS")


@needs_formats
def test_hans_by_heuristic_and_subcase(hans: ScoredTable) -> None:
    assert {name: sum(scores) for name, scores in hans.scores.items()} == {
        "bert": 16_439,
        "esim": 15_004,
        "decomp": 15_082,
    }
    comparison = compare("bert", "esim", hans, resamples=100)
    score = comparison.tasks["all items"].score
    assert score is not None
    assert score.test == "mid-p McNemar"
    assert (score.alone, score.n) == ((1_939, 504), 30_000)
    decomp = compare("esim", "decomp", hans, resamples=100).tasks["all items"].score
    assert decomp is not None
    assert decomp.alone == (310, 388)
    kinds = [part.kind for part in comparison.tasks["all items"].categories]
    assert (kinds.count("heuristic"), kinds.count("subcase")) == (3, 30)
    scores = diagnose(["bert"], hans).sets["all items"].systems["bert"].scores
    bert = dict(zip(hans.items, hans.scores["bert"], strict=True))
    for number, heuristic in enumerate(("lexical overlap", "subsequence", "constituent")):
        right = sum(bert[f"ex{n}"] for n in range(10_000 * number, 10_000 * (number + 1)))
        assert scores.metadata["heuristic"][heuristic].value == pytest.approx(right / 10_000)
    assert scores.metadata["subcase"]["7"].n == 1000


@needs_formats
def test_two_runs_of_lm_eval_shuffled_and_cut(tmp_path: Path) -> None:
    unigram, bigram = (FORMATS / f"lmeval_nb-{name}_cola.jsonl" for name in ("unigram", "bigram"))
    table = read_results({"unigram": unigram, "bigram": bigram})
    assert {name: sum(scores) for name, scores in table.scores.items()} == {"unigram": 139, "bigram": 131}
    score = compare("unigram", "bigram", table, resamples=100).tasks["all items"].score
    assert score is not None
    assert score.alone == (49, 41)
    rows = bigram.read_text().splitlines()
    random.Random(0).shuffle(rows)
    (tmp_path / "shuffled.jsonl").write_text("\n".join(rows))
    shuffled = read_results({"unigram": unigram, "bigram": tmp_path / "shuffled.jsonl"})
    assert shuffled.scores == table.scores
    (tmp_path / "part.jsonl").write_text("\n".join(rows[:120]))
    part = read_results({"unigram": unigram, "bigram": tmp_path / "part.jsonl"})
    whole = dict(zip(table.items, table.scores["bigram"], strict=True))
    assert dict(zip(part.items, part.scores["bigram"], strict=True)) == {
        item: whole[item] for item in part.items
    }
    assert part.notes[0].startswith("unigram: 80 of 200 items are not in all files")


@needs_formats
def test_real_logs_of_inspect_and_helm() -> None:
    table = read_results([FORMATS / "inspect_arc_sonnet.json", FORMATS / "inspect_arc_qwen.json"])
    assert table.items == ("1", "2", "3")
    assert "2 of 5 items" in table.notes[0]
    assert "left out: 4, 5" in table.notes[0]
    helm = read_results(FORMATS / "helm_mmlu_gpt2_per_instance_stats.json")
    content = json.loads((FORMATS / "helm_mmlu_gpt2_per_instance_stats.json").read_text())
    right = [
        stat["mean"] for each in content for stat in each["stats"] if stat["name"]["name"] == "exact_match"
    ]
    assert [*helm.scores["helm_mmlu_gpt2"]] == right


@needs_formats
def test_a_log_with_zstd_members(monkeypatch: pytest.MonkeyPatch) -> None:
    log = FORMATS / "inspect_mock_zstd.eval"
    if sys.version_info < (3, 14):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "zipfile_zstd", None)
            with pytest.raises(DataError, match="pip install zipfile-zstd"):
                read_results(log)
        pytest.importorskip("zipfile_zstd", reason="zipfile-zstd is not installed")
    table = read_results(log)
    assert len(table.items) == 60
    assert sum(table.scores["mockllm/model"]) == 47


@pytest.mark.skipif(not (REAL / "corpora").is_dir(), reason=f"no corpora at {REAL}")
def test_superglues_own_labels_as_gold(tmp_path: Path) -> None:
    """WSC's labels are booleans, which submissions write as "True"; those of the diagnostic set are words."""
    wsc, broad = REAL / "corpora" / "winograd" / "superglue-WSC" / "val.jsonl", REAL / "glue" / "AX"
    for gold, words in ((wsc, ("True", "False")), (broad / "superglue-AX-b.jsonl", ("not_entailment",))):
        rows = [json.loads(line) for line in gold.read_text(encoding="utf-8").splitlines()]
        for word in words:
            path = tmp_path / f"{word}.jsonl"
            lines = [json.dumps({"idx": int(row["idx"]), "label": word}) for row in rows]
            path.write_text("\n".join(lines))
            right = sum(str(row["label"]) == word for row in rows)
            (scores,) = read_results(path, gold=gold).scores.values()
            assert (sum(scores), len(scores)) == (right, len(rows))
