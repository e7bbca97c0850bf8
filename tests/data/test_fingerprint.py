"""The content fingerprint: the same for the same text and labels, whatever file held them."""

from __future__ import annotations

import hashlib
import struct

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from gluebench.data.fingerprint import DIGITS, Fingerprint, fingerprint

TEXTS = st.lists(st.text(max_size=8), min_size=1, max_size=12)


def by_hand(columns: dict[str, list[bytes]]) -> str:
    """The definition in the module's docstring, written out once more."""
    whole = hashlib.sha256()
    for name in sorted(columns):
        sizes = b"".join(struct.pack("<q", len(value)) for value in columns[name])
        whole.update(struct.pack("<q", len(name)) + name.encode())
        whole.update(hashlib.sha256(sizes).digest() + hashlib.sha256(b"".join(columns[name])).digest())
    return whole.hexdigest()[:DIGITS]


def test_it_is_what_its_definition_says() -> None:
    found = fingerprint({"b": ["x", ""], "a": ["é", "yz"]}, labels=["0", "1"])
    assert found == by_hand({"a": ["é".encode(), b"yz"], "b": [b"x", b""], "label": [b"0", b"1"]})
    assert fingerprint({"a": ["x"]}, labels=[2.5]) == by_hand(
        {"a": [b"x"], "label": [struct.pack("<d", 2.5)]}
    )


def batches_of(texts: list[str], labels: list[str], cut: int) -> list[pa.RecordBatch]:
    table = pa.table({"label": labels, "extra": labels, "text": texts, "index": range(len(texts))})
    return table.to_batches(max_chunksize=cut)


@given(TEXTS, st.integers(1, 5), st.booleans())
def test_batches_types_and_other_columns_do_not_matter(texts: list[str], cut: int, dictionary: bool) -> None:
    labels = ["yes" if len(text) % 2 else "no" for text in texts]
    running = Fingerprint(["text"])
    for batch in batches_of(texts, labels, cut):
        if dictionary:
            batch = batch.set_column(0, "label", batch.column("label").dictionary_encode())
        running.update(batch)
    assert running.full == fingerprint({"text": texts}, labels)
    assert running.text == fingerprint({"text": texts})


@given(TEXTS, TEXTS)
def test_different_text_has_a_different_fingerprint(first: list[str], second: list[str]) -> None:
    assert (fingerprint({"a": first}) == fingerprint({"a": second})) == (first == second)


def test_text_that_moves_between_rows_or_columns_is_seen() -> None:
    assert fingerprint({"a": ["xy", "z"]}) != fingerprint({"a": ["x", "yz"]})
    assert fingerprint({"a": ["x"], "b": ["y"]}) != fingerprint({"a": ["y"], "b": ["x"]})
    assert fingerprint({"a": ["x"]}) != fingerprint({"a": ["x"]}, labels=["0"])
