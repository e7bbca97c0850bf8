"""Many texts counted at once, against one text at a time."""

from __future__ import annotations

from collections import Counter
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gluebench.benchmark import load_benchmark
from gluebench.data import Example
from gluebench.data.stats import describe
from gluebench.data.tokens import overlap, tokens

TEXTS = st.text(max_size=30) | st.lists(
    st.sampled_from(["the", "The", "cat's", "cat", "sat", "—", "47°39′N", "\ufeff", "ΟΔΟΣ", "won't.", "_"]),
    max_size=9,
).map(" ".join)


@settings(max_examples=60)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=20))
def test_lengths_overlaps_and_vocabulary_are_those_of_each_text(pairs: list[tuple[str, str]]) -> None:
    task = load_benchmark("glue").task("MRPC")
    rows = [Example(at, dict(zip(task.columns, pair, strict=True)), None) for at, pair in enumerate(pairs)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(describe, "_TOGETHER", 3)
        counted = describe.SplitCounts(task).add(rows)
    stats = counted.stats("dev")
    for side, column in enumerate(task.columns):
        assert stats.lengths[column] == describe.lengths(Counter(len(tokens(pair[side])) for pair in pairs))
    assert stats.overlap == pytest.approx(fmean(overlap(*pair) for pair in pairs))
    assert counted.vocabulary() == Counter(token for pair in pairs for text in pair for token in tokens(text))
