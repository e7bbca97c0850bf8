"""Options: the paper's values are there by name, and a wrong one is refused."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from gluebench.systems.training.settings import (
    PAPER,
    PRESETS,
    RELEASED,
    SEEDS,
    SINGLE,
    BiLstmSpec,
    Settings,
)


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


def test_text_and_code_each_have_a_preset_with_its_side_of_every_disagreement() -> None:
    names = ("minimum_learning_rate", "stop_rule", "validation", "sampling", "scaling", "idle_heads")
    released, paper = ([getattr(preset, name) for name in names] for preset in (RELEASED, PAPER))
    assert released == [1e-6, "original", "pooled", "batches", "batches", "decay"]
    assert paper == [1e-5, "textbook", "manifest", "examples", "examples", "keep"]
    assert (RELEASED.count_auxiliary, PAPER.count_auxiliary) == (True, False)
    assert not RELEASED.bucketed
    for name, preset in SINGLE.items():
        assert preset == replace(PRESETS[name], check_every=None)


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


def test_sizes_that_no_network_has_are_refused_together() -> None:
    expected = (
        "layers is 0; expected a number above 0; most is -1; .*, or none; dropout is 2.0; .* factor below 1"
    )
    with pytest.raises(ValueError, match=expected):
        BiLstmSpec(layers=0, most=-1, dropout=2.0)
