"""The files in deploy/ and the page about them say what the program does."""

from __future__ import annotations

import io
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from leaderboard.material import MANIFEST, PREDICTIONS, write_gold, zip_bytes
from leaderboard.proxies import free_port, wait_for
from leaderboard.served import Served
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gluebench.cli.leaderboard import leaderboard
from gluebench.leaderboard.keeping.folder import require_readable
from gluebench.leaderboard.serving.environment import PORT

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


def instructions() -> list[tuple[str, str]]:
    """The steps of the image: each instruction with its words, lines joined, comments left out."""
    text = (ROOT / "deploy" / "Containerfile").read_text().replace("\\\n", "")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in lines]


def context() -> list[Path]:
    """The files that an engine would send to the build: of those in git, what the ignore file leaves."""
    ignored, *rules = (ROOT / "deploy" / "Containerfile.dockerignore").read_text().split()
    assert ignored == "*"
    kept = [rule[1:] for rule in rules if rule[0] == "!"]
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [Path(name) for name in listed.stdout.splitlines() if name.startswith(tuple(kept))]


def test_each_step_of_the_image_has_what_it_names() -> None:
    steps = instructions()
    commands = [words for name, words in steps if name == "RUN"]
    in_context = {str(path) for path in context()}
    for path in re.findall(r"-r /src/(\S+)", " ".join(commands)):
        assert path in in_context
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert {
        "pyproject.toml",
        project["project"]["readme"],
        *project["project"]["license-files"],
    } <= in_context
    assert "src/gluebench/leaderboard/apps/phases/table.toml" in in_context
    stages = [words.split()[-1] for name, words in steps if name == "FROM" and " AS " in words]
    assert {words.split()[0] for name, words in steps if name == "COPY" and "--from" in words} == {
        f"--from={stage}" for stage in stages
    }
    facts = dict(steps)
    assert facts["EXPOSE"] == str(PORT)
    assert json.loads(facts["ENTRYPOINT"]) == ["gluebench", "leaderboard"]
    command, *options = json.loads(facts["CMD"])
    with leaderboard.get_command(None, command).make_context(command, options):  # type: ignore[arg-type, union-attr]
        pass
    assert VARIABLE.findall(facts["ENV"]) == ["GLUEBENCH_SITE", "GLUEBENCH_LOG_LEVEL"]
    assert facts["VOLUME"] in facts["ENV"]


class Image:
    """Runs the image's commands in folders of a test, without its account."""

    def __init__(self, home: Path, python: str) -> None:
        self.home, self.python = home, python
        self.output = home / "output"
        self.environment: dict[str, str] = {}
        (home / "var" / "lib").mkdir(parents=True)

    def placed(self, command: str) -> str:
        for place in ("/src", "/opt", "/var"):
            command = re.sub(rf"(?<![\w/]){place}(?=/)|(?<= ){place}(?= |$)", f"{self.home}{place}", command)
        command = re.sub(r"useradd [^&]*&&|-o gluebench -g gluebench", "", command)
        return command.replace("python -m venv", f"{self.python} -m venv")

    def start(self, command: str) -> subprocess.Popen[bytes]:
        there = {"PATH": os.environ["PATH"], "HOME": str(self.home), **self.environment}
        with self.output.open("wb") as output:
            return subprocess.Popen(
                ["sh", "-c", self.placed(command)], cwd=self.home, env=there, stdout=output, stderr=output
            )

    def run(self, command: str) -> None:
        status = self.start(command).wait()
        said = self.output.read_text()
        if "No matching distribution" in said:
            pytest.skip("needs a package index")
        assert status == 0, said

    def set(self, words: str) -> None:
        """The instruction ENV."""
        for name, value in re.findall(r"(\w+)=(\S+)", words):
            there = re.sub(r"^/(?=opt|var)", f"{self.home}/", value)
            self.environment[name] = there.replace("$PATH", os.environ["PATH"])


@pytest.mark.slow
def test_the_steps_of_the_image_make_a_site_that_is_healthy(tmp_path: Path) -> None:
    """As an engine would do them."""
    python = shutil.which("python3.13")
    if not python or subprocess.run([python, "--version"], capture_output=True).returncode:
        pytest.skip("needs Python 3.13, which the image has")
    for path in context():
        (tmp_path / "src" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / "src" / path)
    image, steps = Image(tmp_path, python), instructions()
    for name, words in steps:
        if name == "RUN":
            image.run(words)
    facts = dict(steps)
    image.set(facts["ENV"])
    entry = " ".join(json.loads(facts["ENTRYPOINT"]))
    image.run(f"{entry} init")
    gold = write_gold(tmp_path / "labels")
    # What compose.yaml says of adding a benchmark, within the container.
    said = re.search(r"exec -T web sh -c '(.*?)'", (ROOT / "deploy" / "compose.yaml").read_text(), re.DOTALL)
    assert said
    added = said[1].replace("\\\n#", "").replace("/tmp/gold", f"{tmp_path}/gold")
    image.run(f"tar -C {gold} -c . | ({added.replace('glue ', f'{MANIFEST} ')})")
    port = free_port()
    served = image.start(f"exec {entry} {' '.join(json.loads(facts['CMD']))} --port {port}")
    try:
        wait_for(port, served, image.output)
        for page in ("/healthz", "/benchmarks/tiny"):
            assert urllib.request.urlopen(f"http://127.0.0.1:{port}{page}", timeout=60).status == 200
    finally:
        served.send_signal(2)
        served.wait(timeout=60)


def unit_of_backup(name: str = "ExecStart") -> str:
    """A command of the backup, as systemd hands it to a shell."""
    unit = (ROOT / "deploy" / "gluebench-backup.service").read_text()
    found = re.search(rf"^{name}=(.*)$", unit, re.MULTILINE)
    assert found
    return found[1].replace("%%", "%")


def test_the_backup_is_of_the_site_of_the_unit_and_by_its_account() -> None:
    site, backup = (
        dict(re.findall(r"^(\w+)=(.*)$", (ROOT / "deploy" / name).read_text(), re.MULTILINE))
        for name in ("gluebench.service", "gluebench-backup.service")
    )
    assert {name: backup[name] for name in ("User", "UMask", "EnvironmentFile", "StateDirectoryMode")} == {
        name: site[name] for name in ("User", "UMask", "EnvironmentFile", "StateDirectoryMode")
    }
    assert backup["Environment"] in site["Environment"]
    assert f"/var/lib/{backup['StateDirectory']}/" in unit_of_backup()
    assert backup["ReadWritePaths"] == f"/var/lib/{site['StateDirectory']}"


def scores(served: Served) -> list[Any]:
    """The rows of the board, without rank sets, which a worker may be computing."""
    return [(row["key"], row["score"], row["tasks"]) for row in served.json("/benchmarks/tiny.json")["rows"]]


@pytest.mark.slow
def test_the_archive_of_the_timer_is_restored(tmp_path: Path, gold_folder: Path) -> None:
    """By the commands of the unit and of the page, with folders of the test."""
    served = Served(tmp_path / "lib" / "site", gold_folder)
    served.submit(_zip(tmp_path / "p.zip"), "One", "Two")
    board = scores(served)
    backups = tmp_path / "backups"
    backups.mkdir()
    old = backups / "2020-01-01T0330Z.tar.gz"
    old.write_bytes(b"")
    os.utime(old, (0, 0))

    def run(command: str) -> None:
        command = command.replace("/var/lib/gluebench-backups", str(backups))
        command = command.replace("/opt/gluebench/bin/gluebench", f"{sys.executable} -m gluebench")
        environment = {**os.environ, "GLUEBENCH_SITE": str(served.folder), "PYTHONPATH": str(ROOT / "src")}
        subprocess.run(command, shell=True, check=True, capture_output=True, env=environment)

    run(unit_of_backup())
    run(unit_of_backup("ExecStartPost"))
    served.stop()
    (archive,) = backups.iterdir()
    assert archive.stat().st_mode & 0o077 == 0
    again = Served(tmp_path / "restored", archive=archive)
    try:
        assert scores(again) == board
        again.command("doctor", "--files", "--site", str(again.folder))  # which exits with 1 for any fault
    finally:
        again.stop()


def _zip(path: Path) -> Path:
    path.write_bytes(zip_bytes(PREDICTIONS))
    return path


def as_nobody(gold: Path) -> str:
    """What an account without rights is told of a folder of labels."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            account = pwd.getpwnam("nobody")
            os.setgroups([])
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)
            require_readable(gold)
        except BaseException as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with open(reading) as pipe:
        return pipe.read()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another account")
@pytest.mark.parametrize("closed", ["the folder", "its parent", "a file"])
def test_labels_that_the_account_may_not_read_are_refused_with_the_cure(closed: str) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as home:
        gold = Path(home) / "ada" / "gold"
        gold.mkdir(parents=True)
        Path(home).chmod(0o755)
        (gold / "Refer.tsv").touch()
        wrong = {"the folder": gold, "its parent": gold.parent, "a file": gold / "Refer.tsv"}[closed]
        wrong.chmod(0o700 if wrong.is_dir() else 0o600)
        refusal = as_nobody(gold)
        assert f"This account (nobody) may not read {wrong}." in refusal
        copied = refusal.partition("Run: ")[2].replace("sudo ", "")
        copy = Path(copied.split()[-1])
        try:
            subprocess.run(copied, shell=True, check=True)
            assert as_nobody(copy) == ""
        finally:
            shutil.rmtree(copy)


def test_a_larger_limit_of_uploads_is_the_checker_s_too(
    tiny: Any, graded: Callable[..., Any], settings: Any
) -> None:
    file = io.BytesIO(zip_bytes(PREDICTIONS))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("notes.bin", os.urandom(17 * 1024**2))
    assert graded(file.getvalue()).status == "invalid"
    settings.UPLOAD_BYTES = 20 * 1024**2
    assert graded(file.getvalue()).status == "graded"
