"""Stored vectors: what goes in comes out, whatever was killed in between, and no one else's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gluebench.data import DataError
from gluebench.systems.encoders import EncoderError
from gluebench.systems.encoders.callable import CallableEncoder
from gluebench.systems.probe.store import (
    HEADER,
    SAMPLE,
    StoredEncoder,
    VectorStore,
    encode_into,
    index_of,
    shared_path,
    store_of,
)


def numbers(sentences: list[str]) -> np.ndarray:
    """A vector that tells every sentence from the others."""
    return np.array([[len(text), sum(map(ord, text)) % 997, 1.5] for text in sentences])


ENCODER = CallableEncoder(numbers, "numbers")


def values(store: VectorStore, sentences: list[str]) -> list[list[float]]:
    return np.asarray(store.vectors()[store.rows(sentences)]).tolist()


@settings(max_examples=12)
@given(st.lists(st.lists(st.text(max_size=8), max_size=12), max_size=4))
def test_what_is_stored_is_found_again_by_its_sentence(parts: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "v.npy")
        for part in parts:
            encode_into(store_of(path, ENCODER), ENCODER, part, batch_size=3)
        store = store_of(path, ENCODER)
        everything = list(dict.fromkeys(text for part in parts for text in part))
        assert len(store) == len(everything)
        if everything:
            assert values(store, everything) == numbers(everything).tolist()
        assert store.rows(["a sentence that nobody stored"]).tolist() == [-1]


def test_numpy_reads_the_file_and_each_sentence_is_encoded_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def watched(sentences: list[str]) -> np.ndarray:
        asked.extend(sentences)
        return numbers(sentences)

    encoder = CallableEncoder(watched, "numbers")
    asked.clear()
    path, told = tmp_path / "v.npy", []
    store = store_of(path, encoder, "float16")
    new = encode_into(
        store, encoder, ["b", "aa", "b", "ccc"], batch_size=2, advance=lambda *at: told.append(at)
    )
    assert (new, asked, told) == (3, ["ccc", "aa", "b"], [(0, 3), (2, 3), (3, 3)])
    assert np.load(path, mmap_mode="r").dtype == np.float16
    assert np.load(path).tolist() == numbers(["ccc", "aa", "b"]).tolist()
    assert path.stat().st_size == HEADER + 3 * 3 * 2


def test_an_encoder_that_prepares_is_shown_all_new_sentences_once(tmp_path: Path) -> None:
    shown: list[list[str]] = []

    class Prepares(CallableEncoder):
        def prepare(self, sentences: list[str]) -> None:
            shown.append(list(sentences))

    encoder = Prepares(numbers, "numbers")
    store = store_of(tmp_path / "v.npy", encoder)
    encode_into(store, encoder, ["a", "bbb", "cc"], batch_size=1)
    encode_into(store, encoder, ["cc", "dd"], batch_size=1)
    encode_into(store, encoder, ["cc", "dd"], batch_size=1)
    assert shown == [["bbb", "cc", "a"], ["dd"]]


def test_half_a_row_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "v.npy"
    encode_into(store_of(path, ENCODER), ENCODER, ["a", "bb"])
    whole = path.read_bytes(), index_of(path).read_bytes()
    for cut in (1, 5, 12, 13):  # bytes lost at the end of the vectors; then of their digests
        path.write_bytes(whole[0][:-cut])
        index_of(path).write_bytes(whole[1])
        store = store_of(path, ENCODER)
        assert len(store) == (0 if cut > 12 else 1)
        encode_into(store, ENCODER, ["a", "bb", "c"])
        assert values(store_of(path, ENCODER), ["a", "bb", "c"]) == numbers(["a", "bb", "c"]).tolist()
    path.write_bytes(whole[0])
    index_of(path).write_bytes(whole[1][:-3])
    store = store_of(path, ENCODER)
    assert len(store) == 1
    assert len(np.load(path)) == 1


def test_a_killed_encoding_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "v.npy"
    code = """
import sys, time
import numpy as np
from pathlib import Path
from gluebench.systems.encoders.callable import CallableEncoder
from gluebench.systems.probe.store import encode_into, store_of
def slow(sentences):
    time.sleep(0.05)
    return np.array([[len(text), sum(map(ord, text)) % 997, 1.5] for text in sentences])
encoder = CallableEncoder(slow, "numbers")
encode_into(store_of(Path(sys.argv[1]), encoder), encoder, [f"{n:04}" for n in range(1000)], batch_size=4)
"""
    child = subprocess.Popen([sys.executable, "-c", code, str(path)], env={**os.environ})
    try:
        limit = time.monotonic() + 60  # a busy machine takes seconds to start Python
        while time.monotonic() < limit:
            time.sleep(0.05)
            if index_of(path).exists() and index_of(path).stat().st_size > 300:
                break
        child.send_signal(signal.SIGKILL)
    finally:
        child.wait()
    sentences = [f"{n:04}" for n in range(1000)]
    store = store_of(path, ENCODER)
    there = len(store)
    assert 0 < there < 1000
    assert encode_into(store, ENCODER, sentences) == 1000 - there
    assert values(store, sentences) == numbers(sentences).tolist()


def test_two_that_encode_at_once_share_what_they_store(tmp_path: Path) -> None:
    path, encoded_by = tmp_path / "v.npy", {"a": [], "b": []}

    def encoder(name: str) -> CallableEncoder:
        def slow(sentences: list[str]) -> np.ndarray:
            time.sleep(0.002)
            encoded_by[name].extend(sentences)
            return numbers(sentences)

        return CallableEncoder(slow, "numbers")

    made = {name: encoder(name) for name in encoded_by}
    stores = {name: store_of(path, each) for name, each in made.items()}
    for sentences in encoded_by.values():
        sentences.clear()  # each was tried on a sentence to learn the length of its vectors
    parts = {"a": [f"{n:03}" for n in range(60)], "b": [f"{n:03}" for n in range(30, 90)]}
    threads = [
        threading.Thread(
            target=encode_into, args=(stores[name], made[name], parts[name]), kwargs={"batch_size": 4}
        )
        for name in parts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = [f"{n:03}" for n in range(90)]
    store = store_of(path, ENCODER)
    assert len(store) == 90
    assert values(store, everything) == numbers(everything).tolist()
    assert values(stores["b"], parts["b"]) == numbers(parts["b"]).tolist()
    assert len(encoded_by["a"]) + len(encoded_by["b"]) <= 90 + SAMPLE


def test_vectors_are_shared_by_what_the_model_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GLUEBENCH_DATA", str(tmp_path))
    first, second = CallableEncoder(numbers, "st:here"), CallableEncoder(numbers, "st:here")
    assert shared_path(first).parent == tmp_path / "vectors"
    assert shared_path(first) == shared_path(second) != shared_path(first, "bf16")
    second.content = "other weights"
    assert shared_path(first) != shared_path(second)
    encode_into(store_of(shared_path(second), second), second, ["one"])
    second.name = "st:here"
    assert len(store_of(shared_path(second), second)) == 1


def test_vectors_of_another_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.npy"
    encode_into(store_of(path, ENCODER), ENCODER, ["one", "two"])
    with pytest.raises(DataError, match=r"holds vectors of numbers \(3 numbers\); expected those of other"):
        store_of(path, CallableEncoder(numbers, "other"))
    turned = CallableEncoder(lambda texts: np.roll(numbers(texts), 1, axis=1), "numbers")
    with pytest.raises(DataError, match="holds other vectors than numbers gives now"):
        encode_into(store_of(path, turned), turned, ["one", "three"])
    assert len(store_of(path, ENCODER)) == 2


def test_files_that_are_none_are_told(tmp_path: Path) -> None:
    plain = tmp_path / "plain.npy"
    np.save(plain, np.ones((2, 3)))
    with pytest.raises(DataError, match=r"is there without plain\.npy\.index"):
        store_of(plain, ENCODER)
    index_of(plain).write_bytes(b'{"schema": "another"}\n')
    with pytest.raises(DataError, match="not the index of stored vectors"):
        store_of(plain, ENCODER)
    with pytest.raises(FileNotFoundError):
        StoredEncoder(tmp_path / "none.npy")


def test_numbers_too_large_for_half_precision_are_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    large = CallableEncoder(lambda texts: np.full((len(texts), 2), 1e6), "large")
    store = store_of(tmp_path / "v.npy", large, "float16")
    with pytest.raises(DataError, match="float16 cannot hold these vectors; take float32"):
        encode_into(store, large, ["a"])
    assert len(store_of(tmp_path / "v.npy", large)) == 0


def test_an_encoder_that_breaks_its_word_is_told_and_what_came_before_stays(tmp_path: Path) -> None:
    def breaks(texts: list[str]) -> np.ndarray:
        found = numbers(texts).astype(float)
        return found if "bad" not in texts else np.full((len(texts), 3), np.inf)

    encoder = CallableEncoder(breaks, "numbers")
    store = store_of(tmp_path / "v.npy", encoder)
    with pytest.raises(EncoderError, match=r"hold NaN or infinity.*'bad'"):
        encode_into(store, encoder, ["longer", "bad"], batch_size=1)
    assert values(store_of(tmp_path / "v.npy", ENCODER), ["longer"]) == numbers(["longer"]).tolist()


def test_stored_vectors_stand_in_for_their_encoder(tmp_path: Path) -> None:
    path = tmp_path / "v.npy"
    encode_into(store_of(path, ENCODER), ENCODER, ["one", "two"])
    stored = StoredEncoder(path)
    assert (stored.name, stored.dim) == ("numbers", 3)
    assert stored.encode(["two", "one", "two"]).tolist() == numbers(["two", "one", "two"]).tolist()
    with pytest.raises(EncoderError, match="1 of 2 sentences have no vector there"):
        stored.encode(["one", "three"])
