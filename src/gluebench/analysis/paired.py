"""Two systems' answers exchanged, unit by unit: what a comparison would find if neither were better."""

from __future__ import annotations

import numpy as np

from gluebench.scoring.draws import blocks
from gluebench.scoring.joint import Confusions, Units, summed


def swap(these: Units, *, resamples: int, rng: np.random.Generator) -> Confusions:
    """Tables from the two systems' answers exchanged in each unit by a fair coin (Noreen 1989).

    How many units of a kind are exchanged is binomial; those on which the two agree need no coin.
    """
    change = these.tables.swapaxes(2, 3) - these.tables
    matters = np.flatnonzero(change.any(axis=(1, 2, 3)))
    observed = summed([these.counts[np.newaxis]], these.tables)
    exchanged = [
        rng.binomial(these.counts[matters], 0.5, size=(size, len(matters)))
        for size in blocks(resamples, len(matters))
    ]
    changes = summed(exchanged, change[matters])
    return Confusions(observed.a + changes.a, observed.b + changes.b)
