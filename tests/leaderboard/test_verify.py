"""`verify` finds every alteration of a site, of its ledger and of copies of it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote

import pytest
from click.testing import CliRunner
from django.conf import settings
from django.core.cache import caches
from django.test import override_settings
from django.utils import timezone
from leaderboard.material import CANARIES, MANIFEST, PREDICTIONS, write_gold, zip_bytes
from leaderboard.sealing import catch_up
from leaderboard.test_ranks import renewed

from gluebench.cli import main
from gluebench.leaderboard import commands
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.ledger.models import Change, Leaf, add, checkpoint_note, signer
from gluebench.leaderboard.apps.ledger.notes import read_key
from gluebench.leaderboard.apps.ledger.verify import Verification, verify_released
from gluebench.leaderboard.apps.ledger.views import receipt_of
from gluebench.leaderboard.apps.limits.phase_acts import save_phase
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.submissions import acts
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.keeping import integrity
from gluebench.leaderboard.keeping.folder import SiteError
from gluebench.leaderboard.keeping.freeze import freeze, sign_files


def findings(**options: Any) -> list[str]:
    caches["pages"].clear()  # as in a process of its own
    result = Verification()
    integrity.verify(result, **options)
    return result.findings


@pytest.fixture
def site(graded: Callable[..., Submission], ada: Any) -> Submission:
    """Three systems, two on the board, with a history."""
    first = graded(team="Owls", description="Of *owls*.")
    graded(zip_bytes({**PREDICTIONS, "Para": "000000"}), name="Another system", parameters=12)
    hidden = graded(name="A private one", public=False)
    acts.publish(hidden, public=True)
    acts.withdraw(hidden)
    acts.edit(first, ada, {"name": "A better name"})
    assert findings() == []
    return first


def test_a_kept_checkpoint_must_be_of_the_same_log(site: Submission, ada: Any) -> None:
    kept = checkpoint_note()
    acts.edit(site, ada, {"name": "Later"})
    assert findings(kept=kept) == []
    other = signer().sign(kept.rpartition("\n\n")[0].replace("\n5\n", "\n4\n") + "\n")
    assert findings(kept=other) == ["ledger: its first 4 entries are not those of the kept checkpoint"]
    assert "not signed" in findings(kept=kept.replace("ledger\n", "ledge\n", 1).replace("— l", "— L"))[0]


def test_another_key_is_told(site: Submission) -> None:
    key = str(signer()._replace(seed=bytes(32)).key)
    assert "not signed by" in findings(key=read_key(key))[0]


def test_a_rewritten_ledger_is_told_from_the_kept_one(site: Submission) -> None:
    """Somebody with the site's key makes a new history: only who kept a checkpoint can tell."""
    from gluebench.leaderboard.apps.ledger.models import Node

    kept = checkpoint_note()
    Leaf.objects.all().delete()
    Node.objects.all().delete()
    catch_up()
    add([Change({"kind": "test"})] * 10)
    assert findings() == []
    assert findings(kept=kept) == ["ledger: its first 5 entries are not those of the kept checkpoint"]


@pytest.fixture(scope="module")
def kept_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept") / "copy"


@pytest.fixture
def frozen(request: pytest.FixtureRequest, db: None, kept_copy: Path, tmp_path: Path) -> Path:
    """A frozen copy of a site as `site`, which the first test that asks for it makes."""
    if not kept_copy.exists():
        request.getfixturevalue("site")
        freeze(kept_copy, ["tiny"])
    return shutil.copytree(kept_copy, tmp_path / "frozen")


def key_in(copy: Path) -> str:
    """The key of the system with the better name."""
    rows = json.loads((copy / "benchmarks/tiny.json").read_text())["rows"]
    (key,) = [row["key"] for row in rows if row["name"] == "A better name"]
    return str(key)


def copied(folder: Path) -> list[str]:
    return commands.verify(str(folder), None, None, None, recompute=True).findings


def test_a_frozen_copy_verifies_and_has_the_same_ranks(frozen: Path) -> None:
    assert copied(frozen) == []


@pytest.fixture
def phases(site: Submission, graded: Callable[..., Submission]) -> list[Phase]:
    """A closed phase and an open one, each with systems on its board; what was there before has no phase."""
    now, day = timezone.now(), timedelta(days=1)
    made = []
    for name, closes in (("First", now + day), ("Second", None)):
        made.append(Phase(benchmark=Benchmark.objects.get(), name=name, opens=now - 2 * day, closes=closes))
        save_phase(made[-1])
        graded(zip_bytes({**PREDICTIONS, "Para": "111000"}), name=f"One of {name}")
        graded(zip_bytes({**PREDICTIONS, "Para": "000111"}), name=f"Another of {name}")
        if closes:
            made[-1].opens, made[-1].closes = now - 4 * day, now - 3 * day
            save_phase(made[-1])
    return made


def test_the_boards_of_all_phases_are_in_a_frozen_copy_that_verifies(
    phases: list[Phase], tmp_path: Path
) -> None:
    assert findings() == []
    freeze(tmp_path / "frozen", ["tiny"])
    assert copied(tmp_path / "frozen") == []
    board = tmp_path / "frozen" / "benchmarks" / f"tiny@phase={phases[0].pk}.json"
    values = json.loads(board.read_text())
    assert {row["name"] for row in values["rows"]} == {"One of First", "Another of First"}
    values["rows"].pop()
    board.write_text(json.dumps(values))
    assert [text for text in copied(tmp_path / "frozen") if "is missing in the board" in text]


def test_the_links_of_a_frozen_copy_lead_to_its_files(frozen: Path) -> None:
    pages = list(frozen.rglob("*.html"))
    assert {"index.html", "benchmarks/tiny.html", "benchmarks/tiny/changes.html", "ledger.html"} <= {
        page.relative_to(frozen).as_posix() for page in pages
    }
    for page in pages:
        links = re.findall(r'(?:href|src)="([^"]*)"', page.read_text())
        assert links
        for link in links:
            if not link.startswith(("http:", "https:", "#")):
                path = unquote(link.partition("#")[0])
                assert not path.startswith("/"), (page, link)
                assert (page.parent / path).is_file(), (page, link)
        text = page.read_text()
        assert not re.search("Sign in|Submit predictions|type=.module", text)
        is_board = 'id="board"' in text
        assert len(re.findall("<script|<form", text)) == (2 if is_board else 0), page
        assert ("data-copy" in text) == is_board


def test_a_frozen_copy_has_the_address_of_its_site_and_every_account_can_read_it(
    site: Submission, tmp_path: Path
) -> None:
    running, folder = settings.RUNNING._replace(hosts=("board.example.org",)), tmp_path / "frozen"
    umask = os.umask(0o077)  # that of a site's processes
    try:
        with override_settings(RUNNING=running, HTTPS=True, ALLOWED_HOSTS=["board.example.org"]):
            freeze(folder, ["tiny"])
    finally:
        os.umask(umask)
    files = [path for path in folder.rglob("*") if path.is_file()]
    texts = b"".join(path.read_bytes() for path in files)
    assert b"https://board.example.org/benchmarks/tiny" in texts
    assert b"://localhost" not in texts
    assert {path.stat().st_mode & 0o777 for path in files} == {0o644}
    assert {
        path.stat().st_mode & 0o777
        for path in (folder, *(path for path in folder.rglob("*") if path.is_dir()))
    } == {0o755}


def test_a_private_submission_is_not_in_a_frozen_copy(site: Submission, tmp_path: Path) -> None:
    frozen = tmp_path / "frozen"
    freeze(frozen, ["tiny"])
    hidden = Submission.objects.get(name="A private one").key
    shown = [path for path in frozen.rglob("*") if path.is_file() and "changes" not in path.name]
    shown = [path for path in shown if "ledger" not in path.parts]  # that it was there, and left
    assert [path for path in shown if hidden in path.name or hidden.encode() in path.read_bytes()] == []


def test_labels_are_in_a_frozen_copy_only_when_released(site: Submission, tmp_path: Path) -> None:
    freeze(tmp_path / "frozen")
    assert not (tmp_path / "frozen" / "release").exists()
    files = b"".join(path.read_bytes() for path in (tmp_path / "frozen").rglob("*") if path.is_file())
    assert not [canary for canary in CANARIES if canary.encode() in files]
    result = commands.verify(str(tmp_path / "frozen"), recompute=True)
    assert result.findings == []
    assert result.checked[-1] == "This copy has no labels, so nothing was graded again."


@pytest.mark.parametrize("path", ["release/tiny/gold/Para.tsv", "benchmarks/tiny.json"])
def test_other_labels_or_ranks_are_found_without_the_sums_too(frozen: Path, path: str) -> None:
    file = frozen / path
    if path.endswith(".tsv"):
        file.write_text(file.read_text().replace("0\t1", "0\t0", 1))
    else:
        board = json.loads(file.read_text())
        board["rows"][0]["rank"] += 1
        file.write_text(json.dumps(board))
    result = Verification()
    verify_released(result, frozen)
    key = key_in(frozen)
    first = result.findings[0]
    if path.endswith(".tsv"):
        assert first.startswith(f"tiny: the score of 'A better name' ({key}) is ")
        assert [
            text for text in result.findings if f"the score of Para of 'A better name' ({key}) is" in text
        ]
    else:
        assert result.findings == [
            f"tiny: the rank of 'A better name' ({key}) is 2 on the board, 1 when graded again"
        ]


@pytest.mark.parametrize("name", ["/planted", "../planted", "..", ""])
def test_a_copy_of_an_attacker_plants_no_link(
    frozen: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy is signed anew with a key of its own, so its list of files is right."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    about = frozen / "release/tiny/release.json"
    key = key_in(frozen)
    planted = str(tmp_path / "planted") if name == "/planted" else name
    about.write_text(json.dumps(json.loads(about.read_text()) | {"filenames": {key: planted}}))
    (frozen / "SHA256SUMS").unlink()
    sign_files(frozen, "gluebench.frozen/1")
    assert copied(frozen) == [f"release: ValueError: {planted!r} is not a plain file name"]
    assert not (tmp_path / "planted").is_symlink()


def test_an_altered_copy_is_not_graded_again(frozen: Path) -> None:
    (frozen / "release/tiny/gold/Para.tsv").write_text("index\tlabel\n")
    assert copied(frozen) == [
        "release/tiny/gold/Para.tsv: not as it was frozen",
        "Nothing was graded again, because the checks of this copy failed.",
    ]


def test_a_missing_file_and_a_linked_folder_are_named(frozen: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (frozen / "benchmarks/x").symlink_to(tmp_path / "elsewhere")
    assert commands.verify(str(frozen)).findings == ["benchmarks/x: added"]
    (frozen / "ledger/rows.json").unlink()
    assert commands.verify(str(frozen)).findings == ["ledger/rows.json is missing"]


def test_verify_says_what_to_check_instead(frozen: Path, tmp_path: Path) -> None:
    with pytest.raises(SiteError, match=rf"no SHA256SUMS in it; .* Check {frozen}, which has one"):
        commands.verify(str(tmp_path))
    (tmp_path / "copy.zip").write_bytes(zip_bytes(PREDICTIONS))
    with pytest.raises(SiteError, match="Unzip it"):
        commands.verify(str(tmp_path / "copy.zip"))


def test_scores_on_public_labels_are_the_same_when_graded_again(
    graded: Callable[..., Submission], tmp_path: Path
) -> None:
    """A site computes the average from scores that it stored with 12 digits."""
    text = re.sub(r"(?m)^(title = .*\ncolumns)", r"private = false\n\1", MANIFEST.read_text())
    (tmp_path / "open.toml").write_text(text.replace('name = "tiny"', 'name = "open"', 1))
    add_benchmark(str(tmp_path / "open.toml"), write_gold(tmp_path / "gold"))
    benchmark = Benchmark.objects.get(name="open")
    benchmark.settings = {"per_day": None, "at_once": None}
    benchmark.save()
    assert all(task.labels_public for task in benchmark.record.tasks)
    for number in range(1, 8):
        similar = [f"{number / 3 + at * at / 7:.3f}" for at in range(5)]
        para = f"{number:06b}"
        graded(
            zip_bytes({**PREDICTIONS, "Sim": similar, "Para": para}), name=f"S{number}", benchmark=benchmark
        )
    freeze(tmp_path / "frozen", ["open"])
    assert copied(tmp_path / "frozen") == []


@pytest.mark.parametrize("rule", ["borda", "rank-score"])
def test_ranks_by_the_rule_of_the_manifest_are_the_same_when_computed_again(
    graded: Callable[..., Submission], tmp_path: Path, rule: str
) -> None:
    text = MANIFEST.read_text().replace('name = "tiny"', f'name = "ruled"\nrank_by = "{rule}"', 1)
    (tmp_path / "ruled.toml").write_text(text)
    add_benchmark(str(tmp_path / "ruled.toml"), write_gold(tmp_path / "gold"))
    benchmark = Benchmark.objects.get(name="ruled")
    benchmark.settings = {"per_day": None, "at_once": None}
    benchmark.save()
    for name, changes in {
        "Steady": {"Infer-m": ["neutral"] * 6, "Infer-mm": ["neutral"] * 3, "Refer": "0100"},
        "Lucky": {"Refer": "0101", "Sim": ["1", "3", "2", "4", "3"]},
        "Behind": {"Para": "000000", "Refer": "1011"},
    }.items():
        graded(zip_bytes({**PREDICTIONS, **changes}), name=name, benchmark=benchmark)
    graded(zip_bytes({"Para": PREDICTIONS["Para"]}), name="Incomplete", benchmark=benchmark)
    assert renewed(benchmark).failure == ""
    freeze(tmp_path / "frozen", ["ruled"])
    assert copied(tmp_path / "frozen") == []
    path = tmp_path / "frozen" / "benchmarks" / "ruled.json"
    board = json.loads(path.read_text())
    assert (board["ranked_by"], [row["rank"] for row in board["rows"]]) == (rule, [1, 2, 3, None])
    first = board["rows"][0]
    first["rank"] = 2
    path.write_text(json.dumps(board))
    result = Verification()
    verify_released(result, tmp_path / "frozen")
    assert result.findings == [
        f"ruled: the rank of {first['name']!r} ({first['key']}) is 2 on the board, 1 when graded again"
    ]


def run(*words: str | Path, code: int = 0) -> str:
    """What the command prints."""
    command = ["leaderboard", *map(str, words), "--site", str(settings.FOLDER.root)]
    caches["pages"].clear()
    done = CliRunner().invoke(main, command, catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout


def test_the_commands_check_a_site_a_copy_an_export_and_an_address(site: Submission, tmp_path: Path) -> None:
    assert "Nothing was altered" in run("verify")
    (tmp_path / "kept").write_text(checkpoint_note())
    assert "files; begin with index.html" in run("freeze", tmp_path / "copy", "--release-labels", "tiny")
    assert "same ranks" in run("verify", tmp_path / "copy", "--recompute", "--checkpoint", tmp_path / "kept")
    run("export", tmp_path / "all.tar")
    assert str(signer().key) in run("verify", tmp_path / "all.tar", "--key", signer().key)
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "copy"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        assert "5 entries signed" in run("verify", address, "--checkpoint", tmp_path / "kept")
        server.shutdown()
    Submission.objects.filter(pk=site.pk).update(name="Altered")
    said = run("verify", code=1)
    assert f"WRONG  public rows: 1 not as the ledger says: {site.key}." in said


def test_bytes_that_are_no_text_are_told_in_the_list_of_a_copy_and_a_kept_checkpoint(
    site: Submission, frozen: Path, tmp_path: Path
) -> None:
    (tmp_path / "kept").write_bytes(checkpoint_note().encode().replace(b"ledger", b"\xe1edger", 1))
    assert "WRONG  ledger: " in run("verify", frozen, "--checkpoint", tmp_path / "kept", code=1)
    sums = frozen / "SHA256SUMS"
    sums.write_bytes(sums.read_bytes().replace(b"index.html", b"\xe1ndex.html", 1))
    assert "WRONG  SHA256SUMS" in run("verify", frozen, code=1)


def test_a_receipt_is_checked_offline(site: Submission, tmp_path: Path) -> None:
    (tmp_path / "receipt").write_text(receipt_of(site))
    signed = ("--receipt", tmp_path / "receipt", "--key", signer().key)
    assert site.sha256 in run("verify", *signed)
    (tmp_path / "receipt").write_text(receipt_of(site).replace(site.sha256, "0" * 64))
    assert "WRONG  receipt" in run("verify", *signed, code=1)
    (tmp_path / "receipt").write_bytes(receipt_of(site).encode().replace(b"tiny", b"\xe1iny"))
    assert "WRONG  receipt" in run("verify", *signed, code=1)
    assert "not a public key" in CliRunner().invoke(main, ["leaderboard", "verify", "--key", "a+b"]).output
