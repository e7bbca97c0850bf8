"""Forms of phases: their times on the clocks of a zone, their rules, and extensions of their deadlines."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.utils import timezone

from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import ActForm, ActModelForm
from gluebench.leaderboard.apps.benchmarks.policy import SETTINGS, PolicyError, policy_of
from gluebench.leaderboard.apps.common.fields import NONE, fields_beside
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.tables import toml_beside
from gluebench.leaderboard.apps.limits.forms import PersonOrTeamField
from gluebench.leaderboard.apps.phases.models import (
    OVERRIDDEN,
    CountingRule,
    Phase,
    PhaseVisibility,
    ScoredRows,
    lenders,
    whole,
)
from gluebench.leaderboard.apps.phases.times import AOE, MINUTE, in_utc, zone_names, zone_of
from gluebench.leaderboard.apps.submissions.forms import reason_field

PREFIX = "policy-"
"""Before the name of a policy's setting among the fields of a phase."""
ENTERED = "%Y-%m-%dT%H:%M"
TIME = forms.TextInput(attrs={"type": "datetime-local"})
PRESETS = toml_beside(__file__, "presets.toml")
NO_LENDER = (
    "%(value)s is no benchmark whose tasks a phase of this one may use: expected one with labels on this "
    "site that everybody who organizes this one organizes too, and that is public if this one is."
)
FIELDS = fields_beside(__file__, "phases.toml")
"""The fields of a phase; their kinds are those of its columns."""


def moment_in_utc(form: forms.BaseForm, name: str, zone: str) -> datetime | None:
    """The entered time in UTC; None, with an error in the form, for one that cannot be read."""
    text = form.cleaned_data.get(name)
    if not text or not zone:
        return None
    try:
        local = datetime.fromisoformat(text)
        if local.tzinfo is not None or local.second:
            raise ValueError
    except ValueError:
        form.add_error(name, f"{text!r} is not a time to the minute, as 2027-05-31 23:59.")
        return None
    try:
        return in_utc(local, zone)
    except ValueError as error:
        form.add_error(name, str(error))
        return None


def preset_phase(benchmark: Benchmark, name: str) -> Phase:
    """A phase to be added, as the preset of that name proposes: its first that the benchmark lacks.

    It opens after the last phase, or at the next midnight.
    """
    phase, former = Phase(benchmark=benchmark), benchmark.phases.last()
    known = set(benchmark.phases.values_list("name", flat=True))
    missing = [facts for facts in PRESETS.get(name, {}).get("phases", ()) if facts["name"] not in known]
    if not missing:
        return phase
    days, values = missing[0].get("days"), {**missing[0]}
    values.pop("days", None)
    for field, value in values.items():
        setattr(phase, field, value)
    phase.zone = former.zone if former else AOE
    today = timezone.now().astimezone(zone_of(phase.zone)).replace(hour=0, minute=0, second=0, microsecond=0)
    phase.opens = today + timedelta(days=1)
    if former and former.closes:
        phase.opens = max(phase.opens, former.closes + MINUTE)
    if days:
        phase.closes = phase.opens + timedelta(days=days) - MINUTE
    return phase


class PhaseForm(ActModelForm):
    """A phase of a benchmark, which the row names."""

    zone = forms.ChoiceField(choices=lambda: [(name, name) for name in zone_names()])
    opens = forms.CharField(widget=TIME)
    closes = forms.CharField(widget=TIME, required=False)
    shown_from = forms.CharField(widget=TIME, required=False)
    tasks_of = forms.ChoiceField(required=False, error_messages={"invalid_choice": NO_LENDER})
    tasks = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), required=False)
    reason = reason_field(None, required=False)

    class Meta:
        model = Phase
        fields = [name for name in FIELDS if name != "reason"]
        widgets = dict.fromkeys(("counting", "otherwise", "shown", "rows", "late"), forms.RadioSelect)

    def __init__(self, row: Phase | None, *arguments: Any, **options: Any) -> None:
        super().__init__(row or Phase(pk=0, benchmark=Benchmark(pk=0)), *arguments, **options)
        phase = self.instance
        for name, field in FIELDS.items():
            self.fields[name].label = field.label
            self.fields[name].help_text = field.help
        for name in ("opens", "closes", "shown_from"):
            if moment := getattr(phase, name):
                self.initial[name] = moment.astimezone(zone_of(phase.zone)).strftime(ENTERED)
        self.initial["tasks"] = "\n".join(phase.tasks)
        self.initial["tasks_of"] = name_of(phase.tasks_of)
        if row is not None:  # without one, it is for the document of the API
            chooser: Any = self.fields["tasks_of"]
            chooser.choices = [("", "this benchmark")] + [(one.name, str(one)) for one in self._lenders()]
        for name in OVERRIDDEN:
            self.fields[PREFIX + name] = _setting(name, phase.benchmark)
            if name in phase.settings:
                self.initial[PREFIX + name] = as_text(phase.settings[name])
        if phase.pk is None:
            del self.fields["reason"]
            former = phase.benchmark.phases.last()
            self.initial["zone"] = former.zone if former else phase.zone
        settings = [PREFIX + name for name in OVERRIDDEN]
        self.order_fields([*(name for name in FIELDS if name != "reason"), *settings, "reason"])

    @property
    def of_phase(self) -> list[forms.BoundField]:
        """The fields of the phase itself."""
        return [field for field in self.visible_fields() if not field.name.startswith(PREFIX)]

    @property
    def of_policy(self) -> list[forms.BoundField]:
        """The fields of the settings in which it differs from the benchmark."""
        return [field for field in self.visible_fields() if field.name.startswith(PREFIX)]

    @property
    def has_settings(self) -> bool:
        """Whether it differs in some setting, or one is wrong."""
        return any(field.value() or field.errors for field in self.of_policy)

    def arguments(self) -> tuple[Any, Values]:
        """The phase, not stored yet, and why it is changed."""
        return self.save(commit=False), {"reason": self.cleaned_data.get("reason", "")}

    def clean(self) -> Values:
        """Return the fields with all times in UTC; add an error for each that does not fit the others."""
        values: Values = super().clean() or self.cleaned_data
        zone = values.get("zone", "")
        for name in ("opens", "closes", "shown_from"):
            if name not in self.errors:
                values[name] = moment_in_utc(self, name, zone)
        self._check_times(values)
        self._check_choices(values)
        settings = {name: _as_value(values.get(PREFIX + name, "")) for name in OVERRIDDEN}
        values["settings"] = {name: value for name, value in settings.items() if value != ""}
        try:
            policy_of({**self.instance.benchmark.settings, **values["settings"]})
        except PolicyError as error:
            for problem in error.problems:
                name, _, sentence = problem.partition(": ")
                self.add_error(PREFIX + name if name in OVERRIDDEN else None, sentence)
        self.instance.settings = values["settings"]
        return values

    def _check_times(self, values: Values) -> None:
        opens, closes = values.get("opens"), values.get("closes")
        if not isinstance(opens, datetime):
            return
        if closes is not None and closes <= opens:
            self.add_error("closes", "It closes before it opens.")
        for other in self.instance.benchmark.phases.exclude(pk=self.instance.pk):
            first, last = sorted(((opens, closes), (other.opens, other.closes)), key=lambda times: times[0])
            if last[0] == first[0] or first[1] is None or first[1] > last[0]:
                until = f"to {other.text_of(other.closes)}" if other.closes else "on"
                span = f"from {other.text_of(other.opens)} {until}"
                self.add_error("opens", f"The phase {other} is open at the same time, {span}.")

    def _check_choices(self, values: Values) -> None:
        if values.get("shown") == PhaseVisibility.DATE and not values.get("shown_from"):
            self.add_error("shown_from", "Give the date from which the board shows it.")
        if values.get("closes") is None and "closes" not in self.errors:
            waits = values.get("shown") == PhaseVisibility.CLOSED, values.get("rows") == ScoredRows.BOTH
            if any(waits) or values.get("counting") == CountingRule.CHOSEN:
                self.add_error("closes", "Needed, because something is to happen once it is closed.")
        share, rows = values.get("share"), values.get("rows")
        if rows == ScoredRows.ALL:
            values["share"] = None
        elif share is None or not 0 < share < 1:
            self.add_error("share", "Give a number between 0 and 1, or score all rows.")
        else:
            owner = values.get("tasks_of") or self.instance.benchmark
            same_labels = Phase.objects.filter(Q(tasks_of=owner) | Q(tasks_of=None, benchmark=owner))
            others = same_labels.exclude(pk=self.instance.pk).exclude(share=None).exclude(share=share)
            if other := others.first():
                self.add_error(
                    "share", f"The phase {other} has {other.share:g}; rows would be in both parts."
                )

    def _lenders(self) -> QuerySet[Benchmark]:
        """The benchmarks to choose from, among them the present one."""
        phase = self.instance
        allowed = Q(pk__in=lenders(phase.benchmark).values("pk")) | Q(pk=phase.tasks_of_id)
        return Benchmark.objects.filter(allowed).order_by("title", "name")

    def clean_tasks_of(self) -> Benchmark | None:
        """The benchmark whose tasks it uses; None for its own."""
        return self._lenders().filter(name=self.cleaned_data["tasks_of"]).first()

    def clean_tasks(self) -> list[str]:
        """The names of the tasks, each once; at least one is scored."""
        lines = (line.strip() for line in self.cleaned_data["tasks"].splitlines())
        names = list(dict.fromkeys(line for line in lines if line))
        if not names:
            return []
        owner = self.cleaned_data.get("tasks_of") or whole(self.instance.benchmark)
        tasks = {task.name: task for task in owner.record.tasks}
        unknown = [name for name in names if name not in tasks]
        if unknown:
            raise ValidationError(f"There is no task {unknown[0]!r}; expected some of {', '.join(tasks)}.")
        if not any(tasks[name].scored for name in names):
            raise ValidationError("None of these tasks is scored; expected at least one that is.")
        return names

    def clean_name(self) -> str:
        """The name, which no other phase of the benchmark has."""
        name: str = self.cleaned_data["name"]
        others = self.instance.benchmark.phases.exclude(pk=self.instance.pk)
        if others.filter(name__iexact=name).exists():
            raise ValidationError(f"There is a phase {name!r} already.")
        return name


class NewPhaseForm(PhaseForm):
    """A phase to be added, which needs no reason, in the document of the API too."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fields.pop("reason", None)


def _setting(name: str, benchmark: Benchmark) -> forms.Field:
    """The field of a policy's setting; empty for the benchmark's."""
    field = SETTINGS[name]
    usual = as_text(getattr(benchmark.policy, name))
    titles = dict(field.choices)
    if field.kind == "switch":
        titles = {"true": "yes", "false": "no"}
    if titles:
        choices = [("", f"as the benchmark: {titles[usual]}"), *titles.items()]
        return forms.ChoiceField(required=False, label=field.label, choices=choices)
    words = "no limit" if usual == NONE else usual
    text = f"Empty: as the benchmark, {words}. Or a number, or {NONE}."
    return forms.CharField(required=False, label=field.label, max_length=9, help_text=text)


def name_of(benchmark: Benchmark | None) -> str:
    """The name of a benchmark; empty for none."""
    return "" if benchmark is None else benchmark.name


def as_text(value: Any) -> str:
    """A setting of a policy as people write it."""
    return NONE if value is None else str(value).lower()


def _as_value(text: str) -> Any:
    words = {NONE: None, "true": True, "false": False}
    if text in words:
        return words[text]
    return int(text) if text.isascii() and text.isdigit() else text


class ExtensionForm(ActForm):
    """A later deadline for everybody, one person or one team."""

    closes = forms.CharField(
        widget=TIME, label="New deadline", help_text="On the clocks of the phase's zone; its last minute."
    )
    reason = reason_field(
        "Reason", help_text="Kept in the log and, if it is for everybody, announced on the board."
    )

    field_order = ["who"]

    def __init__(self, row: Phase | None, *arguments: Any, **options: Any) -> None:
        super().__init__(row, *arguments, **options)
        self.fields["who"] = PersonOrTeamField(row.benchmark if row else None, everybody=True)
        self.order_fields(self.field_order)

    def clean(self) -> Values:
        """Return the fields with the deadline in UTC; add an error for one that is not later."""
        values, phase = self.cleaned_data, self.row
        closes = values["closes"] = moment_in_utc(self, "closes", phase.zone)
        if closes is None:
            return values
        if phase.closes is None or closes <= phase.closes:
            self.add_error("closes", "The phase is open until then already.")
        following = phase.benchmark.phases.filter(opens__gt=phase.opens).first()
        if values.get("who") is None and following and closes > following.opens:
            text = following.text_of(following.opens)
            self.add_error("closes", f"The phase {following} opens on {text}. Let it open later first.")
        return values
