"""A benchmark's policy from the command line: a file, single settings, and how it is printed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.benchmarks.policy import CHOICES, NONE, Policy, read_policy
from gluebench.leaderboard.limits.policies import change_policy

_WORDS = {"true": True, "false": False, NONE: None}


def settle(name: str, file: Path | None, changes: Mapping[str, str]) -> list[str]:
    """See `commands.policy`."""
    benchmark = Benchmark.objects.named(name)
    values = {} if file is None else read_policy(file).as_dict()
    values.update({setting: _value(setting, text) for setting, text in changes.items()})
    change_policy(benchmark, values, reason="command line")
    return lines(benchmark.policy)


def lines(policy: Policy) -> list[str]:
    """A policy as lines of a file that `read_policy` reads."""
    return [f"{name} = {_written(value)}" for name, value in policy.as_dict().items()]


def _written(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{NONE if value is None else value}"' if value is None or isinstance(value, str) else str(value)


def _value(name: str, text: str) -> Any:
    """A setting as the policy wants it; what cannot be read stays text, which the policy then refuses."""
    if name in CHOICES:
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
