"""Add, change, extend and delete phases, each with a log entry, and read them from a policy file."""

from collections.abc import Iterator, Sequence, Set
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import Team, User
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import PolicyError, toml_line
from gluebench.leaderboard.apps.benchmarks.seals import seals_of_parts
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.limits.phase_forms import PREFIX, PhaseForm, as_text, name_of
from gluebench.leaderboard.apps.phases.models import OVERRIDDEN, Extension, Phase
from gluebench.leaderboard.apps.phases.moments import require
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.phases.times import zone_of
from gluebench.leaderboard.apps.submissions.counting import recount, waiting_in
from gluebench.leaderboard.apps.submissions.grading import follow_clock

VALUES = (
    *("name", "opens", "closes", "zone", "rows", "share", "shown", "shown_from", "counting", "most"),
    *("otherwise", "late", "tasks_of", "tasks", "settings"),
)
"""What an organizer decides of a phase."""
TIMES = ("opens", "closes", "shown_from")


def save_phase(phase: Phase, actor: User | None = None, reason: str = "") -> str:
    """Add a phase, or change it.

    A later deadline of a phase that has opened is an extension for everybody, and announced with the reason.
    """
    with transaction.atomic():
        # First those that have the labels, before and after, as `adding.store` locks them.
        stored = Phase.objects.filter(pk=phase.pk)
        owners = Benchmark.objects.filter(Q(pk=phase.tasks_of_id) | Q(phases_elsewhere__in=stored))
        for pk in sorted(set(owners.values_list("pk", flat=True))):
            Benchmark.objects.lock(pk)
        Benchmark.objects.lock(phase.benchmark_id)
        former = Phase.objects.filter(pk=phase.pk).first()
        after = values_of(phase)
        before = dict.fromkeys(after) if former is None else values_of(former)
        changes = {name: [before[name], after[name]] for name in after if before[name] != after[name]}
        if not changes:
            return "Nothing was changed."
        effect = ""
        if former is not None:
            effect = _effect_of(former, changes.keys())
            phase.state = former.state  # a worker may have written them since `phase` was read
            phase.last = former.last
        phase.save()
        if former is not None and _is_extended(former, phase):
            times = {"before": former.closes, "closes": phase.closes}
            Extension.objects.create(phase=phase, by=actor, reason=reason, **times)
        action = "phase" if former is None else "phase changed"
        _record(action, phase, phase.pk, actor, reason, **changes)
        follow_clock(phase.benchmark)
    return f"{phase} is saved.{effect}"


def _effect_of(phase: Phase, changed: Set[str]) -> str:
    """What it does that these values of a phase change, in sentences after another. Raises ActError."""
    moved = changed & {"opens", "closes"}
    effects = [require("move", phase).reason] if moved else []
    if changed - moved:
        effects.append(require("rule", phase).reason)
    return "".join(f" {effect}" for effect in effects)


def _is_extended(former: Phase, phase: Phase) -> bool:
    """Whether participants may have relied on the deadline that is later now."""
    if former.closes is None or phase.closes is None or former.opens > timezone.now():
        return False
    return former.closes < phase.closes


def values_of(phase: Phase) -> Values:
    """What an organizer decided of a phase, for JSON: times as text, in UTC."""
    values = {name: getattr(phase, name) for name in VALUES}
    for name in TIMES:
        values[name] = values[name] and values[name].isoformat()
    values["tasks"] = values["tasks"] or None
    values["tasks_of"] = name_of(phase.tasks_of) or None
    return {name: str(value) if isinstance(value, str) else value for name, value in values.items()}


def extend(
    phase: Phase, actor: User | None, *, closes: datetime, who: User | Team | None, reason: str
) -> str:
    """Give everybody, one person or one team a later deadline, and announce it."""
    done = f"The new deadline is {phase.text_of(closes)}."
    if who is None:
        phase.closes = closes
        save_phase(phase, actor, reason)
        return done
    whose = {"user": who} if isinstance(who, User) else {"team": who}
    with transaction.atomic():
        Benchmark.objects.lock(phase.benchmark_id)
        cell = require("extend", phase)
        assert phase.closes is not None  # the form refuses a phase that stays open
        Extension.objects.create(
            phase=phase, before=phase.closes, closes=closes, reason=reason, by=actor, **whose
        )
        Phase.objects.filter(pk=phase.pk).update(last=max(closes, phase.last or closes))
        keys = {name: one.pk for name, one in whose.items()}
        _record("extension", phase, phase.pk, actor, reason, closes=closes.isoformat(), **keys)
        follow_clock(phase.benchmark)
        if cell.outcome == "changes":  # what they withdrew after their old deadline is before the new one
            recount(Phase.objects.select_related("benchmark").get(pk=phase.pk))
    return f"{done} {cell.reason}"


def settle_phase(phase: Phase, actor: User | None, reason: str) -> str:
    """Show the results of a phase now, although files that may count are not graded yet. Raises ActError."""
    with transaction.atomic():
        Benchmark.objects.lock(phase.benchmark_id)
        row = Phase.objects.select_related("benchmark").get(pk=phase.pk)
        require("settle", row)
        waiting = waiting_in(row).count()
        row.state = {**row.state, "settled": True}
        row.save(update_fields=["state"])
        _record("results shown", row, row.pk, actor, reason, waiting=waiting)
        follow_clock(row.benchmark)
    return f"The results of {phase} do not wait any more."


def delete_phase(phase: Phase, actor: User | None, reason: str) -> str:
    """Delete a phase without submissions. Raises ActError for another."""
    with transaction.atomic():
        Benchmark.objects.lock(phase.benchmark_id)
        number = phase.submissions.count()
        if number:
            raise ActError(
                f"{phase} has {number} submission{'s' * (number != 1)}: close it instead.", "phase"
            )
        if phase.files.exists():
            raise ActError(f"{phase} has files to download: delete them first.", "phase")
        row, facts = phase.pk, values_of(phase)
        del facts["name"]
        phase.delete()
        _record("phase deleted", phase, row, actor, reason, **facts)
        follow_clock(phase.benchmark)
    return f"The phase {phase} is deleted."


def _record(action: str, phase: Phase, row: int, actor: User | None, reason: str, **detail: Any) -> None:
    benchmark, seals = phase.benchmark, seals_of_parts(phase.benchmark, "phases", row=row)
    record(action, actor=actor, benchmark=benchmark, reason=reason, phase=phase.name, **detail, sealed=seals)


def set_phases(benchmark: Benchmark, tables: Sequence[Facts]) -> None:
    """Add or change the phases of a policy file, each a table of the names in `VALUES`; others stay.

    Raises PolicyError with all that is wrong.
    """
    problems: list[str] = []
    with transaction.atomic():
        for number, table in enumerate(tables, start=1):
            form, unknown = _form_of(benchmark, table)
            errors = form.errors.items()
            wrong = [f"{name.removeprefix(PREFIX)}: {' '.join(map(str, texts))}" for name, texts in errors]
            name = table.get("name", f"number {number}")
            problems += [f"phase {name}: {text}" for text in (*unknown, *wrong)]
            if not problems:
                save_phase(form.save(commit=False), reason="command line")
        if problems:
            raise PolicyError(problems)


def phase_lines(benchmark: Benchmark) -> Iterator[str]:
    """The phases as lines of TOML that `set_phases` reads, with times on the clocks of their zones."""
    for phase in benchmark.phases.all():
        yield from ("", "[[phases]]")
        for name in VALUES:
            value = getattr(phase, name)
            if isinstance(value, datetime):
                yield f"{name} = {value.astimezone(zone_of(phase.zone)):%Y-%m-%dT%H:%M:%S}"
            elif isinstance(value, dict):
                for key, one in value.items():
                    yield toml_line(f"settings.{key}", one)
            elif isinstance(value, Benchmark):
                yield toml_line(name, value.name)
            elif value not in (None, []):
                yield toml_line(name, value)


def _form_of(benchmark: Benchmark, table: Facts) -> tuple[PhaseForm, list[str]]:
    """A table of a policy file as the form that an organizer fills in, and names that nothing has."""
    phase = benchmark.phases.filter(name=str(table.get("name"))).first() or Phase(benchmark=benchmark)
    settings = table.get("settings", {})
    unknown = [name for name in table if name not in VALUES] + [n for n in settings if n not in OVERRIDDEN]
    values = {name: getattr(phase, name) for name in VALUES if name not in (*TIMES, "settings")}
    for name, value in table.items():
        values[name] = value.isoformat(" ") if hasattr(value, "isoformat") else value
    values["tasks"] = "\n".join(values["tasks"])
    if "tasks_of" not in table:
        values["tasks_of"] = name_of(phase.tasks_of)
    values |= {PREFIX + name: as_text(value) for name, value in settings.items()}
    return PhaseForm(phase, values), [f"{name!r} is not known." for name in unknown]
