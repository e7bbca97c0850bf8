"""The JSON Schema of policy files says the same of a file as the site."""

from __future__ import annotations

import json
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from leaderboard.material import MANIFEST, write_gold

from docs.tools.policy_schema import text
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import SETTINGS, PolicyError, policy_of, read_policy
from gluebench.leaderboard.apps.limits.acts import set_policy
from gluebench.leaderboard.apps.phases.models import Phase

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "policy.schema.json"
VALUES = ("none", "weekly", "2027-06-30", "2027-06-31", "soon", "", "a" * 10000) + (
    0,
    1,
    30,
    -1,
    2**63,
    0.5,
    1.5,
    True,
    False,
    [],
    {},
)
"""Values of every kind, of which each setting takes some."""
SPLIT = {"public_share": 0.5, "reveal": "2027-06-30"}
"""Settings that belong together."""


def problems_of(file: Any) -> list[str]:
    """What the schema finds wrong with a parsed TOML file, in which editors see dates as texts."""
    seen = json.loads(json.dumps(file, default=date.isoformat))
    validator = Draft202012Validator(json.loads(PAGE.read_text()), format_checker=FormatChecker())
    return [error.message for error in validator.iter_errors(seen)]


def site_takes(settings: dict[str, Any]) -> bool:
    none = {name: None if value == "none" else value for name, value in settings.items()}
    try:
        policy_of(none)
    except PolicyError:
        return False
    return True


def test_the_published_schema_is_the_code_s() -> None:
    assert PAGE.read_text() == text() + "\n"
    Draft202012Validator.check_schema(json.loads(PAGE.read_text()))


# What is a mail domain is beyond the schema.
@pytest.mark.parametrize("name", [name for name in SETTINGS if name != "domains"])
def test_the_schema_takes_the_values_of_a_setting_that_the_site_takes(name: str) -> None:
    taken = []
    for value in (*VALUES, *SETTINGS[name].choices):
        settings = {"domains": "example.org", name: value}
        if name in SPLIT:
            settings = dict.fromkeys(SPLIT, "none") if value == "none" else {**SPLIT, name: value}
        taken.append(site_takes(settings))
        assert (not problems_of(settings)) == taken[-1], value
    assert True in taken
    assert False in taken


def test_the_schema_finds_half_of_a_split_and_unknown_names() -> None:
    assert len(problems_of({"public_share": 0.5})) == 1
    assert len(problems_of({"perday": 2, "phases": [{"name": "Test", "open": "2027-05-01"}]})) == 2


@pytest.mark.django_db
def test_a_printed_policy_fits_the_schema_and_says_the_same_again(tmp_path: Path) -> None:
    add_benchmark(str(MANIFEST), write_gold(tmp_path))
    benchmark = Benchmark.objects.get()
    opens = datetime(2027, 5, 1, tzinfo=UTC)
    settings = {"per_day": 3, "total": None, "incomplete": "refused"}
    Phase.objects.create(benchmark=benchmark, name="Test", opens=opens, settings=settings)
    file = tmp_path / "policy.toml"
    file.write_text("\n".join(set_policy(benchmark.name, changes={"per_month": "none", "per": "team"})))
    assert problems_of(tomllib.loads(file.read_text())) == []
    Phase.objects.all().delete()
    set_policy(benchmark.name, read_policy(file))
    assert Phase.objects.get().settings == settings
