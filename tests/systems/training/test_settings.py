"""Options: the paper's values are there by name, and a wrong one is refused."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from gluebench.systems.training.settings import PAPER, PAPER_SINGLE, PRESETS, SEEDS, Settings


def test_what_paper_and_code_agree_on_is_the_default() -> None:
    settings = Settings()
    assert (settings.batch_size, settings.check_every, settings.decay, settings.clip) == (
        128,
        10_000,
        0.2,
        5.0,
    )
    assert (settings.l2, settings.max_checks, settings.drawn_at_once) == (1e-5, 50, 10_000)
    assert SEEDS == (111, 222, 333)


def test_the_paper_preset_takes_the_side_of_the_code_in_each_disagreement() -> None:
    assert (PAPER.learning_rate, PAPER.minimum_learning_rate) == (1e-4, 1e-6)
    assert (PAPER.idle_heads, PAPER.stop_rule, PAPER.validation) == ("decay", "original", "pooled")
    assert PAPER.count_auxiliary
    assert not PAPER.bucketed
    assert PAPER_SINGLE.check_every is None


@pytest.mark.parametrize("name", PRESETS)
def test_settings_come_back_from_what_a_card_holds(name: str) -> None:
    assert Settings(**json.loads(json.dumps(asdict(PRESETS[name])))) == PRESETS[name]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"stop_rule": "never"}, "stop_rule is 'never'; expected one of textbook, original, none"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0; expected a number above 0"),
        ({"check_every": 0}, "check_every is 0; expected a number above 0, or none"),
        ({"decay": 1.0}, "decay is 1.0; expected a factor below 1"),
    ],
)
def test_a_value_an_option_does_not_have_is_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(**values)  # type: ignore[arg-type]


def test_all_wrong_values_are_named_together() -> None:
    with pytest.raises(ValueError, match=r"idle_heads is .*; batch_size is -1"):
        Settings(idle_heads="forget", batch_size=-1)  # type: ignore[arg-type]
