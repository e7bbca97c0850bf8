"""The real pair of submissions on the diagnostic set: every error is found, and no more."""

from __future__ import annotations

import shutil

from folders import prepared
from real import REAL, needs_real

from gluebench import check, load_benchmark, read_gold
from gluebench.analysis.errors import rates, read_cases
from gluebench.data.sources.release import load_release

pytestmark = needs_real
NAMES = ("bert4keras", "fastmtl")


def column(path):
    return [line.split("\t")[1] for line in path.read_text().splitlines()[1:]]


def test_errors_on_the_diagnostic_set_are_those_of_the_files(tmp_path):
    glue = load_benchmark("glue")
    prepared(REAL / "glue", tmp_path / "data", glue, glue.task("AX"), load_release("glue"))
    labels = read_gold(shutil.copytree(REAL / "gold", tmp_path / "gold"), glue)
    subs = [check(REAL / "submissions" / name, "glue") for name in NAMES]
    (file,) = read_cases(subs, labels, tmp_path / "data", tasks=["AX"], systems=NAMES)
    gold = column(REAL / "gold" / "AX.tsv")
    for number, name in enumerate(NAMES):
        answers = column(REAL / "submissions" / name / "AX.tsv")
        wrong = [index for index, pair in enumerate(zip(gold, answers, strict=True)) if pair[0] != pair[1]]
        assert [case.index for case in file.cases if case.wrong[number]] == wrong
        assert rates(file)[0].wrong[number] == len(wrong)
    coarse = {"Double Negation": 28}  # examples of the released file
    assert {rate.name: rate.n for rate in rates(file) if rate.name in coarse} == coarse
