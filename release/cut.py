"""Make a release: `make release VERSION=0.1.0`. It publishes nothing.

It writes the version where it stands, keeps a site of this version for the tests of later upgrades, builds
the files in dist/, and runs every check on what is then there. Then it shows what it would tag, and commits
and tags only if you type the version. Otherwise, and if a check fails, the tree is as it was before. To
publish, push the commit and the tag and upload the files yourself: the last lines say how.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION_FILE = "src/gluebench/version.py"
CHANGELOG = "CHANGELOG.md"
CITATION = "CITATION.cff"
UNRELEASED = "## [Unreleased]"
DIST = ROOT / "dist"
STEPS = ("dist", "check", "test-all", "audit", "docs-version")
"""Targets of the Makefile; each must succeed on the tree as it is to be released."""


class ReleaseError(Exception):
    """Why no release is made; the message says what to do."""


def main() -> None:
    """Make the release that the command names, and leave the tree as it was if anything fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("version", help="as 0.1.0, by semantic versioning")
    version = parser.parse_args().version
    try:
        expect_ready(version)
        release(version, datetime.date.today(), confirm=read_answer)
    except ReleaseError as error:
        sys.exit(f"error: {error}")


def read_answer(question: str) -> str:
    """A line from the terminal; empty where there is none to type it."""
    try:
        return input(question)
    except EOFError:
        return ""


def release(version: str, day: datetime.date, *, confirm: Callable[[str], str]) -> None:
    """Prepare, check and, if confirmed, commit and tag. Raises ReleaseError; the tree is then restored."""
    finished = False
    try:
        write_version(version, day)
        keep_site(version)
        for step in STEPS:
            run("make", step)
        expect_only(changed_by_release(version))
        collect(version)
        show(version)
        if confirm(f"Type {version} to commit and tag it, anything else to leave it: ").strip() != version:
            raise ReleaseError(f"not confirmed; nothing is committed. The files are in {DIST}")
        run("git", "commit", "--quiet", "--all", "--message", f"Release {version}")
        run("git", "tag", "--annotate", f"v{version}", "--message", f"gluebench {version}")
        finished = True
    finally:
        if not finished:
            run("git", "reset", "--quiet", "--hard")
            run("git", "clean", "--quiet", "--force", kept_site(version))
    print(f"\nTagged v{version}; nothing is published. To publish it:")
    print(f"  git push origin HEAD v{version}")
    print(f"  twine upload dist/gluebench-{version}-py3-none-any.whl dist/gluebench-{version}.tar.gz")
    print("  put the files of dist/ beside the tag, and those of site/ where the manual is served")


def expect_ready(version: str) -> None:
    """Raise ReleaseError unless the tree can be released as this version."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise ReleaseError(f"{version} is no version; expected three numbers, as 0.1.0")
    changed = output("git", "status", "--porcelain")
    if changed:
        raise ReleaseError(f"the tree has changes; commit them first:\n{changed}")
    tags = [tag.removeprefix("v") for tag in output("git", "tag", "--list", "v*").split()]
    later = [tag for tag in tags if numbers(tag) >= numbers(version)]
    if later:
        raise ReleaseError(f"{', '.join(later)} is tagged already; choose a later version than these")
    if not notes():
        raise ReleaseError(f"{CHANGELOG}: nothing stands below {UNRELEASED}; say what changed for users")


def numbers(version: str) -> list[int]:
    """The parts of a version, to compare."""
    return [int(part) for part in version.split(".")]


def notes() -> str:
    """What the changelog says of the next release."""
    text = (ROOT / CHANGELOG).read_text("utf-8")
    return text.partition(UNRELEASED)[2].partition("\n## [")[0].strip()


def write_version(version: str, day: datetime.date) -> None:
    """Write version and date into the package, the changelog and the citation."""
    replace(VERSION_FILE, r'__version__ = "[^"]*"', f'__version__ = "{version}"')
    replace(CHANGELOG, re.escape(UNRELEASED), f"{UNRELEASED}\n\n## [{version}] - {day}")
    replace(CITATION, r"(?m)^date-released: .*\n", "", least=0)
    replace(CITATION, r"(?m)^version: .*$", f"version: {version}\ndate-released: {day}")


def replace(name: str, pattern: str, text: str, *, least: int = 1) -> None:
    """Replace the first match in a file. Raises ReleaseError if there is none."""
    path = ROOT / name
    changed, count = re.subn(pattern, lambda match: text, path.read_text("utf-8"), count=1)
    if count < least:
        raise ReleaseError(f"{name}: has no {pattern}")
    path.write_text(changed, "utf-8")


def kept_site(version: str) -> str:
    """The site that later versions must bring up to date."""
    return f"tests/leaderboard/older/site-{version}.tar.gz"


def keep_site(version: str) -> None:
    """Make the folder of a site by this version, for tests/leaderboard/test_upgrades.py."""
    run(sys.executable, "tests/leaderboard/older_site.py", kept_site(version))
    run("git", "add", kept_site(version))


def collect(version: str) -> None:
    """Put what the steps made beside the distributions: the list of pins, the manual, and all digests."""
    shutil.copyfile(ROOT / "sbom.json", DIST / f"gluebench-{version}-sbom.json")
    with tarfile.open(DIST / f"gluebench-{version}-docs.tar.gz", "w:gz") as archive:
        archive.add(ROOT / "site" / version, version)
    lines = []
    for path in sorted(DIST.iterdir()):
        lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")
    (DIST / "SHA256SUMS").write_text("".join(lines))


def changed_by_release(version: str) -> set[str]:
    """The files that a release commits."""
    return {VERSION_FILE, CHANGELOG, CITATION, kept_site(version)}


def expect_only(names: set[str]) -> None:
    """Raise ReleaseError if a check changed a file or left one behind, which the release would not have."""
    changed = output("git", "diff", "--name-only", "HEAD").splitlines()
    changed += output("git", "ls-files", "--others", "--exclude-standard").splitlines()
    others = {*changed} - names
    if others:
        raise ReleaseError(f"the checks changed {', '.join(sorted(others))}; commit or ignore these first")


def show(version: str) -> None:
    """Print what would be released."""
    print(f"\ngluebench {version}, from {output('git', 'rev-parse', '--short', 'HEAD')}:")
    print(output("git", "diff", "--stat", "HEAD"))
    for path in sorted(DIST.iterdir()):
        print(f"  {path.name}: {path.stat().st_size:,} bytes")


def run(*words: str) -> None:
    """Run a command of the release and show what it prints. Raises ReleaseError if it fails."""
    print(f"$ {' '.join(words)}", flush=True)
    status = subprocess.run(words, cwd=ROOT).returncode
    if status:
        raise ReleaseError(f"{' '.join(words)} failed with status {status}; nothing is committed")


def output(*words: str) -> str:
    """What a command prints. Raises ReleaseError if it fails."""
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise ReleaseError(done.stderr.strip())
    return done.stdout.strip()


if __name__ == "__main__":
    main()
