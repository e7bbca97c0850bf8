from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from leaderboard.material import MANIFEST
from leaderboard.served import new_site

from gluebench.leaderboard import commands
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.leaderboard.keeping.folder import VARIABLE, SiteError, SiteFolder
from gluebench.leaderboard.serving import checks
from gluebench.scoring import GoldError


def test_a_site_s_folder_is_private_and_has_its_own_key(tmp_path: Path) -> None:
    first, second = SiteFolder(tmp_path / "one"), SiteFolder(tmp_path / "two")
    first.create()
    second.create()
    assert len(first.secret_key()) > 50
    assert first.secret_key() != second.secret_key()
    assert first.key_file.stat().st_mode & 0o777 == 0o600
    for part in (first.root, first.labels, first.submissions, first.uploads):
        assert part.stat().st_mode & 0o777 == 0o700
    kept = first.secret_key()
    first.create()
    assert first.secret_key() == kept


def test_a_folder_of_something_else_is_not_taken_over(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("…")
    with pytest.raises(SiteError, match="not empty and not a site"):
        SiteFolder(tmp_path).create()


def test_a_folder_that_is_no_site_is_told_how_to_become_one(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="gluebench leaderboard init"):
        commands.serve(tmp_path, None)


def test_processes_that_run_tests_side_by_side_have_sites_of_their_own() -> None:
    """Where they shared one, a test that breaks a label broke what the other was grading."""
    assert str(settings.FOLDER.root) == os.environ[VARIABLE]


def test_one_process_works_on_one_site(tmp_path: Path) -> None:
    SiteFolder(tmp_path / "other").create()
    with pytest.raises(SiteError, match="already works on"):
        commands.add(tmp_path / "other", "glue", tmp_path)


def test_adding_the_same_again_changes_nothing(db: None, gold_folder: Path) -> None:
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark

    for _ in range(2):
        assert commands.add(settings.FOLDER.root, str(MANIFEST), gold_folder) == "tiny"
    assert Benchmark.objects.get().version == 1


def test_wrong_labels_are_told_to_the_organizer_and_not_taken(db: None, tmp_path: Path) -> None:
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark

    (tmp_path / "Refer.tsv").write_text("index\tlabel\n0\tmaybe\n")
    with pytest.raises(GoldError, match="Refer"):
        commands.add(settings.FOLDER.root, str(MANIFEST), tmp_path)
    assert not Benchmark.objects.exists()


def test_no_folder_of_labels_is_told(db: None, tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="not a folder"):
        commands.add(settings.FOLDER.root, str(MANIFEST), tmp_path / "none")


def test_labels_for_some_of_the_files_are_not_taken(db: None, gold_folder: Path, tmp_path: Path) -> None:
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark

    (tmp_path / "Refer.tsv").write_bytes((gold_folder / "Refer.tsv").read_bytes())
    with pytest.raises(SiteError, match=r"no labels for .*DX\.tsv; a board needs them"):
        commands.add(settings.FOLDER.root, str(MANIFEST), tmp_path)
    assert not Benchmark.objects.exists()


@pytest.mark.parametrize(("field", "most"), [("name", 80), ("title", 200)])
def test_a_benchmark_whose_name_does_not_fit_is_told(
    db: None, gold_folder: Path, tmp_path: Path, field: str, most: int
) -> None:
    manifest = tmp_path / "long.toml"
    before = {"name": 'name = "tiny"', "title": 'title = "A tiny benchmark"'}[field]
    text = MANIFEST.read_text()
    assert before in text
    manifest.write_text(text.replace(before, f'{field} = "{"x" * (most + 1)}"', 1))
    with pytest.raises(SiteError, match=f"{field}: .*at most {most} characters"):
        commands.add(settings.FOLDER.root, str(manifest), gold_folder)


def test_a_manifest_whose_copy_would_not_load_is_not_taken(
    db: None, gold_folder: Path, tmp_path: Path
) -> None:
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark

    (tmp_path / "parent.toml").write_text(MANIFEST.read_text())
    own = tmp_path / "own.toml"
    rest = 'name = "own"\ntitle = "Own"\ntasks = ["Refer"]\n'
    dotted = "".join(f"benchmark.{line}" for line in rest.splitlines(keepends=True))
    own.write_text(f'benchmark.extends = "./parent.toml"\n{dotted}')
    with pytest.raises(SiteError, match="would not find what it extends"):
        commands.add(settings.FOLDER.root, str(own), gold_folder)
    assert not Benchmark.objects.exists()
    own.write_text(f'[benchmark]\nextends = "./parent.toml"\n{rest}')
    assert commands.add(settings.FOLDER.root, str(own), gold_folder) == "own"


def test_labels_from_a_read_only_folder_get_their_key_here(
    db: None, gold_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.scoring import gold

    source = shutil.copytree(gold_folder, tmp_path / "gold", ignore=shutil.ignore_patterns(".label-key"))
    (source / "Refer.tsv").write_text("index\tlabel\n0\t0\n1\t0\n2\t0\n3\t1\n")
    make = gold._new_key

    def read_only(path: str) -> bytes:
        if path.startswith(str(source)):
            raise PermissionError(30, "Read-only file system")
        return make(path)

    monkeypatch.setattr(gold, "_new_key", read_only)
    commands.add(settings.FOLDER.root, str(MANIFEST), source)
    assert len((Benchmark.objects.get().gold_path / ".label-key").read_bytes()) == gold.KEY_BYTES


def submit(path: Path, **details: Any) -> str:
    values = {"model": "CBoW", "name": "Local", **details}
    return commands.submit_local(settings.FOLDER.root, "tiny", "demo@example.org", path, **values)


def test_a_local_submission_is_graded_and_public(tiny: Any, tmp_path: Path, good_zip: bytes) -> None:
    (tmp_path / "own.zip").write_bytes(good_zip)
    key = submit(tmp_path / "own.zip", regime="frozen", parameters=12)
    submission = Submission.objects.get(key=key)
    assert (submission.status, submission.public, submission.parameters) == (Status.GRADED, True, 12)
    assert not submission.owner.has_usable_password()


def test_the_same_local_submission_twice_is_one(tiny: Any, tmp_path: Path, good_zip: bytes) -> None:
    (tmp_path / "own.zip").write_bytes(good_zip)
    assert submit(tmp_path / "own.zip") == submit(tmp_path / "own.zip")
    assert submit(tmp_path / "own.zip", name="Another") != submit(tmp_path / "own.zip")
    assert Submission.objects.count() == 2


def test_a_local_submission_is_held_to_the_form_s_rules(tiny: Any, tmp_path: Path, good_zip: bytes) -> None:
    (tmp_path / "own.zip").write_bytes(good_zip)
    with pytest.raises(SiteError, match=r"(?s)link.*valid URL"):
        submit(tmp_path / "own.zip", link="javascript:alert(1)")
    with pytest.raises(SiteError, match="It has: tiny"):
        commands.submit_local(settings.FOLDER.root, "glu", "a@b.org", tmp_path, model="x", name="y")


def test_migrations_are_complete(db: None) -> None:
    from django.core.management import call_command

    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def gluebench(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """The program in a process of its own, with the umask that most accounts have."""
    home = str(Path(__file__).parents[2] / "src")
    mine = {name: value for name, value in os.environ.items() if not name.startswith("GLUEBENCH_")}
    command = [sys.executable, "-m", "gluebench", "leaderboard", *words]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "umask": 0o022, **options}
    return subprocess.run(command, env={**mine, "PYTHONPATH": home}, text=True, **options)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[SiteFolder, str]:
    """A site with tables after an `init` without a terminal, and what that printed."""
    site = SiteFolder(tmp_path_factory.mktemp("made") / "site")
    new_site(site.root)
    done = gluebench("init", "--site", str(site.root))
    assert done.returncode == 0, done.stderr
    return site, done.stdout


def test_all_files_of_a_site_are_its_account_s_alone(made: tuple[SiteFolder, str]) -> None:
    site, _ = made
    assert site.database.is_file()
    opened = [path for path in site.root.rglob("*") if path.is_file() and path.stat().st_mode & 0o077]
    assert opened == []


def test_a_database_that_was_left_open_is_closed(made: tuple[SiteFolder, str]) -> None:
    """Versions before this one made it readable by everybody."""
    site, _ = made
    beside = site.database_files[1]
    for path in (site.database, beside):
        path.touch()
        path.chmod(0o644)
    site.require()
    assert [path.stat().st_mode & 0o777 for path in (site.database, beside)] == [0o600, 0o600]
    site.database.chmod(0o644)
    finding = next(each for each in checks.examine(site) if each.name == "database")
    assert finding.fix == f"Run: chmod -R o= {site.database}*"
    site.database.chmod(0o600)


def test_a_password_goes_into_no_log(made: tuple[SiteFolder, str]) -> None:
    site, said = made
    email, password = site.password_file.read_text().split()
    assert email == "admin@localhost"
    assert password not in said
    assert str(site.password_file) in said
    assert site.password_file.stat().st_mode & 0o777 == 0o600


def test_a_password_is_shown_on_a_terminal_and_is_in_no_file(made: tuple[SiteFolder, str]) -> None:
    site, _ = made
    terminal, end = pty.openpty()
    before = site.password_file.read_bytes()
    try:
        done = gluebench("admin", "ada@example.org", "--site", str(site.root), stdout=end)
        said = os.read(terminal, 10_000).decode()
    finally:
        os.close(terminal)
        os.close(end)
    assert done.returncode == 0, done.stderr
    password = re.search(r"Password, shown this once: (\S{20})", said)
    assert password
    assert site.password_file.read_bytes() == before


def test_the_site_that_is_named_goes_before_the_environment_s(tmp_path: Path) -> None:
    """`--site` beside a GLUEBENCH_SITE of another site was refused as two sites in one process."""
    home = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "GLUEBENCH_SITE": str(tmp_path / "another"), "PYTHONPATH": home}
    environment.pop("GLUEBENCH_DATABASE", None)  # its own, which shows whose it is
    new_site(tmp_path / "mine")
    words = ["leaderboard", "doctor", "--site", str(tmp_path / "mine")]
    done = subprocess.run(
        [sys.executable, "-m", "gluebench", *words], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "another").exists()
