"""Forms of the limits: a benchmark's policy, an exception from it, a team."""

from typing import Any

from django import forms
from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import Membership, Team, User
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import ActForm, ActModelForm
from gluebench.leaderboard.apps.benchmarks.policy import SETTINGS, Policy, PolicyError, policy_of
from gluebench.leaderboard.apps.common.inputs import form_input
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.text import alphabetical, plain
from gluebench.leaderboard.apps.limits.models import Override
from gluebench.leaderboard.apps.limits.registration import participants_of
from gluebench.leaderboard.apps.submissions.forms import reason_field

OPEN = ("It takes submissions", "If not, existing entries stay visible and new submissions are refused.")
REASON = "Kept in the log with your name."


class PolicyForm(ActForm):
    """The form of a benchmark's policy."""

    open = forms.BooleanField(required=False, label=OPEN[0], help_text=OPEN[1])
    reason = reason_field("Why it is changed", required=False, help_text=REASON)
    field_order = ["open", *SETTINGS, "reason"]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name, field in SETTINGS.items():
            self.fields[name] = form_input(field)
        self.order_fields(self.field_order)

    def present(self, row: Benchmark) -> Values:
        """The policy in force."""
        return {**row.policy.as_dict(), "open": row.open}

    def clean(self) -> Values:
        """Return the fields; add an error to each that is not valid in a policy."""
        if not self.errors:
            try:
                policy_for(self.row, self.policy())
            except PolicyError as error:
                for problem in error.problems:
                    name, colon, sentence = problem.partition(": ")
                    known = bool(colon) and name in SETTINGS
                    self.add_error(name if known else "reveal", sentence if known else problem)
        return self.cleaned_data

    def policy(self) -> Values:
        """The entered settings of the policy."""
        return {name: self.cleaned_data[name] for name in SETTINGS}


def policy_for(benchmark: Benchmark, values: Facts) -> Policy:
    """As `policy_of`. Raises PolicyError, too, if it hides names that were public."""
    policy = policy_of(values)
    hides = policy.anonymous is not None and policy.anonymous > timezone.now().date()
    if not hides and policy.anonymous not in (None, benchmark.policy.anonymous):
        raise PolicyError(["anonymous: this day is today or past; name a later one, or none."])
    public = Q(published__isnull=False, kind="system")
    if hides and benchmark.names_hidden_until is None and benchmark.submissions.filter(public).exists():
        raise PolicyError(["anonymous: systems were public with their names, which cannot be hidden again."])
    return policy


class PersonOrTeamField(forms.ChoiceField):
    """One of the people and teams who take part in a benchmark, by the number of the account or team."""

    def __init__(self, benchmark: Benchmark | None, *, everybody: bool = False) -> None:
        choices = [("", "everybody" if everybody else "")]
        if benchmark is not None:  # without one, it is for the document of the API
            choices += _people(benchmark)
            choices += _teams(benchmark)
        about = "As account-17 or team-3; GET on /participants/mail lists them." if benchmark is None else ""
        super().__init__(label="For", required=not everybody, help_text=about, choices=choices)

    def clean(self, value: Any) -> User | Team | None:
        """The person or the team; None for everybody. Raises ValidationError."""
        kind, _, number = super().clean(value).partition("-")
        if kind == "account":
            return User.objects.get(pk=number)
        return Team.objects.get(pk=number) if kind == "team" else None


def _people(benchmark: Benchmark) -> list[tuple[str, str]]:
    """Those who take part, under their names or, without one, with their newest entry."""
    newest = benchmark.submissions.filter(owner=OuterRef("pk")).order_by("-submitted").values("name")[:1]
    choices = []
    for person in participants_of(benchmark).annotate(newest=Subquery(newest)):
        label = f"{person.name} (Account {person.pk})" if person.name else f"Account {person.pk}"
        if person.newest:
            label += f": {person.newest}"
        choices.append((f"account-{person.pk}", label))
    return sorted(choices, key=lambda choice: alphabetical(choice[1]))


def _teams(benchmark: Benchmark) -> list[tuple[str, str]]:
    members = Membership.objects.filter(until=None, user__in=participants_of(benchmark))
    teams = Team.objects.filter(Q(benchmark=benchmark) | Q(benchmark=None), memberships__in=members)
    choices = [(f"team-{team.pk}", f"Team {team}") for team in teams.distinct()]
    return sorted(choices, key=lambda choice: alphabetical(choice[1]))


class OverrideForm(ActModelForm):
    """An exception for one person or one team."""

    field_order = ["who"]

    class Meta:
        model = Override
        fields = [*Override.LIMITS, "until", "reason"]
        labels = {
            **{name: SETTINGS[name].label for name in Override.LIMITS},
            "until": "Until (UTC)",
            "reason": "Reason",
        }
        help_texts = {
            **dict.fromkeys(Override.LIMITS, "Empty: as for everybody."),
            "until": "As 2027-06-30 18:00. Empty: until you remove it.",
            "reason": REASON,
        }

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        row = self.instance
        self.fields["who"] = PersonOrTeamField(row.benchmark if row.benchmark_id else None)
        self.order_fields(self.field_order)
        self.fields["reason"].validators.append(plain)

    def clean(self) -> Values:
        """Return the cleaned fields; add an error if no limit changed."""
        values: Values = super().clean() or self.cleaned_data
        if not self.errors and all(values.get(name) is None for name in Override.LIMITS):
            self.add_error("per_day", "Give at least one limit another number.")
        return values

    def _post_clean(self) -> None:
        """The model's own check asks for a person or a team, which is known only after this form."""
        who = self.cleaned_data.get("who")
        self.instance.user = who if isinstance(who, User) else None
        self.instance.team = who if isinstance(who, Team) else None
        super()._post_clean()  # type: ignore[misc]


class RemovalForm(ActForm):
    """Why something ends."""

    reason = reason_field(None, error_messages={"required": "Give a reason of at most 400 characters."})


class TeamForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new team."""

    class Meta:
        model = Team
        fields = ["name"]
        labels = {"name": "Name of the team"}
        help_texts = {
            "name": "Shown to whoever has its link, to organizers, and on boards that count per team."
        }


class TeamLinkForm(forms.Form):
    """A new link of a team."""

    uses = forms.IntegerField(min_value=1, max_value=1000, initial=1, label="People")
    days = forms.IntegerField(min_value=1, max_value=366, initial=14, label="Days until it expires")


class MemberForm(forms.Form):
    """The number of a member's account."""

    account = forms.IntegerField(min_value=1)
