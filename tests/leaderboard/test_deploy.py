"""The files in deploy/ and the page about them say what the program does."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gluebench.cli.leaderboard import leaderboard

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "deploy.md").read_text()
FILES = sorted(path for path in (ROOT / "deploy").iterdir())
VARIABLE = re.compile(r"GLUEBENCH_[A-Z_]+[A-Z]")
READ = {
    name
    for path in (ROOT / "src" / "gluebench" / "leaderboard").rglob("*.py")
    for name in VARIABLE.findall(path.read_text())
} - {
    "GLUEBENCH_WATCHDOG",
    "GLUEBENCH_METRICS",
    "GLUEBENCH_DEBUG",
}  # between a site's own processes; only ever refused


def test_every_variable_is_explained() -> None:
    assert set(VARIABLE.findall(PAGE)) >= READ


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_use_variables_that_exist(path: Path) -> None:
    assert set(VARIABLE.findall(path.read_text())) <= READ


def test_the_unit_runs_commands_that_exist() -> None:
    unit = (ROOT / "deploy" / "gluebench.service").read_text()
    started = re.findall(r"^Exec\w+=\S+/gluebench leaderboard (\w+)", unit, re.MULTILINE)
    assert started == ["init", "serve"]
    assert set(started) <= set(leaderboard.list_commands(None))  # type: ignore[arg-type]


def test_what_the_unit_says_of_adding_a_benchmark_goes_into_its_own_database() -> None:
    unit = (ROOT / "deploy" / "gluebench.service").read_text()
    said = re.search(r"^#   sudo (.*?leaderboard add .*?)$", unit, re.MULTILINE | re.DOTALL)
    assert said
    assert re.findall(r"EnvironmentFile=\S+", unit) == ["EnvironmentFile=-/etc/gluebench.env"] * 2
    assert "--property=EnvironmentFile=" in said[1]


def required(name: str, extras: frozenset[str]) -> Iterator[str]:
    """The packages that a package with these extras needs, with theirs."""
    for line in metadata.requires(name) or ():
        requirement = Requirement(line)
        environments = [{"extra": extra} for extra in ("", *extras)]
        if requirement.marker is None or any(map(requirement.marker.evaluate, environments)):
            yield canonicalize_name(requirement.name)
            yield from required(requirement.name, frozenset(requirement.extras))


def test_the_container_pins_every_package_that_a_site_needs() -> None:
    lines = (ROOT / "deploy" / "requirements.txt").read_text().splitlines()
    pinned = {canonicalize_name(line.partition("==")[0]) for line in lines if line[:1].isalpha()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for requirement in map(Requirement, project["optional-dependencies"]["leaderboard"]):
        names = {
            canonicalize_name(requirement.name),
            *required(requirement.name, frozenset(requirement.extras)),
        }
        assert not names - pinned, "run `make pins`"


def compose() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="needs a reader of YAML")
    found: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    return found


def test_the_compose_file_is_a_database_pages_and_grading() -> None:
    services = compose()["services"]
    assert set(services) == {"database", "setup", "web", "worker"}
    commands = {name: each["command"][0] for name, each in services.items() if "command" in each}
    assert commands == {"setup": "init", "web": "web", "worker": "worker"}
    assert set(commands.values()) <= set(leaderboard.list_commands(None))  # type: ignore[arg-type]
    for part in ("web", "worker"):
        assert services[part]["environment"]["GLUEBENCH_DATABASE"].startswith("postgres://")
        assert services[part]["depends_on"] == {"setup": {"condition": "service_completed_successfully"}}


def test_the_compose_file_has_no_secret_and_opens_no_port_to_others() -> None:
    services = compose()["services"]
    assert "${POSTGRES_PASSWORD:?" in services["database"]["environment"]["POSTGRES_PASSWORD"]
    assert "${GLUEBENCH_SECRET_KEY:?" in services["web"]["environment"]["GLUEBENCH_SECRET_KEY"]
    assert services["web"]["ports"] == ["127.0.0.1:8000:8000"]
    assert all("ports" not in services[part] for part in ("database", "worker", "setup"))


def test_the_parts_of_the_site_have_no_privileges_and_write_into_the_site_alone() -> None:
    services = compose()["services"]
    for name, each in services.items():
        assert each["cap_drop"] == ["ALL"], name
        assert each["security_opt"] == ["no-new-privileges:true"], name
        assert each["read_only"] is True, name
    assert all("cap_add" not in services[part] for part in ("setup", "web", "worker"))
    assert "/healthz" in services["web"]["healthcheck"]["test"][-1]


def test_the_unit_limits_memory_and_system_calls() -> None:
    unit = (ROOT / "deploy" / "gluebench.service").read_text()
    for line in ("NoNewPrivileges=yes", "SystemCallFilter=@system-service", "MemoryMax=4G"):
        assert f"\n{line}\n" in unit


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_container_s_pins_are_the_project_s_and_each_has_its_hashes() -> None:
    text = (ROOT / "deploy" / "requirements.txt").read_text()
    pins = {line.partition("==")[0]: line for line in text.replace("\\\n", "").splitlines()}
    lines = (line for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line)
    expected = {normal(name): version for name, _, version in (line.partition("==") for line in lines)}
    found = {normal(name): line.partition("==")[2].split()[0] for name, line in pins.items()}
    assert {name: expected.get(name) for name in found} == found
    assert {"django", "waitress", "prometheus-client", "psycopg", "boto3", "hatchling"} <= set(found)
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", line) for line in pins.values())
    assert "://" not in text
