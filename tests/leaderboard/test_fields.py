"""A field of a submission stands once: what is in the table is everywhere, and nothing else names it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

import gluebench
from gluebench.leaderboard.apps.common.fields import FIELDS, LISTED, as_json, from_json
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Regime

SOURCE = Path(gluebench.__file__).parent
HELPER = Path(__file__).parent / "made_up.py"
EVERYWHERE = (
    *("form", "refused", "page", "page of its author", "row of the board", "JSON", "JSON of its author"),
    *("board as JSON", "board as CSV", "costs", "costs as CSV", "API", "API of its author", "API's schema"),
    *("account's export", "admin", "command"),
)
PRIVATE = {"page of its author", "JSON of its author", "API of its author", "account's export", "admin"}
"""Where the private one's value stands."""


@pytest.mark.parametrize("name", ["latency_ms", "training_data", "shared_parameters"])
def test_the_table_the_column_and_its_migration_alone_name_a_field(name: str) -> None:
    files = [path for path in SOURCE.rglob("*.*") if path.suffix in (".py", ".toml", ".html", ".js")]
    naming = {
        path.relative_to(SOURCE / "leaderboard").as_posix() for path in files if name in path.read_text()
    }
    migration = "apps/submissions/migrations/0001_tables.py"
    assert naming == {"apps/common/fields.toml", "apps/submissions/models.py", migration}


def test_every_field_has_a_column_and_a_help() -> None:
    for name, field in FIELDS.items():
        optional = "" in field.choices if field.kind == "choice" else not field.required
        assert Submission._meta.get_field(name).blank == optional
        assert field.help.endswith(".")
    assert list(FIELDS["regime"].choices.items()) == Regime.choices


def test_json_is_read_as_it_is_written() -> None:
    values = {name: f"value of {name}" for name in FIELDS}
    written = as_json(values.__getitem__, FIELDS.values())
    assert written["parameters"] == {"total": "value of parameters", "shared": "value of shared_parameters"}
    assert {name: from_json(written, name) for name in FIELDS} == values


def test_a_row_of_the_board_and_its_file_have_every_listed_field(
    client: Client, graded: Callable[..., Submission]
) -> None:
    graded()
    row = client.get("/benchmarks/tiny.json").json()["rows"][0]
    head = client.get("/benchmarks/tiny.csv").content.decode().splitlines()[0].split(",")
    for field in LISTED:
        from_json(row, field.name)
        assert field.name in head
    assert "description" not in row


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each place shows of two made-up fields."""
    command = [sys.executable, str(HELPER), str(tmp_path_factory.mktemp("made-up") / "site")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
def test_a_made_up_field_is_everywhere(shown: dict[str, str]) -> None:
    for place in EVERYWHERE:
        assert "energy" in shown[place].lower().replace("-", "_"), place
    for place in ("form", "admin", "command", "API's schema"):
        assert "What the training took from the grid." in shown[place], place
    for place in ("page", "row of the board", "page of its author", "costs"):
        assert "12.5 kWh" in shown[place], place
    assert "<del>3.5 kWh</del>" in shown["page of its author"]
    assert "3.5 kWh" not in shown["page"]
    assert "12.5" in shown["after deletion"], "a number says nothing of a person"


@pytest.mark.slow
def test_a_made_up_private_field_is_its_author_s(shown: dict[str, str]) -> None:
    assert {place for place in shown if "Whom the organizers may ask." in shown[place]} == {
        *("form", "API's schema", "admin", "command")
    }
    assert {place for place in shown if "room 7" in shown[place]} == PRIVATE
