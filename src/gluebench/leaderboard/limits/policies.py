"""Changing a benchmark's policy and its exceptions, each with its entry in the log; policies as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.db import transaction

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.benchmarks.policy import CHOICES, NONE, Policy, policy_of, read_policy
from gluebench.leaderboard.limits.models import Override
from gluebench.leaderboard.submissions.grading import follow_policy

_WORDS = {"true": True, "false": False, NONE: None}


def change_policy(
    benchmark: Benchmark,
    values: Mapping[str, Any],
    *,
    actor: User | None = None,
    open: bool | None = None,
    reason: str = "",
) -> dict[str, list[Any]]:
    """Set some or all of a benchmark's policy, and whether it takes submissions; what is left out stays.

    Returns the changes, [before, after] by name; each is in the log. Raises PolicyError.
    """
    with transaction.atomic():
        row = Benchmark.objects.held(benchmark.pk)
        former = row.policy
        before = {**former.as_dict(), "open": row.open}
        policy = policy_of({**row.settings, **values})
        usual = Policy().as_dict()
        row.settings = {name: value for name, value in policy.as_dict().items() if value != usual[name]}
        row.open = row.open if open is None else open
        after = {**policy.as_dict(), "open": row.open}
        changes = {name: [before[name], after[name]] for name in after if before[name] != after[name]}
        if changes:
            row.save(update_fields=["settings", "open"])
            record("policy", actor=actor, benchmark=row, reason=reason, changes=changes)
            follow_policy(row, former)
    benchmark.settings, benchmark.open = row.settings, row.open
    return changes


def add_override(override: Override, actor: User | None = None) -> Override:
    """Let an exception hold from now on."""
    with transaction.atomic():
        override.by = actor
        override.save()
        record(
            "exception", actor=actor, benchmark=override.benchmark, reason=override.reason, **_facts(override)
        )
    return override


def remove_override(override: Override, *, actor: User | None = None, reason: str) -> None:
    """End an exception; the log keeps what it was."""
    with transaction.atomic():
        facts = _facts(override)
        record("exception removed", actor=actor, benchmark=override.benchmark, reason=reason, **facts)
        override.delete()


def _facts(override: Override) -> dict[str, Any]:
    limits = {name: getattr(override, name) for name in Override.LIMITS}
    return {
        "user": override.user_id,
        "team": override.team_id,
        "limits": {name: number for name, number in limits.items() if number is not None},
        "until": override.until.isoformat() if override.until else None,
    }


def set_policy(name: str, file: Path | None, changes: Mapping[str, str]) -> list[str]:
    """See `commands.policy`."""
    benchmark = Benchmark.objects.named(name)
    values = {} if file is None else read_policy(file).as_dict()
    values.update({setting: _value(setting, text) for setting, text in changes.items()})
    change_policy(benchmark, values, reason="command line")
    values = benchmark.policy.as_dict()
    return [f"{name} = {json.dumps(NONE if value is None else value)}" for name, value in values.items()]


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
