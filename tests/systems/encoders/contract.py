"""What every sentence encoder keeps to, as checks that take a maker of encoders.

A test module names its encoders and calls each check: `for check in CHECKS: check(make)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gluebench.systems import SentenceEncoder

Make = Callable[[], SentenceEncoder]
SENTENCES = (
    "The ferry left at nine.",
    "Nobody saw the ferry leave.",
    "",
    "Zxqvortle brimsnath.",
    "Did the old ferry, which was late, leave at nine or at ten?",
    "the ferry left at nine.",
    " ",
    "Ça alors ! 渡船 🙂",
)


def gives_a_finite_float_row_for_each(make: Make) -> None:
    encoder = make()
    found = encoder.encode(SENTENCES)
    assert isinstance(encoder, SentenceEncoder)
    assert isinstance(encoder.name, str)
    assert encoder.name
    assert found.shape == (len(SENTENCES), encoder.dim)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()


def keeps_the_order(make: Make) -> None:
    encoder = make()
    forward, backward = encoder.encode(SENTENCES), encoder.encode(SENTENCES[::-1])
    close(forward, backward[::-1])
    assert not np.allclose(forward[0], forward[4]), "two sentences have one vector"


def gives_the_same_whatever_the_batch(make: Make) -> None:
    encoder = make()
    whole = encoder.encode(SENTENCES)
    for size in (1, 3):
        batches = [encoder.encode(SENTENCES[at : at + size]) for at in range(0, len(SENTENCES), size)]
        close(whole, np.concatenate(batches))


def takes_no_sentence_at_all(make: Make) -> None:
    encoder = make()
    assert encoder.encode([]).shape == (0, encoder.dim)


def takes_a_very_long_sentence_beside_an_empty_one(make: Make) -> None:
    found = make().encode(["the ferry " * 2000, "", "The ferry left at nine."])
    assert np.isfinite(found).all()
    close(found[2:], make().encode(["The ferry left at nine."]))


def gives_the_same_when_made_again(make: Make) -> None:
    close(make().encode(SENTENCES), make().encode(SENTENCES))


def does_not_change_what_it_is_given(make: Make) -> None:
    given: Sequence[str] = list(SENTENCES)
    make().encode(given)
    assert tuple(given) == SENTENCES


def close(one: np.ndarray, two: np.ndarray) -> None:
    """Require equality up to rounding: the order of sums depends on the batch and on alignment in memory."""
    np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)


CHECKS = (
    gives_a_finite_float_row_for_each,
    keeps_the_order,
    gives_the_same_whatever_the_batch,
    takes_no_sentence_at_all,
    takes_a_very_long_sentence_beside_an_empty_one,
    gives_the_same_when_made_again,
    does_not_change_what_it_is_given,
)
