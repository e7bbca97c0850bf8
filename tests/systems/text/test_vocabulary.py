from __future__ import annotations

import pytest

from gluebench.systems.text.vocabulary import Vocabulary, most_frequent


def test_ids_begin_at_two_and_unknown_words_are_one() -> None:
    known = Vocabulary(["the", "The", "cat"])
    assert known.ids(["cat", "The", "the", "dog", ""]) == [4, 3, 2, 1, 1]
    assert len(known) == 5
    assert "cat" in known
    assert "Cat" not in known


def test_the_most_frequent_words_are_kept_those_that_tie_by_code_points() -> None:
    texts = ["b b b a c", "c d e"]
    assert most_frequent(map(str.split, texts), most=3).words == ("b", "c", "a")
    assert most_frequent(map(str.split, texts), most=None).words == ("b", "c", "a", "d", "e")


def test_the_paper_keeps_30_000() -> None:
    assert len(most_frequent([[str(at) for at in range(31_000)]])) == 30_002


def test_a_word_that_stands_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="'a' more than once"):
        Vocabulary(["a", "b", "a"])


def test_the_key_tells_vocabularies_apart() -> None:
    keys = {Vocabulary(words).key() for words in (["a", "b"], ["b", "a"], ["a"], [])}
    assert len(keys) == 4
