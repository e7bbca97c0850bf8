"""What digits tell of hidden labels under every policy: attacks on the way from grading to showing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from leaderboard.digits import ATTACKS, Floats, by_digits, one_by_one
from real import REAL

from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.submissions import feedback
from gluebench.leaderboard.apps.submissions.models import Result, Submission
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.leaderboard.serving.grader import _ladder
from gluebench.scoring import Gold, grade, read_gold
from gluebench.scoring.gold import label_key
from gluebench.scoring.split import part_of
from gluebench.submission import check

UPLOADS = 730
"""A year of two a day."""
MANIFEST = """
[benchmark]
name = "attacked"
title = "Attacked"
[tasks.Sim]
title = "Similarity"
columns = ["sentence1", "sentence2"]
score_range = [0.0, 5.0]
metrics = [{{ name = "pearson" }}, {{ name = "spearman" }}]
splits = {{ test = {{ size = {} }}, dev = {{ size = 4 }} }}
"""


@dataclass
class Site:
    """A site of one task, quotas aside: answers in, the two correlations out that their sender can read."""

    row: Submission
    gold: Gold
    folder: Path
    bests: dict[str, str] = field(default_factory=dict)
    uploads: int = 0
    seen: tuple[float, ...] = ()

    def __call__(self, answers: Floats) -> tuple[float, ...]:
        self.uploads += 1
        file = self.folder / f"{self.uploads}"
        file.mkdir()
        lines = "".join(f"{at}\t{float(value)!r}\n" for at, value in enumerate(answers))
        (file / "Sim.tsv").write_text(f"index\tprediction\n{lines}")
        submission = check(str(file), self.gold.benchmark)
        report = grade(submission, self.gold).as_dict()
        climbed: dict[str, Any] = {}
        if self.row.benchmark.policy.feedback == "ladder":
            climbed = _ladder(self.bests, submission, self.gold)
            self.bests |= dict.fromkeys(climbed["new"], str(file))
        Result.objects.create(
            submission=self.row,
            labels="",
            package="",
            verdict="valid",
            report=report,
            shown=climbed.get("shown"),
        )
        feedback.show(self.row)
        metrics = self.row.report["tasks"]["Sim"]["metrics"]  # type: ignore[index]
        before, self.seen = self.seen, tuple(each["value"] for each in metrics.values())
        return (0.0, 0.0) if climbed and before == self.seen else self.seen


@pytest.fixture
def site(db: None, ada: Any, tmp_path: Path) -> Callable[..., Site]:
    def made(labels: Floats, **policy: Any) -> Site:
        (tmp_path / "attacked.toml").write_text(MANIFEST.format(len(labels)))
        gold = tmp_path / "gold"
        gold.mkdir()
        lines = "".join(f"{at}\t{float(label)!r}\n" for at, label in enumerate(labels))
        (gold / "Sim.tsv").write_text(f"index\tlabel\n{lines}")
        benchmark = Benchmark.objects.get(name=add_benchmark(str(tmp_path / "attacked.toml"), gold))
        benchmark.settings = policy
        benchmark.save()
        row = Submission.objects.create(
            owner=ada, benchmark=benchmark, name="A", model="B", size=1, status=Status.GRADED, public=True
        )
        read = read_gold(benchmark.gold_path, benchmark.record)
        if "public_share" in policy:
            key = label_key(str(benchmark.gold_path))
            read = part_of(read, "public", share=policy["public_share"], key=key)
        return Site(row, read, tmp_path)

    return made


def stand_in(n: int) -> Floats:
    """Labels that look like annotated similarities: means of five whole numbers, both ends among them."""
    rng = np.random.default_rng(0)
    labels = np.clip(np.round(rng.normal(2.7, 1.5, n) * 5) / 5, 0, 5)
    labels[:20] = [0, 5] * 10
    return rng.permutation(labels)


def similarities() -> Floats:
    """STS-B's real labels where they are, else as many that look like them."""
    file = REAL / "gold" / "STS-B.tsv"
    if not file.exists():
        return stand_in(1379)
    return np.loadtxt(file, skiprows=1, usecols=1)


def test_digits_tell_no_labels(site: Callable[..., Site]) -> None:
    """With twelve digits, three labels of every upload were read: here all 90."""
    labels = stand_in(90)
    found = by_digits(labels, site(labels), uploads=UPLOADS, rng=np.random.default_rng(0))
    assert found.exact < len(labels) / 3


HELD_BACK = {"public_share": 0.5, "reveal": "2999-01-01"}
CASES = [
    *((policy, attack) for policy in ({}, {"feedback": "on-publish"}, HELD_BACK) for attack in ATTACKS),
    ({"feedback": "ladder"}, "one by one"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "attack"), CASES)
def test_digits_tell_no_more_than_above_or_below_chance(
    site: Callable[..., Site], policy: dict[str, Any], attack: str, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = similarities()

    def without_digits(answers: Floats) -> tuple[float, ...]:
        return (float(np.sign(np.corrcoef(labels, answers)[0, 1])), 0.0)

    attacked = site(labels, **policy)
    found = ATTACKS[attack](labels, attacked, uploads=UPLOADS, rng=np.random.default_rng(0))
    bound = one_by_one(labels, without_digits, uploads=UPLOADS, rng=np.random.default_rng(0))
    with capsys.disabled():
        print(f"\n{policy or 'full'}, {attack}: {found}; without digits: {bound}")
    assert found.points <= bound.points
    assert found.exact < len(labels) / 10
