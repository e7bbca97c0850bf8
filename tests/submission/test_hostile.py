"""Archives that must not be read: each is refused with its own code, and nothing of it is unpacked."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from submission import hostile
from submission.hostile import TABLE, End, Member, archive, bomb, error_codes, streamed
from submission.hostile_cases import BIG, GOOD, LAST, MIB, NAMES, STRUCTURES, named, nested, one

from gluebench.submission import archive as reader
from gluebench.submission import archive_problems
from gluebench.submission.archive import Archive, Limits, read_members
from gluebench.submission.archive_problems import tidy

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("case", NAMES)
def test_a_hostile_name_is_refused(case: str, read: Callable[[bytes], Archive]) -> None:
    name, code = NAMES[case]
    found = read(named(name))
    assert code in error_codes(found)
    assert not found.members
    for problem in found.problems:
        assert str(problem).isprintable()
        assert len(str(problem)) < 500


@pytest.mark.parametrize("case", STRUCTURES)
def test_a_hostile_archive_is_refused(
    case: str, read: Callable[[bytes], Archive], monkeypatch: pytest.MonkeyPatch
) -> None:
    make, code = STRUCTURES[case]
    data = make()
    inflated: list[int] = []
    inflate = reader._inflate
    monkeypatch.setattr(
        reader, "_inflate", lambda packed, size: (inflated.append(size), inflate(packed, size))[1]
    )
    found = read(data)
    assert sum(inflated) <= Limits().total
    assert code in error_codes(found)
    assert "MRPC.tsv" not in found.members
    if code not in CONTENT_CODES:
        assert not inflated
        assert not found.members


CONTENT_CODES = {"nested-archive", "bad-crc", "corrupt-data", "truncated-member", "forged-size"}
"""What only inflating can show; the other members are still read, to be checked as well."""


def test_every_code_of_a_zip_is_shown_by_a_case() -> None:
    shown = {code for _, code in NAMES.values()} | {code for _, code in STRUCTURES.values()}
    of_the_source = {
        "not-found",
        "unreadable",
        "not-a-file",
        "empty-file",
        "wrong-archive",
        "spreadsheet",
        "unknown-kind",
        "too-large",
    }
    assert shown | of_the_source | {"changed", "more-problems"} == set(archive_problems.REFUSALS)


def test_every_code_is_explained_in_the_manual() -> None:
    page = (ROOT / "docs" / "explanation" / "archives.md").read_text()
    for code in (*archive_problems.REFUSALS, *archive_problems.NOTICES):
        assert f"`{code}`" in page


def test_all_faults_are_said_together(read: Callable[[bytes], Archive]) -> None:
    found = read(
        archive(Member("../a.tsv"), Member("nul"), Member("l", mode=0o120777), Member(flags=1), GOOD)
    )
    assert error_codes(found) == ["path-traversal", "device-name", "symlink", "encrypted"]
    assert [problem.file for problem in found.problems] == ["../a.tsv", "nul", "l", "MRPC.tsv"]


def test_a_storm_of_faults_is_counted(read: Callable[[bytes], Archive]) -> None:
    found = read(archive(*(Member(f"../{at}.tsv", b"", method=0) for at in range(60))))
    assert error_codes(found) == ["path-traversal"] * 20 + ["more-problems"]
    assert found.problems[-1].value == "40"


def test_every_message_says_what_and_how(read: Callable[[bytes], Archive]) -> None:
    for advice in archive_problems.REFUSALS.values():
        assert not advice.expected.endswith(".")
        assert advice.fix.endswith(".")
    assert not any(found.endswith(".") for found in archive_problems.NOTICES.values())


def test_a_zip_over_the_upload_limit_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "submission.zip"
    with path.open("wb") as file:
        file.write(archive(GOOD))
        file.truncate(17 * MIB)
    assert error_codes(read_members(path)) == ["too-large"]
    assert error_codes(read_members(path, limits=Limits(upload=100))) == ["too-large"]


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "in" / "deep" / "submission.zip"
    path.parent.mkdir(parents=True)
    monkeypatch.chdir(path.parent)
    for make in (
        lambda: named("../MRPC.tsv"),
        lambda: one(mode=0o120777),
        nested,
        lambda: archive(GOOD, LAST),
    ):
        path.write_bytes(make())
        read_members(path)
        assert [str(each) for each in tmp_path.rglob("*") if each.is_file()] == [str(path)]


MEASURE = """
import resource, sys
from gluebench.submission.archive import read_members
found = read_members(sys.argv[1])
assert any(problem.severity == "error" for problem in found.problems)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.parametrize(("stated", "most"), [(BIG, 50), (1000, 50), (10 * MIB, 50), (60 * MIB, 160)])
def test_a_bomb_costs_no_memory(stated: int, most: int, tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    path.write_bytes(archive(bomb(BIG, stated=stated)))
    script = tmp_path / "measure.py"
    script.write_text(MEASURE)
    assert peak_memory(script, path) < most, "MiB"


def peak_memory(script: Path, *arguments: Path) -> int:
    """What a child that runs the script prints: its peak in MiB."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    # Through a shell that stays, because a child's peak begins at the peak of the process that starts it.
    command = ["sh", "-c", '"$@"; exit $?', "sh", sys.executable, str(script), *map(str, arguments)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return int(ran.stdout)


CHECK = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from gluebench.submission import check
assert check(sys.argv[1], "glue").verdict == "invalid"
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.parametrize(("name", "unit"), [("STS-B", b"0\t1.5\n"), ("QQP", b"\n"), ("QQP", b"x")])
def test_a_file_just_under_the_ratio_limit_costs_little_memory(
    name: str, unit: bytes, tmp_path: Path
) -> None:
    """60 MiB of it, of which the archive and inflating hold two copies for a moment: 135 MiB in all."""
    block = unit * (MIB // len(unit))
    stored = zlib.compressobj(0, zlib.DEFLATED, -15)
    packed = stored.compress(block[: MIB // 90]) + stored.flush(zlib.Z_FULL_FLUSH)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed += packer.compress(block[MIB // 90 :]) + packer.flush(zlib.Z_FULL_FLUSH)
    member = Member(f"{name}.tsv", block * 60, packed=packed * 60 + hostile.deflate(b""))
    (tmp_path / "dense.zip").write_bytes(archive(member))
    script = tmp_path / "measure.py"
    script.write_text(CHECK)
    assert peak_memory(script, tmp_path / "dense.zip") < 200, "MiB"


def mutated(data: bytes, generator: random.Random) -> bytes:
    """The data with a few bytes changed, cut, doubled or moved; half of the time near its records."""
    changed = bytearray(data)
    for _ in range(generator.randint(1, 4)):
        records = [at for at in range(len(changed) - 3) if changed[at : at + 2] == b"PK"] or [0]
        near = min(generator.choice(records) + generator.randrange(46), max(0, len(changed) - 1))
        at = near if generator.random() < 0.7 else generator.randrange(len(changed) + 1)
        length = generator.choice((1, 1, 1, 2, 4, 8, 30))
        kind = generator.randrange(5)
        if kind == 0:
            changed[at : at + length] = generator.randbytes(length)
        elif kind == 1:
            changed[at : at + length] = generator.choice((b"\0", b"\xff")) * length
        elif kind == 2:
            del changed[at : at + length]
        elif kind == 3:
            changed[at:at] = changed[at : at + length]
        elif at < len(changed):
            changed[at] ^= 1 << generator.randrange(8)
    return bytes(changed)


def accepted_as_elsewhere(data: bytes, found: Archive) -> None:
    """What is accepted after all is what was put in, and what the standard library reads."""
    assert set(found.members.values()) <= {TABLE}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as zipped:
            read = {tidy(name.replace("\\", "/")): zipped.read(name) for name in zipped.namelist()}
    except NotImplementedError:
        return  # it does not know the version that a field states; the content needs no such version
    for path, content in found.members.items():
        assert read[path] == content


def fuzz(path: Path, rounds: int, seed: int) -> int:
    """Mutate, read, compare; returns how many were accepted."""
    generator = random.Random(seed)
    member, accepted = Member("run/MRPC.tsv"), 0
    seeds = [
        archive(GOOD, LAST),
        archive(streamed(GOOD), streamed(member, marked=False), end=End(comment=b"made by hand")),
        archive(GOOD, member, end=End(full=True, zip64=lambda *honest: hostile.end_64(*honest))),
        archive(Member(method=0), Member("README", b"")),
    ]
    for round_ in range(rounds):
        data = mutated(seeds[round_ % len(seeds)], generator)
        path.write_bytes(data)
        found = read_members(path)
        if not error_codes(found):
            accepted += 1
            accepted_as_elsewhere(data, found)
    return accepted


def test_2000_mutated_zips_never_raise(tmp_path: Path) -> None:
    accepted = fuzz(tmp_path / "fuzzed.zip", 2000, seed=1)
    assert 0 < accepted < 1000


@pytest.mark.slow
def test_10000_mutated_zips_never_raise(tmp_path: Path) -> None:
    assert 0 < fuzz(tmp_path / "fuzzed.zip", 10_000, seed=2) < 5000
