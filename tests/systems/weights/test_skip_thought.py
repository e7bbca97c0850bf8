from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from oracles.recurrent import theano_gru  # noqa: E402
from systems.weights import files  # noqa: E402

from gluebench.systems.encoders.skip_thought import SkipThoughtEncoder  # noqa: E402
from gluebench.systems.weights import WeightsError  # noqa: E402

WORDS = ["<eos>", "UNK", *files.WORDS, "ärmel"]
TEXTS = ["a warm evening came .", "", "ärmel", "A qqq Evening", "evening " * 90]


def formula(
    kind: str, arrays: dict[str, Any], tables: dict[str, Any], text: str, *, eos: bool, norm: bool
) -> Any:
    words = [*text.split(), *(["<eos>"] if eos else [])]
    rows = [WORDS.index(word) if word in WORDS else 1 for word in words]
    halves = []
    for part, table in (("uni", "utable"), ("bi", "btable")):
        if kind not in (part, "combine"):
            continue
        x = tables[table][rows] if rows else np.zeros((0, 6))
        ends = [theano_gru(arrays[part], x, "encoder")]
        if part == "bi":
            ends.append(theano_gru(arrays[part], x[::-1], "encoder_r"))
        half = np.concatenate(ends)
        halves.append(half / np.linalg.norm(half) if norm and rows else half)
    return np.concatenate(halves)


@pytest.mark.parametrize("kind", ["uni", "bi", "combine"])
@pytest.mark.parametrize("eos", [True, False])
@pytest.mark.parametrize("norm", [True, False])
def test_vectors_equal_the_formulas(tmp_path: Path, kind: Any, eos: bool, norm: bool) -> None:
    torch.set_num_threads(1)
    arrays, tables = files.write_skip_thought(tmp_path, WORDS)
    model = SkipThoughtEncoder(tmp_path, str.split, kind=kind, eos=eos, norm=norm)
    found = model.encode(TEXTS)
    assert found.shape == (len(TEXTS), model.dim) == (5, 16 if kind == "combine" else 8)
    for row, text in zip(found, TEXTS, strict=True):
        np.testing.assert_allclose(row, formula(kind, arrays, tables, text, eos=eos, norm=norm), atol=1e-5)


@pytest.mark.parametrize("batch", [1, 2, 64])
def test_the_encoder_keeps_order_whatever_the_batch(tmp_path: Path, batch: int) -> None:
    torch.set_num_threads(1)
    arrays, tables = files.write_skip_thought(tmp_path, WORDS)
    found = SkipThoughtEncoder(tmp_path, str.split, batch=batch).encode(TEXTS)
    assert found.dtype == np.float32
    for row, text in zip(found, TEXTS, strict=True):
        expected = formula("combine", arrays, tables, text, eos=True, norm=True)
        np.testing.assert_allclose(row, expected, atol=1e-5)


def test_no_sentences_give_no_rows(tmp_path: Path) -> None:
    files.write_skip_thought(tmp_path, WORDS)
    assert SkipThoughtEncoder(tmp_path, str.split).encode([]).shape == (0, 16)


def refused(folder: Path) -> str:
    with pytest.raises(WeightsError) as raised:
        SkipThoughtEncoder(folder, str.split)
    return str(raised.value)


def test_a_table_that_is_not_of_the_word_list(tmp_path: Path) -> None:
    files.write_skip_thought(tmp_path, WORDS)
    np.save(tmp_path / "btable.npy", np.zeros((3, 6), dtype=np.float32))
    assert f"btable.npy: holds (3, 6); expected ({len(WORDS)}, 6)" in refused(tmp_path)


def test_a_word_list_without_the_unknown_word(tmp_path: Path) -> None:
    files.write_skip_thought(tmp_path, WORDS)
    (tmp_path / "dictionary.txt").write_text("one\ntwo\n")
    assert "dictionary.txt: 2 words without UNK and <eos>" in refused(tmp_path)


def test_one_way_weights_in_the_place_of_two_way_ones(tmp_path: Path) -> None:
    files.write_skip_thought(tmp_path, WORDS)
    (tmp_path / "bi_skip.npz").write_bytes((tmp_path / "uni_skip.npz").read_bytes())
    said = refused(tmp_path)
    assert "encoder_r_W: missing, expected (6, 16)" in said
    assert "decoder_U (3, 3)" in said


@pytest.mark.parametrize("name", ["uni_skip.npz", "utable.npy", "dictionary.txt"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    files.write_skip_thought(tmp_path, WORDS)
    (tmp_path / name).unlink()
    assert f"{name}: cannot be read" in refused(tmp_path)


@pytest.mark.parametrize("name", ["uni_skip.npz", "utable.npy"])
@pytest.mark.parametrize("content", [b"", b"words, not arrays", b"PK\x03\x04 cut off"])
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    files.write_skip_thought(tmp_path, WORDS)
    (tmp_path / name).write_bytes(content)
    assert f"{name}: cannot be read" in refused(tmp_path)


def test_arrays_of_pickled_objects_are_never_unpickled(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "sprung",))

    files.write_skip_thought(tmp_path, WORDS)
    hidden = np.empty((6, 16), dtype=object)
    hidden.fill(Trap())
    np.savez(tmp_path / "uni_skip.npz", encoder_W=hidden, allow_pickle=True)
    assert "encoder_W: missing" in refused(tmp_path)
    files.write_skip_thought(tmp_path, WORDS)
    np.save(tmp_path / "utable.npy", hidden, allow_pickle=True)
    assert "utable.npy: cannot be read" in refused(tmp_path)
    assert not (tmp_path / "sprung").exists()


def test_an_archive_of_something_else(tmp_path: Path) -> None:
    files.write_skip_thought(tmp_path, WORDS)
    with zipfile.ZipFile(tmp_path / "uni_skip.npz", "w") as archive:
        archive.writestr("readme.txt", "no array")
    assert "uni_skip.npz" in refused(tmp_path)


def test_a_kind_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected one of uni, bi, combine"):
        SkipThoughtEncoder(tmp_path, str.split, kind="tri")  # type: ignore[arg-type]
