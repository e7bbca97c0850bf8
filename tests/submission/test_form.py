"""The upload form, read back by the standard library's own parser of such messages."""

from __future__ import annotations

import email.policy
from email import message_from_bytes
from pathlib import Path

import pytest

from gluebench.submission.transport import PIECE, FileChangedError, Form


def sent(form: Form) -> bytes:
    with form.open() as opened:
        return b"".join(form.pieces(opened, None))


def test_another_parser_reads_every_part(tmp_path: Path) -> None:
    path = tmp_path / "run.zip"
    path.write_bytes(b"PK\3\4 \r\n--not an edge\r\n")
    form = Form(path, {"name": "Größe", "public": True, "team": None, "tries": 3})
    body = sent(form)
    assert len(body) == form.length
    assert form.size == path.stat().st_size
    message = message_from_bytes(
        f"Content-Type: {form.kind}\r\n\r\n".encode() + body, policy=email.policy.HTTP
    )
    assert message.get_content_type() == "multipart/form-data"
    name, public, tries, file = message.iter_parts()  # type: ignore[attr-defined]
    for part, key, value in ((name, "name", "Größe"), (public, "public", "true"), (tries, "tries", "3")):
        assert part["Content-Disposition"] == f'form-data; name="{key}"'
        assert part.get_payload(decode=True).decode() == value
    assert file["Content-Disposition"] == 'form-data; name="file"; filename="run.zip"'
    assert file.get_content_type() == "application/zip"
    assert file.get_payload(decode=True) == path.read_bytes()
    assert Form(path, {}).kind != form.kind, "no edge that a file could know"


def test_a_file_name_cannot_break_the_header(tmp_path: Path) -> None:
    path = tmp_path / 'a"b\\c é.zip'
    path.write_bytes(b"")
    assert b'filename="a_b_c ?.zip"\r\n' in sent(Form(path, {}))


@pytest.mark.parametrize("size", [0, 1, PIECE, PIECE + 1, 3 * PIECE])
def test_progress_is_told_after_every_piece(tmp_path: Path, size: int) -> None:
    path = tmp_path / "run.zip"
    path.write_bytes(bytes(size))
    form, told = Form(path, {}), list[tuple[int, int]]()
    with form.open() as opened:
        pieces = list(form.pieces(opened, lambda done, of: told.append((done, of))))
    assert max(map(len, pieces[1:-1]), default=0) <= PIECE
    assert told == [(min(at, size), size) for at in range(PIECE, size + PIECE, PIECE)]


@pytest.mark.parametrize("size", [4, 6])
def test_a_file_that_changed_is_not_sent_to_its_end(tmp_path: Path, size: int) -> None:
    path = tmp_path / "run.zip"
    path.write_bytes(bytes(5))
    form = Form(path, {})
    path.write_bytes(bytes(size))
    with form.open() as opened:
        pieces = form.pieces(opened, None)
        next(pieces)  # what stands before the file
        if size < form.size:
            assert next(pieces) == bytes(size)
        with pytest.raises(FileChangedError, match=r"run\.zip changed while it was sent\. Send it again"):
            next(pieces)
