"""The public ledger: what is added to it, its tree, its signatures, its pages and the receipts."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.utils import timezone

from gluebench.leaderboard.apps.ledger import notes, tree
from gluebench.leaderboard.apps.ledger.models import (
    Change,
    Leaf,
    Node,
    add,
    checkpoint_note,
    root,
    signer,
)
from gluebench.leaderboard.apps.submissions import acts
from gluebench.leaderboard.apps.submissions.grading import grade, regrade
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Kind


def plain_root(entries: list[bytes]) -> bytes:
    """The Merkle tree hash as section 2.1 of RFC 6962 defines it, by recursion."""
    if not entries:
        return hashlib.sha256(b"").digest()
    if len(entries) == 1:
        return hashlib.sha256(b"\x00" + entries[0]).digest()
    k = 1
    while 2 * k < len(entries):
        k *= 2
    return hashlib.sha256(b"\x01" + plain_root(entries[:k]) + plain_root(entries[k:])).digest()


def kinds(submission: Submission) -> list[str]:
    return [leaf.entry["kind"] for leaf in Leaf.objects.filter(submission=submission.key).order_by("index")]


@pytest.mark.parametrize("size", [*range(10), 255, 256, 257, 512, 1000])
def test_the_root_is_that_of_rfc_6962(size: int) -> None:
    entries = [f"entry {at}".encode() for at in range(size)]
    assert tree.root_of_all([tree.leaf_hash(entry) for entry in entries]) == plain_root(entries)


@pytest.mark.parametrize(
    ("path", "tile"),
    [
        ("tile/0/000", (0, 0, 256)),
        ("tile/0/x001/x234/067", (0, 1_234_067, 256)),
        ("tile/2/x001/000.p/7", (2, 1000, 7)),
        ("tile/entries/999.p/255", ("entries", 999, 255)),
    ],
)
def test_paths_of_tiles_are_those_of_the_specification(path: str, tile: tuple[Any, int, int]) -> None:
    assert tree.tile_path(*tile) == path
    assert tree.read_number(path.split("/", 2)[2]) == tile[1:]


@pytest.mark.parametrize(
    "path", ["0", "0000", "x000/001", "001/002", "000.p/0", "000.p/256", "000.p/01", "x1/000"]
)
def test_other_paths_are_none(path: str) -> None:
    assert tree.read_number(path) is None


def test_a_note_has_the_form_of_the_specification() -> None:
    by = notes.Signer("example.org/ledger", bytes(range(32)))
    note = by.sign("one\n\ntwo\n")
    head, last = note.rstrip("\n").rsplit("\n", 1)
    assert head == "one\n\ntwo\n"
    dash, name, signature = last.split(" ")
    data = base64.b64decode(signature)
    public = Ed25519PrivateKey.from_private_bytes(bytes(range(32))).public_key().public_bytes_raw()
    assert (dash, name) == ("\u2014", "example.org/ledger")
    assert data[:4] == hashlib.sha256(b"example.org/ledger\n\x01" + public).digest()[:4]
    Ed25519PublicKey.from_public_bytes(public).verify(data[4:], b"one\n\ntwo\n")
    assert notes.open_note(note, notes.read_key(str(by.key))) == "one\n\ntwo\n"


@pytest.mark.parametrize(
    ("old", "new"), [("one", "ono"), ("\u2014", "-"), ("\n\n\u2014", "\n\u2014"), ("=\n", "=")]
)
def test_a_changed_note_is_refused(old: str, new: str) -> None:
    by = notes.Signer("example.org/ledger", bytes(32))
    with pytest.raises(notes.NoteError):
        notes.open_note(by.sign("one\n").replace(old, new), by.key)


def test_every_change_of_a_public_row_is_an_entry(graded: Callable[..., Submission], ada: Any) -> None:
    one = graded(team="Owls")
    acts.edit(one, ada, {"name": "Another name"})
    acts.edit(one, ada, {"parameters": 12})
    acts.mark(one, ada, kind=Kind.BASELINE, verified=True)
    acts.withdraw(one)
    acts.restore(one)
    acts.decline(one, ada, "a secret reason")
    acts.approve(one, ada)
    acts.publish(one, public=False)
    acts.edit(one, ada, {"name": "Not public"})
    acts.publish(one, public=True)
    acts.edit(one, ada, {"description": "On its page"})
    acts.edit(one, ada, {"training_data": one.training_data})
    expected = ["added", "renamed", "edited", "marked", "withdrawn", "restored", "taken off", "restored"]
    assert kinds(one) == [*expected, "made private", "restored", "edited"]
    assert "secret" not in "".join(Leaf.objects.values_list("data", flat=True))


def test_a_new_score_is_an_entry_with_its_reason_and_the_same_score_is_none(
    graded: Callable[..., Submission], gold_folder: Any, tmp_path: Any
) -> None:
    import shutil

    from leaderboard.material import MANIFEST

    from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark

    one = graded()
    regrade(one.benchmark, "To be sure.")
    grade(one.pk)
    assert kinds(one) == ["added"]
    other = shutil.copytree(gold_folder, tmp_path / "gold")
    (other / "Para.tsv").write_text((other / "Para.tsv").read_text().replace("0\t1", "0\t0", 1))
    add_benchmark(str(MANIFEST), other)
    grade(one.pk)
    assert kinds(one) == ["added", "re-scored"]
    last = Leaf.objects.first()
    assert last is not None
    one.refresh_from_db()
    assert last.entry["reason"] == "The labels changed."
    assert last.entry["row"]["score"] == one.value
    assert last.entry["basis"]["labels"] == one.report["provenance"]["labels"]
    assert last.entry["basis"]["file_sha256"] == one.sha256


def test_what_is_revealed_says_so(tiny: Any, graded: Callable[..., Submission]) -> None:
    from gluebench.leaderboard.apps.limits.acts import change_policy
    from gluebench.leaderboard.apps.submissions.grading import reveal_due

    tomorrow = timezone.now().date() + timedelta(days=1)
    change_policy(tiny, {"public_share": 0.5, "reveal": tomorrow.isoformat()})
    one = graded()
    change_policy(tiny, {"reveal": timezone.now().date().isoformat()})
    grade(one.pk)
    reveal_due()
    grade(one.pk)
    assert kinds(one)[-1] == "revealed"


def test_nothing_of_a_private_submission_is_in_it(graded: Callable[..., Submission]) -> None:
    graded(public=False)
    assert not Leaf.objects.exists()


def test_names_of_a_deleted_account_go_and_the_tree_stays(
    graded: Callable[..., Submission], ada: Any
) -> None:
    one = graded(name="Ada's own", team="Lovelace")
    data = Leaf.objects.get().data
    assert "Lovelace" not in data
    texts = Leaf.objects.get().texts
    assert (
        hashlib.sha256(json.dumps(texts, sort_keys=True, separators=(",", ":")).encode()).hexdigest() in data
    )
    acts.anonymize(user=ada)
    first, last = Leaf.objects.order_by("index")
    assert (first.data, first.texts) == (data, None)
    assert last.texts["names"]["team"] == ""
    assert kinds(one) == ["added", "edited"]
    assert root(2) == plain_root([first.data.encode(), last.data.encode()])


def test_a_batch_over_several_tiles_makes_the_same_tree(db: None) -> None:
    for count in (3, 252, 1, 1, 300, 70_000 // 256):
        add([Change({"kind": "test", "number": at}) for at in range(count)])
        entries = [data.encode() for data in Leaf.objects.order_by("index").values_list("data", flat=True)]
        checkpoint = notes.read_checkpoint(checkpoint_note(), signer().key)
        assert checkpoint[1:] == (len(entries), plain_root(entries))
    assert Node.objects.filter(level=1).count() == len(entries) // 256


def test_a_tree_that_was_edited_is_never_signed(graded: Callable[..., Submission], caplog: Any) -> None:
    graded()
    before = checkpoint_note()
    Node.objects.filter(level=0, index=0).update(hash=b"x" * 32)
    graded(name="Later")
    assert Leaf.objects.count() == 2
    assert checkpoint_note() == before
    assert "not signed" in caplog.text


def tiles(client: Any, size: int) -> list[bytes]:
    """The entries as a program reads them from the site, checked against the tiles of hashes."""
    entries: list[bytes] = []
    for number, width in tree.tiles_of(size):
        bundle = client.get(f"/ledger/{tree.tile_path('entries', number, width)}").content
        at = 0
        while at < len(bundle):
            length = int.from_bytes(bundle[at : at + 2], "big")
            entries.append(bundle[at + 2 : at + 2 + length])
            at += 2 + length
        hashes = client.get(f"/ledger/{tree.tile_path(0, number, width)}").content
        assert hashes == b"".join(tree.leaf_hash(entry) for entry in entries[number * 256 :])
    return entries


def test_a_program_reads_the_whole_log_from_static_files(
    client: Any, graded: Callable[..., Submission]
) -> None:
    graded()
    add([Change({"kind": "test", "number": at}) for at in range(300)])
    origin, size, encoded, *_ = client.get("/ledger/checkpoint").content.decode().split("\n")
    entries = tiles(client, int(size))
    assert (origin, len(entries)) == ("localhost/ledger", 301)
    assert base64.b64decode(encoded) == plain_root(entries)
    first = client.get("/ledger/tile/1/000.p/1")
    assert first.content == plain_root(entries[:256])
    assert first["Content-Type"] == "application/octet-stream"
    for path in (
        "0/001",
        "0/001.p/46",
        "00/000",
        "1/000",
        "9/000",
        "entries/002.p/1",
        "0/x999/x999/x999/x999/x999/999",
    ):
        assert client.get(f"/ledger/tile/{path}").status_code == 404, path


def test_the_pages_show_the_changes_and_the_key(client: Any, graded: Callable[..., Submission]) -> None:
    one = graded(name="The first system")
    assert "/benchmarks/tiny/changes" in client.get("/benchmarks/tiny").content.decode()
    page = client.get("/benchmarks/tiny/changes").content.decode()
    assert "The first system" in page
    assert "added" in page
    (change,) = client.get("/benchmarks/tiny/changes.json").json()["changes"]
    assert (change["submission"], change["texts"]["names"]["name"]) == (one.key, "The first system")
    acts.withdraw(one)
    assert "withdrawn" in client.get("/benchmarks/tiny/changes").content.decode()
    assert client.get("/ledger/rows.json").json()["rows"] == {}
    page = client.get("/ledger").content.decode()
    assert str(signer().key).replace("+", "&#x2B;") in page or str(signer().key) in page


def test_a_receipt_says_what_was_received(owner: Any, send: Callable[..., Submission]) -> None:
    one = send()
    note = owner.get(f"/submissions/{one.key}/receipt").content.decode()
    values = json.loads(notes.open_note(note, signer().key))
    assert values["labels"] is None
    assert (values["file_sha256"], values["file_bytes"], values["benchmark"]) == (
        one.sha256,
        one.size,
        "tiny",
    )
    grade(one.pk)
    one.refresh_from_db()
    again = json.loads(
        notes.open_note(owner.get(f"/submissions/{one.key}/receipt").content.decode(), signer().key)
    )
    assert again == values | {"labels": one.report["provenance"]["labels"]}
