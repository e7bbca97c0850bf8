from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from django.template.loader import render_to_string
from leaderboard.material import MANIFEST, PREDICTIONS, zip_bytes

from gluebench import submission
from gluebench.benchmark import load_benchmark
from gluebench.leaderboard.apps.submissions.report import CheckSummary, check_summary


def found(tmp_path: Path, **files: Any) -> CheckSummary:
    """What the real check finds in the good predictions with these files changed."""
    path = tmp_path / "sent.zip"
    path.write_bytes(zip_bytes({**PREDICTIONS, **files}))
    return check_summary(submission.check(path, load_benchmark(MANIFEST)).as_dict())


def words(findings: CheckSummary) -> str:
    html = render_to_string("submissions/findings.html", {"check": findings, "failure": ""})
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_a_mistake_is_said_once_with_all_its_places(tmp_path: Path) -> None:
    findings = found(tmp_path, Refer="xxxx")
    (item,) = findings.groups
    assert [(place.line, place.index) for place in item.places] == [(2, 0), (3, 1), (4, 2), (5, 3)]
    assert findings.tally == "4 errors"
    text = words(findings)
    assert text.count("Found x ; expected 0 or 1.") == 1
    assert "line 2, index 0 line 3, index 1" in text


def test_different_values_stand_at_their_places(tmp_path: Path) -> None:
    text = words(found(tmp_path, Refer="xy00"))
    assert "Expected 0 or 1." in text
    assert "line 2, index 0: x line 3, index 1: y" in text


def test_one_place_stands_beside_the_file(tmp_path: Path) -> None:
    text = words(found(tmp_path, Refer="01x0"))
    assert "Refer.tsv:4 index 2 unknown-label Found x ; expected 0 or 1." in text


def test_an_empty_value_is_named(tmp_path: Path) -> None:
    assert "Found nothing; expected" in words(found(tmp_path, Refer=["0", "", "0", "0"]))


def test_errors_come_before_what_is_harmless(tmp_path: Path) -> None:
    findings = found(tmp_path, Para="000000", Refer="01x0", Stray="0")
    severities = [item.severity for item in findings.groups]
    assert severities == sorted(severities, key=("error", "warning", "notice").index)
    assert severities[0] == "error"
    assert len(set(severities)) == 3


def test_what_was_only_counted_is_said(tmp_path: Path) -> None:
    check = submission.check(_zip(tmp_path, "x" * 4), load_benchmark(MANIFEST)).as_dict()
    check["unshown"] = {"Refer.tsv": {"unknown-label": 1705, "repeated-index": 2}}
    findings = check_summary(check)
    assert findings.groups[0].more == 1705
    assert findings.tally == "1,709 errors"
    text = words(findings)
    assert "and 1,705 more" in text
    assert "And 2 of another kind in Refer.tsv: repeated-index." in text


def _zip(tmp_path: Path, refer: str) -> Path:
    path = tmp_path / "sent.zip"
    path.write_bytes(zip_bytes({**PREDICTIONS, "Refer": refer}))
    return path
