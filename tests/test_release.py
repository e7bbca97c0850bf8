"""The release: what its files may contain, and a command that tags only what was checked and confirmed."""

from __future__ import annotations

import datetime
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from fresh import ROOT

from docs.tools.site import list_versions
from release import cut, distribution

DAY = datetime.date(2026, 12, 1)
MAKEFILE = """
dist check test-all audit docs-version:
\techo $@ >> steps.log
\tmkdir -p dist site/0.1.0 && touch dist/gluebench-0.1.0.tar.gz site/0.1.0/index.html sbom.json
litter:
	echo made > made.txt
fail:
\tfalse
"""


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "init.defaultBranch=main", *words]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with the files that a release changes; `make` does nothing but note its targets."""
    for name in (cut.VERSION_FILE, cut.CHANGELOG, cut.CITATION):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / ".gitignore").write_text("/dist/\n/site/\n/sbom.json\n/steps.log\n")
    site = tmp_path / "tests/leaderboard/older_site.py"
    site.parent.mkdir(parents=True)
    site.write_text("import sys; open(sys.argv[1], 'w').write('a site')\n")
    (site.parent / "older").mkdir()
    (site.parent / "older/site-4764144e.tar.gz").write_text("older\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "user.name", "A")
    git(tmp_path, "config", "user.email", "a@example.org")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "Begin")
    monkeypatch.setattr(cut, "ROOT", tmp_path)
    monkeypatch.setattr(cut, "DIST", tmp_path / "dist")
    return tmp_path


def state(tree: Path) -> tuple[str, str, str]:
    return git(tree, "rev-parse", "HEAD"), git(tree, "status", "--porcelain"), git(tree, "tag")


def test_a_confirmed_release_is_committed_and_tagged_and_nothing_is_pushed(
    tree: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cut.expect_ready("0.1.0")
    cut.release("0.1.0", DAY, confirm=lambda question: "0.1.0")
    assert git(tree, "tag") == "v0.1.0"
    assert git(tree, "log", "-1", "--format=%s") == "Release 0.1.0"
    assert git(tree, "status", "--porcelain") == ""
    assert (tree / "steps.log").read_text().split() == [*cut.STEPS]
    changelog = (tree / "CHANGELOG.md").read_text()
    assert changelog.index("## [Unreleased]\n\n## [0.1.0] - 2026-12-01\n") > 0
    citation = yaml.safe_load((tree / "CITATION.cff").read_text())
    assert (citation["version"], citation["date-released"]) == ("0.1.0", DAY)
    assert '__version__ = "0.1.0"' in (tree / cut.VERSION_FILE).read_text()
    assert "tests/leaderboard/older/site-0.1.0.tar.gz" in git(tree, "ls-files")
    names = {path.name for path in (tree / "dist").iterdir()}
    assert {"SHA256SUMS", "gluebench-0.1.0-sbom.json", "gluebench-0.1.0-docs.tar.gz"} < names
    shown = capfd.readouterr().out
    assert "nothing is published" in shown
    assert not re.search(r"^\$ .*(?:push|upload)", shown, re.MULTILINE)
    with pytest.raises(cut.ReleaseError, match=r"0\.1\.0 is tagged already"):
        cut.expect_ready("0.1.0")


@pytest.mark.parametrize("answer", ["", "yes"])
def test_without_the_version_as_answer_the_tree_is_as_before(tree: Path, answer: str) -> None:
    before = state(tree)
    with pytest.raises(cut.ReleaseError, match="not confirmed"):
        cut.release("0.1.0", DAY, confirm=lambda question: answer)
    assert state(tree) == before


def test_a_check_that_fails_leaves_the_tree_as_before(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state(tree)
    monkeypatch.setattr(cut, "STEPS", ("dist", "fail", "audit"))
    with pytest.raises(cut.ReleaseError, match="make fail failed with status 2; nothing is committed"):
        cut.release("0.1.0", DAY, confirm=lambda question: "0.1.0")
    assert state(tree) == before
    assert (tree / "steps.log").read_text().split() == ["dist"]


def test_a_check_that_leaves_a_file_behind_is_no_release(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "STEPS", ("dist", "litter"))
    with pytest.raises(cut.ReleaseError, match=r"the checks changed made\.txt"):
        cut.release("0.1.0", DAY, confirm=lambda question: "0.1.0")
    assert git(tree, "tag") == ""
    assert git(tree, "diff", "HEAD") == ""


def test_what_cannot_be_released_is_refused_at_once(tree: Path) -> None:
    with pytest.raises(cut.ReleaseError, match="three numbers"):
        cut.expect_ready("0.1")
    (tree / "CITATION.cff").write_text("changed")
    with pytest.raises(cut.ReleaseError, match=r"the tree has changes.*\n.*CITATION"):
        cut.expect_ready("0.1.0")
    git(tree, "checkout", "--quiet", "CITATION.cff")
    (tree / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n\n## [0.0.9] - 2026-01-01\n\n- A\n")
    git(tree, "commit", "--quiet", "--all", "--message", "Say nothing")
    with pytest.raises(cut.ReleaseError, match=r"nothing stands below ## \[Unreleased\]"):
        cut.expect_ready("0.1.0")


# ---------------------------------------------------------------- files


@pytest.mark.xdist_group("wheel")
def test_a_wheel_with_a_file_too_many_or_too_few_or_without_a_license_is_refused(
    wheel: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    (facts,) = [name for name in members if name.endswith("METADATA")]
    members["gluebench/notes.txt"] = b"mine"
    del members["gluebench/py.typed"]
    license_line = b"License-File: src/gluebench/leaderboard/static/site/inter-LICENSE.txt\n"
    members[facts] = members[facts].replace(license_line, b"").replace(b" AND OFL-1.1", b"")
    changed = tmp_path / wheel.name
    with zipfile.ZipFile(changed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    problems = [problem.removeprefix(f"{wheel.name}: ") for problem in distribution.problems_of(changed)]
    assert "bytes; expected at most 4,000,000" in problems[0], "the copy is not compressed"
    assert problems[1:] == [
        "has gluebench/notes.txt, which is not in the repository",
        "lacks gluebench/py.typed",
        "gluebench/leaderboard/static/site/inter.woff2: the metadata lack its license, inter-LICENSE.txt",
        "has a font, and the license expression lacks OFL-1.1",
    ]


@pytest.mark.slow
def test_the_source_distribution_has_what_is_in_git_and_builds_the_same_wheel(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (source,) = tmp_path.glob("*.tar.gz")
    assert distribution.problems_of(source) == []
    (wheel,) = tmp_path.glob("*.whl")
    assert distribution.problems_of(wheel) == [], "built from the source distribution"


# ---------------------------------------------------------------- versions of the manual, and the jobs


def test_the_versions_of_the_manual_are_listed_newest_first(tmp_path: Path) -> None:
    for version in ("0.2.0", "0.10.0", "0.9.1"):
        (tmp_path / version).mkdir()
    list_versions(tmp_path)
    listed = json.loads((tmp_path / "versions.json").read_text())
    assert [entry["version"] for entry in listed] == ["0.10.0", "0.9.1", "0.2.0"]
    assert [entry["aliases"] for entry in listed] == [["latest"], [], []]
    assert 'url=0.10.0/index.html"' in (tmp_path / "index.html").read_text()


def test_the_jobs_run_targets_that_exist_on_every_python_that_the_package_names() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())["jobs"]
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    used = {name for command in commands for name in re.findall(r"^make ([\w-]+)", command)}
    assert {"check", "test", "dist", "docs"} <= used <= targets
    assert set(cut.STEPS) <= targets
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    named = [line.rpartition(" ")[2] for line in classifiers if "Python :: 3." in line]
    assert jobs["test"]["strategy"]["matrix"]["python"] == named
