"""The two real submissions on the real diagnostic set, beside scikit-learn on diagnostic-full.tsv."""

from __future__ import annotations

import csv
import shutil

import pytest
from real import REAL, needs_real
from sklearn.metrics import matthews_corrcoef  # noqa: TID251 the oracle

from gluebench.analysis.diagnostics import diagnose
from gluebench.analysis.diagnostics.paper import table5
from gluebench.benchmark import load_benchmark
from gluebench.data.gold import gold_from_data
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.release import load_release
from gluebench.scoring import read_gold
from gluebench.submission import check

pytestmark = needs_real
COARSE = {"LS": "Lexical Semantics", "PAS": "Predicate-Argument Structure", "L": "Logic", "K": "Knowledge"}
FINE = {  # heading: the column of the released file, and its spelling there
    "UQuant": ("Logic", "Universal"),
    "MNeg": ("Lexical Semantics", "Morphological negation"),
    "2Neg": ("Logic", "Double negation"),
    "Coref": ("Predicate-Argument Structure", "Anaphora/Coreference"),
    "Restr": ("Predicate-Argument Structure", "Restrictivity"),
    "Down": ("Logic", "Downward monotone"),
}


def systems():
    glue = load_benchmark("glue")
    return {name: check(REAL / "submissions" / name, glue) for name in ("bert4keras", "fastmtl")}


@pytest.fixture(scope="module")
def released():
    with (REAL / "glue" / "AX" / "diagnostic-full.tsv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = shutil.copytree(REAL / "gold", tmp_path_factory.mktemp("real") / "gold")
    folder.chmod(0o755)
    gold = read_gold(folder, load_benchmark("glue"), partial=True)
    return diagnose(systems(), gold)


def has_tag(row, column: str, tag: str) -> bool:
    return tag in [each.strip() for each in row[column].split(";")]


@pytest.mark.parametrize("name", ["bert4keras", "fastmtl"])
def test_table_5_is_scikit_learns_from_the_released_file(found, released, name) -> None:
    predicted = systems()[name].predictions["AX"].words()
    chosen = {"All": [True] * len(released)}
    chosen |= {head: [bool(row[column]) for row in released] for head, column in COARSE.items()}
    chosen |= {head: [has_tag(row, *where) for row in released] for head, where in FINE.items()}
    each = found.sets["AX"]
    table = table5(each.task, each.reports, beside=True)
    assert table.headings == tuple(chosen)
    for head, size, score in zip(table.headings, table.sizes, table.systems[name], strict=True):
        kept = [at for at, wanted in enumerate(chosen[head]) if wanted]
        expected = matthews_corrcoef([released[at]["Label"] for at in kept], [predicted[at] for at in kept])
        assert size == len(kept)
        assert score.value == pytest.approx(expected, abs=1e-12)


def test_the_papers_seventeen_rows_stand_beside(found) -> None:
    each = found.sets["AX"]
    printed = table5(each.task, each.reports, beside=True).printed
    assert sum(map(len, printed.values())) == 17
    assert printed["Single-Task Training"]["+Attn, ELMo"] == pytest.approx(
        [0.28, 0.30, 0.35, 0.23, 0.14, 0.85, 0.20, 0.42, 0.33, -0.26, -0.03]
    )


def test_the_two_directions_of_the_real_pairs(found, released) -> None:
    bert, constant = (found.sets["AX"].systems[name].directions for name in ("bert4keras", "fastmtl"))
    gold = [row["Label"] for row in released]
    same = sum(a == b for a, b in zip(gold[::2], gold[1::2], strict=True))
    assert (constant.alike.count, constant.alike.of, constant.apart.count) == (same, same, 0)
    assert bert.unpaired == 0
    predicted = systems()["bert4keras"].predictions["AX"].words()
    right = [g == p for g, p in zip(gold, predicted, strict=True)]
    assert bert.both.count == sum(a and b for a, b in zip(right[::2], right[1::2], strict=True))
    assert [gold for gold, _ in bert.kinds.values()].count(0) == 2  # no contradiction one way only
    assert bert.one_way.count > 0


def test_prepared_data_give_the_same_as_the_gold_folder(found, tmp_path) -> None:
    glue = load_benchmark("glue")
    prepare_from_folder(REAL / "glue", tmp_path, glue, glue.task("AX"), load_release("glue"))
    gold = gold_from_data(tmp_path, glue, role="test")
    again = diagnose(systems(), gold)
    assert again.sets["AX"].as_dict() == found.sets["AX"].as_dict()
