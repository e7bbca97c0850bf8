from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gluebench.analysis.rank.rules import best, board_order, competition_ranks

scores_lists = st.lists(st.none() | st.sampled_from([0.0, 0.1, 0.5, 0.64, 0.9, -0.2]), max_size=12)


def test_ties_share_a_rank_and_the_next_rank_is_left_out() -> None:
    assert competition_ranks([0.7, 0.9, 0.7, 0.5]) == [2, 1, 2, 4]


def test_no_score_has_no_rank_and_takes_none() -> None:
    assert competition_ranks([None, 0.5, None, 0.6]) == [None, 2, None, 1]


@given(scores_lists)
def test_a_rank_is_one_more_than_the_number_of_higher_scores(scores: list[float | None]) -> None:
    for score, rank in zip(scores, competition_ranks(scores), strict=True):
        higher = [other for other in scores if other is not None and score is not None and other > score]
        assert rank == (None if score is None else 1 + len(higher))


@given(scores_lists)
def test_the_order_is_by_rank_then_first_come_with_the_unranked_last(scores: list[float | None]) -> None:
    ranks = competition_ranks(scores)
    order = board_order(scores)
    assert sorted(order) == list(range(len(scores)))
    keys = [(ranks[at] is None, ranks[at] or 0, at) for at in order]
    assert keys == sorted(keys)


def test_the_best_needs_another_to_be_better_than() -> None:
    assert best([0.2, None, 0.4]) == 0.4
    assert best([0.2, None]) is None
