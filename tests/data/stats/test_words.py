"""Many texts counted at once, against one text at a time."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gluebench.data.stats.tally import Words
from gluebench.data.tokens import overlap, tokens

TEXTS = st.text(max_size=30) | st.lists(
    st.sampled_from(["the", "The", "cat's", "cat", "sat", "—", "47°39′N", "\ufeff", "ΟΔΟΣ", "won't.", "_"]),
    max_size=9,
).map(" ".join)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), max_size=8)


@settings(max_examples=60)
@given(st.lists(PAIRS, min_size=1, max_size=3))
def test_lengths_overlaps_and_vocabulary_are_those_of_each_text(batches: list[list[tuple[str, str]]]) -> None:
    words = Words()
    for pairs in batches:
        one, two = (words.coded([pair[side] for pair in pairs]) for side in (0, 1))
        assert words.lengths(one).tolist() == [len(tokens(first)) for first, _ in pairs]
        assert words.overlaps(one, two).tolist() == pytest.approx([overlap(*pair) for pair in pairs])
    texts = [text for pairs in batches for pair in pairs for text in pair]
    assert words.vocabulary() == Counter(token for text in texts for token in tokens(text))
