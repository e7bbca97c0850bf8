"""Sentence vectors on disk: appended as they are computed, memory-mapped when they are used.

`FILE.npy` is an array (sentences, dim) as `numpy.load` reads it; `FILE.npy.index` beside it has a line of
JSON, which names the encoder, and 16 bytes (BLAKE2b of the text) for each row. A row is valid once both files
have it: complete rows survive a killed process, and a partial row is overwritten.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gluebench.data import DataError
from gluebench.data.errors import expect_schema, parsing
from gluebench.data.home import data_folder, hold_lock
from gluebench.systems.encoders import EncoderError
from gluebench.systems.encoders.callable import encode_checked
from gluebench.systems.protocols import Advance, SentenceEncoder, silent

SCHEMA = "gluebench.vectors/1"
DIGEST = 16
HEADER = 128
"""Bytes before the first row: room for the number of rows to grow."""
Precision = Literal["float16", "float32"]
Rows = NDArray[np.int64]


def index_of(path: Path) -> Path:
    """Return the path of a vector file's index."""
    return path.with_name(f"{path.name}.index")


class VectorStore:
    """The vectors of one encoder by sentence."""

    def __init__(self, path: Path, encoder: str, dim: int, precision: Precision) -> None:
        self.path = path
        self.encoder = encoder
        self.dim = dim
        self.dtype = np.dtype(precision).newbyteorder("<")
        self._sorted: NDArray[np.bytes_] = np.empty(0, f"S{DIGEST}")
        self._order: Rows = np.empty(0, np.int64)
        self._count = 0

    @classmethod
    def opened(cls, path: Path) -> VectorStore:
        """Open the existing store at a path. Raises DataError for other files."""
        index = index_of(path)
        with (
            index.open("rb") as file,
            parsing(index, "the index of stored vectors", f"expected {SCHEMA} first"),
        ):
            header = json.loads(file.readline())
            expect_schema(header, SCHEMA)
            store = cls(path, header["encoder"], header["dim"], header["precision"])
        store.read_index()
        return store

    def read_index(self) -> None:
        """Read which rows are complete, those that other processes added too."""
        with index_of(self.path).open("rb") as file:
            file.readline()
            digests = file.read()
        count = min((self.path.stat().st_size - HEADER) // self._width, len(digests) // DIGEST)
        self._index_rows(digests[: max(0, count) * DIGEST])

    def __len__(self) -> int:
        return self._count

    @property
    def _width(self) -> int:
        return self.dim * self.dtype.itemsize

    def rows(self, sentences: Sequence[str]) -> Rows:
        """Return the row of each sentence, -1 for one that is not stored."""
        if not self._count:
            return np.full(len(sentences), -1, dtype=np.int64)
        keys = np.frombuffer(b"".join(map(_digest, sentences)), dtype=f"S{DIGEST}")
        places = np.minimum(np.searchsorted(self._sorted, keys), self._count - 1)
        return np.where(self._sorted[places] == keys, self._order[places], -1)

    def missing(self, sentences: Sequence[str]) -> list[str]:
        """List the distinct sentences that are not stored."""
        rows = self.rows(sentences)
        return list(dict.fromkeys(text for text, row in zip(sentences, rows, strict=True) if row < 0))

    def vectors(self) -> NDArray[Any]:
        """All vectors (len(self), dim), mapped: the operating system can free the pages that were read."""
        if not self._count:
            return np.empty((0, self.dim), self.dtype)
        return np.memmap(self.path, self.dtype, mode="r", offset=HEADER, shape=(self._count, self.dim))

    @contextmanager
    def appending(self) -> Iterator[Callable[[Sequence[str], NDArray[np.float32]], None]]:
        """Yield a function that appends sentences that are not stored yet, with their vectors.

        The caller has the lock and has read the index under it. The store has the vectors when the context
        ends; complete rows stay even after an error. The function raises DataError if the precision cannot
        hold the vectors.
        """
        with self.path.open("r+b") as vectors, index_of(self.path).open("r+b") as index:
            start = len(index.readline())
            for file, place in (
                (vectors, HEADER + len(self) * self._width),
                (index, start + len(self) * DIGEST),
            ):
                file.seek(place)
                file.truncate()

            def add(sentences: Sequence[str], rows: NDArray[np.float32]) -> None:
                with np.errstate(over="ignore"):
                    kept = np.ascontiguousarray(rows, dtype=self.dtype)
                if not np.isfinite(kept).all():
                    raise DataError(f"{self.path}: {self.dtype.name} cannot hold these vectors; take float32")
                vectors.write(kept.tobytes())
                vectors.flush()  # before the digests: a row counts once both files have it
                index.write(b"".join(map(_digest, sentences)))
                index.flush()

            try:
                yield add
            finally:
                index.seek(start)
                digests = index.read()
                self._index_rows(digests[: len(digests) // DIGEST * DIGEST])
                vectors.seek(0)
                vectors.write(self.header())
                for file in (vectors, index):
                    file.flush()
                    os.fsync(file.fileno())

    def header(self) -> bytes:
        """Return the header that `numpy.load` reads first, padded to a fixed length."""
        shape = (self._count, self.dim)
        text = repr({"descr": self.dtype.str, "fortran_order": False, "shape": shape})
        padded = text.ljust(HEADER - 11) + "\n"
        return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode("ascii")

    def _index_rows(self, digests: bytes) -> None:
        keys = np.frombuffer(digests, dtype=f"S{DIGEST}")
        self._order = np.argsort(keys, kind="stable").astype(np.int64)
        self._sorted = keys[self._order]
        self._count = len(keys)


def _digest(sentence: str) -> bytes:
    return blake2b(sentence.encode("utf-8", "surrogatepass"), digest_size=DIGEST).digest()


class StoredEncoder:
    """An encoder that reads a store's vectors and cannot encode other sentences."""

    def __init__(self, path: Path) -> None:
        """Raises DataError for a file that holds no vectors."""
        self._store = VectorStore.opened(path)
        self.name = self._store.encoder
        self.dim = self._store.dim

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """The stored vectors. Raises EncoderError where one is missing."""
        rows = self._store.rows(sentences)
        missing = int((rows < 0).sum())
        if missing:
            raise EncoderError(
                f"{self._store.path}: {missing} of {len(sentences)} sentences have no vector there; "
                f"encode them first, or name the encoder that can: {self.name}"
            )
        return np.asarray(self._store.vectors()[rows], dtype=np.float32)


BATCH = 128
SAMPLE = 8
"""Number of stored sentences that are encoded again, to check that the encoder has not changed."""
TOLERANCE = 0.1
"""Largest distance of a new vector from the stored one, relative to the longer of the two."""


def shared_path(encoder: SentenceEncoder, *parts: object) -> Path:
    """The file of an encoder's vectors in the folder of data, which all runs and presets share.

    It is known by what the encoder is (`content`, else its name), the length of its vectors and `parts`:
    whatever else its vectors depend on.
    """
    words = re.sub(r"[^A-Za-z0-9.]+", "-", encoder.name).strip("-")[:60]
    identity = repr((_content(encoder), encoder.dim, *parts))
    digest = blake2b(identity.encode(), digest_size=8).hexdigest()
    return data_folder() / "vectors" / f"sentences-{words}-{digest}.npy"


def _content(encoder: SentenceEncoder) -> str:
    """What the encoder is, wherever its files are; its name if it does not say more."""
    return str(getattr(encoder, "content", encoder.name))


def _lock_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def store_of(path: Path, encoder: SentenceEncoder, precision: Precision = "float32") -> VectorStore:
    """Open or create the encoder's store at a path. Raises DataError for another encoder's store."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(_lock_of(path)):
        index = index_of(path)
        if path.exists() and not index.exists():
            raise DataError(f"{path}: is there without {index.name}; name another file")
        content = _content(encoder)
        if not path.exists():
            store = VectorStore(path, content, encoder.dim, precision)
            header = {"schema": SCHEMA, "encoder": content, "dim": encoder.dim, "precision": precision}
            index.write_text(json.dumps(header, ensure_ascii=False) + "\n", encoding="utf-8")
            path.write_bytes(store.header())
            return store
        store = VectorStore.opened(path)
        if (store.encoder, store.dim) != (content, encoder.dim):
            raise DataError(
                f"{path}: holds vectors of {store.encoder} ({store.dim} numbers); "
                f"expected those of {content} ({encoder.dim}). Name another file"
            )
        with path.open("rb") as file:
            stale = file.read(HEADER) != store.header()
        if stale:  # the process that wrote the last rows was killed
            with store.appending():
                pass
        return store


def encode_into(
    store: VectorStore,
    encoder: SentenceEncoder,
    sentences: Sequence[str],
    *,
    batch_size: int = BATCH,
    advance: Advance | None = None,
) -> int:
    """Encode the sentences that the store lacks, longest first; return their number.

    Sentences of similar length share a batch, and a batch too large for memory fails at once. An encoder that
    has `prepare(sentences)` gets all of them first. `advance` is called with the numbers of sentences done
    and of all: first with 0, then after each batch. Raises EncoderError, and DataError if the store's vectors
    are not what the encoder gives now.
    """
    if not store.missing(sentences):
        return 0
    with hold_lock(_lock_of(store.path)):
        store.read_index()
        missing = sorted(store.missing(sentences), key=len, reverse=True)
        if not missing:
            return 0
        prepare = getattr(encoder, "prepare", None)
        if prepare is not None:  # an encoder that reads word vectors from a file reads it once for all
            prepare(missing)
        _check_same_vectors(store, encoder, sentences)
        advance = advance or silent("", "")
        advance(0, len(missing))
        with store.appending() as add:
            for start in range(0, len(missing), batch_size):
                batch = missing[start : start + batch_size]
                add(batch, encode_checked(encoder, batch))
                advance(start + len(batch), len(missing))
    return len(missing)


def _check_same_vectors(store: VectorStore, encoder: SentenceEncoder, sentences: Sequence[str]) -> None:
    """Check that the encoder still gives the stored vectors: two can share a name. Raises DataError."""
    rows = store.rows(sentences)
    sample = np.flatnonzero(rows >= 0)[:SAMPLE]
    if not len(sample):
        return
    stored = np.asarray(store.vectors()[rows[sample]], dtype=np.float64)
    recomputed = encode_checked(encoder, [sentences[place] for place in sample]).astype(np.float64)
    longer = np.maximum(np.linalg.norm(stored, axis=1), np.linalg.norm(recomputed, axis=1))
    if (np.linalg.norm(stored - recomputed, axis=1) > TOLERANCE * longer).any():
        raise DataError(
            f"{store.path}: holds other vectors than {encoder.name} gives now; "
            "it was stored with other weights or code. Remove it or name another file"
        )
