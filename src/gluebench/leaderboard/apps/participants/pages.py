"""The pages of participants: registering, the organizers' list with its acts, invitations and mail."""

import re
from datetime import datetime
from typing import Any

from allauth.account.models import EmailAddress
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from gluebench.leaderboard.apps.accounts.models import (
    SignedInRequest,
    User,
    account_name,
    acting_teams,
)
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import ActForm, OrganizerPage, for_organizers
from gluebench.leaderboard.apps.boards.columns import clean_search, paginate
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.page_cache import TYPES, as_download
from gluebench.leaderboard.apps.common.pages import form_page, redirect_with_success
from gluebench.leaderboard.apps.common.text import (
    BYTE_ORDER_MARK,
    alphabetical,
    csv_text,
    has_words,
    markdown,
    page_number,
    plain,
    words_of,
)
from gluebench.leaderboard.apps.limits import registration as acts
from gluebench.leaderboard.apps.limits.models import (
    Acceptance,
    Invitation,
    Registration,
    obstacle_for,
    registrations_blocked_in,
    rules_of,
    version_of,
)
from gluebench.leaderboard.apps.news.delivery import invite_people, write_to
from gluebench.leaderboard.apps.news.models import Message
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.submissions.forms import reason_field
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.serving.environment import site_address

Standing = Registration.Standing
VERSION_LENGTH = 8
"""Characters of the digest that names a version of the rules on pages."""
LONGEST_DAYS = 366
PEOPLE = 100
"""People on a page of the list."""
COLUMNS = (
    *("account", "name", "team", "affiliation", "mail_domain", "confirmed", "standing", "registered"),
    *("accepted_rules", "version_of_rules", "consent", "entries"),
)
"""Columns of the CSV of participants."""


class JoinForm(forms.Form):
    """What a person gives to register: what the policy of the benchmark asks for."""

    version = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)
    name = forms.CharField(
        label="Your name", max_length=120, validators=[plain], help_text="Organizers and your team see it."
    )
    affiliation = forms.CharField(max_length=200, validators=[plain], help_text="Organizers see it.")
    consent = forms.BooleanField()

    def __init__(self, benchmark: Benchmark, data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        policy = benchmark.policy
        self.fields["consent"].label = policy.consent
        required = {"name": policy.ask_name, "affiliation": policy.ask_affiliation, "consent": policy.consent}
        for name, is_required in required.items():
            if not is_required:
                del self.fields[name]


@form_page
def join(request: HttpRequest, name: str, code: str = "") -> HttpResponse:
    """The rules and the registration; a POST accepts the version that was shown, and registers."""
    benchmark = acts.joinable(request.user, name, code)
    user = request.user if isinstance(request.user, User) else None
    version = version_of(benchmark)
    if request.method == "POST" and user is None:
        return redirect_to_login(request.path)
    row = acts.registration_of(benchmark, user) if user else None
    known = {"affiliation": row.affiliation, "name": row.user.name, "consent": row.consent} if row else {}
    form = JoinForm(benchmark, request.POST or None, initial={**known, "version": version})
    if user is not None and form.is_valid():
        try:
            done = acts.register(benchmark, user, code=code, **form.cleaned_data)
        except ActError as error:
            messages.error(request, str(error))
        else:
            page = "join" if obstacle_for(benchmark, user) else "submit"
            return redirect_with_success(request, done, page, name)
        form = JoinForm(benchmark, initial={**form.cleaned_data, "version": version})
    accepted = Acceptance.objects.filter(user=user, benchmark=benchmark, digest=version)
    context = {
        "benchmark": benchmark,
        "rules": markdown(rules_of(benchmark), demoted=1),
        "form": form,
        "accepted": accepted.first(),
        "registration": row if row and row.pk else None,
        "obstacle": obstacle_for(benchmark, user) if user else None,
        "invitation": Invitation.objects.filter(benchmark=benchmark, code=code).first() if code else None,
        "invited": bool(code),
        "here": "join",
    }
    return render(request, "limits/terms.html", context, status=422 if form.errors else 200)


def rows_of(benchmark: Benchmark, viewer: User, *, account: int | None = None) -> list[Values]:
    """Facts of everybody who takes part: who waits for approval first, then by name.

    `account`: only of this one.
    """
    accepted = Acceptance.objects.filter(user=OuterRef("pk"), benchmark=benchmark).order_by("-at", "-pk")
    sent = Count("submissions", filter=Q(submissions__benchmark=benchmark))
    people = acts.participants_of(benchmark)
    if account is not None:
        people = people.filter(pk=account)
    people = people.annotate(
        entries=sent,
        accepted=Subquery(accepted.values("at")[:1]),
        digest=Subquery(accepted.values("digest")[:1]),
    )
    registrations = {row.user_id: row for row in benchmark.registrations.all()}
    confirmed = EmailAddress.objects.filter(verified=True, primary=True)
    vouched = set(confirmed.values_list("user", flat=True))
    version = version_of(benchmark)
    teams = acting_teams(benchmark.pk)
    rows = []
    for person in people:
        row = registrations.get(person.pk) or Registration()
        team = teams.get(person.pk)
        rows.append(
            {
                "account": person.pk,
                "name": account_name(person, viewer),
                "team": team and team.name,
                "team_number": team and team.pk,
                "affiliation": row.affiliation,
                "mail_domain": person.email.rpartition("@")[2],
                "confirmed": person.pk in vouched,
                "standing": row.standing,
                "label": row.get_standing_display() or "Not registered",
                "registered": row.at if row.pk else None,
                "accepted_rules": person.accepted,
                "version_of_rules": (person.digest or "")[:VERSION_LENGTH],
                "is_current": person.digest == version,
                "consent": row.consent,
                "reason": row.reason,
                "entries": person.entries,
            }
        )
    rows.sort(key=lambda one: (one["standing"] != Standing.WAITING, alphabetical(one["name"])))
    return rows


class AccountsInput(forms.CheckboxSelectMultiple):
    """Numbers of accounts: boxes of a page, or a text as "3, 17" of a program."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        """The numbers as texts."""
        values = data.getlist(name) if hasattr(data, "getlist") else [data.get(name) or ""]
        return ",".join(values).replace(" ", "")

    def format_value(self, value: Any) -> list[str]:
        """The text of a program."""
        return [value or ""]


class AccountsField(forms.CharField):
    """Numbers of accounts."""

    widget = AccountsInput

    def clean(self, value: Any) -> list[int]:
        """The numbers. Raises ValidationError."""
        numbers = [part for part in (value or "").split(",") if part]
        if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in numbers):
            raise ValidationError("Expected numbers of accounts, as 3, 17.")
        return [int(part) for part in numbers]


class MessageForm(ActForm):
    """A mail to participants."""

    to = forms.ChoiceField(label="To")
    people = AccountsField(
        required=False, label="Accounts", help_text="Numbers of accounts, for “those ticked above”."
    )
    title = forms.CharField(max_length=120, validators=[plain], label="Subject")
    text = forms.CharField(max_length=20_000, widget=forms.Textarea(attrs={"rows": 8}))

    def __init__(self, row: Benchmark | None, *arguments: Any, **options: Any) -> None:
        super().__init__(row, *arguments, **options)
        groups = [
            ("chosen", "those ticked above"),
            ("all", "everybody who takes part"),
            ("waiting", "who waits for approval"),
            ("silent", "who has sent nothing yet"),
            ("board", "who has an entry on the board"),
        ]
        if row is not None:
            for phase in row.phases.all():
                groups.append((f"phase-{phase.pk}", f"who sent something in the phase {phase}"))
        to: Any = self.fields["to"]
        to.choices = groups

    def clean(self) -> Values:
        """Return the values; add an error where nobody is ticked."""
        values = super().clean() or self.cleaned_data
        if values.get("to") == "chosen" and not values.get("people") and "people" not in self.errors:
            self.add_error("to", "Tick at least one person, or choose another group.")
        return values

    def arguments(self) -> tuple[Any, Values]:
        """The message, not stored yet, and the people who get it."""
        values = self.cleaned_data
        message = _new_message(self.row, values)
        return message, {"people": _group(self.row, values["to"], values["people"])}


def _new_message(benchmark: Benchmark, values: Values) -> Message:
    """The message of a form's title and text, not stored yet."""
    site = site_address(settings.RUNNING, settings.FOLDER)
    return Message(benchmark=benchmark, title=values["title"], text=values["text"], site=site)


def _group(benchmark: Benchmark, to: str, numbers: list[int]) -> QuerySet[User]:
    """The people of a group of the form; those who are blocked get a mail only if they are ticked."""
    people = acts.participants_of(benchmark)
    if to == "chosen":
        return people.filter(pk__in=numbers)
    people = people.exclude(pk__in=registrations_blocked_in(benchmark).values("user"))
    if to == "waiting":
        waiting = benchmark.registrations.filter(standing=Standing.WAITING)
        return people.filter(pk__in=waiting.values("user"))
    if to == "silent":
        return people.exclude(pk__in=benchmark.submissions.values("owner"))
    if to == "board":
        return people.filter(pk__in=Submission.objects.on_board(benchmark).values("owner"))
    if to.startswith("phase-"):
        sent = benchmark.submissions.filter(phase=int(to.removeprefix("phase-")))
        return people.filter(pk__in=sent.values("owner"))
    return people


class InvitationForm(ActForm):
    """A new invitation."""

    label = forms.CharField(
        required=False,
        max_length=254,
        validators=[plain],
        label="For whom",
        help_text="For your list: a class, or a name.",
    )
    uses = forms.IntegerField(
        min_value=1, max_value=100_000, initial=1, label="People", help_text="How many may register with it."
    )
    days = forms.IntegerField(min_value=1, max_value=LONGEST_DAYS, initial=14, label="Days until it expires")


class AddressesField(forms.CharField):
    """Mail addresses, one a line or with commas, each once whatever its case."""

    widget = forms.Textarea(attrs={"rows": 4, "autocomplete": "off"})

    def clean(self, value: Any) -> list[str]:
        """The addresses. Raises ValidationError, which names the one that is none."""
        addresses: dict[str, str] = {}
        for address in re.split(r"[\s,;]+", super().clean(value)):
            if address:
                try:
                    validate_email(address)
                except ValidationError:
                    raise ValidationError(f"{address[:80]!r} is no mail address.") from None
                addresses.setdefault(address.lower(), address)
        return list(addresses.values())


class MailedInvitationForm(ActForm):
    """Invitations by mail."""

    addresses = AddressesField(
        label="Mail addresses", help_text="One a line. Each gets a link for one person.", max_length=60_000
    )
    title = forms.CharField(
        max_length=120, validators=[plain], label="Subject", initial="You are invited to take part"
    )
    text = forms.CharField(
        required=False, max_length=20_000, widget=forms.Textarea(attrs={"rows": 4}), label="Your words"
    )
    days = forms.IntegerField(
        min_value=1, max_value=LONGEST_DAYS, initial=14, label="Days until the links expire"
    )

    def __init__(self, row: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(
            row, *arguments, auto_id="mailed_%s", **options
        )  # beside other forms with such fields

    def arguments(self) -> tuple[Any, Values]:
        """The benchmark, and the message that is not stored yet with the rest of the form."""
        values = self.cleaned_data
        message = _new_message(self.row, values)
        return self.row, {"message": message, "addresses": values["addresses"], "days": values["days"]}


class DecisionForm(ActForm):
    """A reason that may be given, and that the person reads after a refusal or a block."""

    reason = reason_field(
        "Reason", required=False, help_text="Kept in the log. Who is refused or blocked reads it."
    )


class BlockForm(DecisionForm):
    """The same, and what happens to the entries."""

    entries = forms.BooleanField(required=False, label="Take what the person sent off the board")


class ApprovalForm(DecisionForm):
    """People who may take part."""

    people = AccountsField(label="Accounts", help_text="Numbers of accounts, as 3, 17.")


def _approve(benchmark: Benchmark, actor: User, *, people: list[int], reason: str = "") -> str:
    """Let people take part; all of them, or nobody if one is unknown."""
    known = {person.pk: person for person in acts.participants_of(benchmark).filter(pk__in=people)}
    if unknown := [number for number in people if number not in known]:
        raise ActError(f"Account {unknown[0]} does not take part in {benchmark}.", "participation")
    with transaction.atomic():
        for person in known.values():
            acts.approve(acts.registration_of(benchmark, person), actor, reason)
    number = len(known)
    return f"{number} {'person' if number == 1 else 'people'} may take part."


SEARCHED = ("name", "team", "affiliation", "mail_domain", "label")
"""Facts of a person that a search reads."""


def _list(benchmark: Benchmark, viewer: User, q: str = "", page: str | None = None) -> Values:
    """What the page of participants shows; everybody if no `page` is named."""
    search = clean_search(q)
    everybody = rows_of(benchmark, viewer)
    words = words_of(search)
    matches = [row for row in everybody if has_words(words, *(str(row[name] or "") for name in SEARCHED))]
    size = None if page is None else PEOPLE
    rows, pager = paginate(matches, size, page_number(page or ""), q=search)
    mails = benchmark.messages.annotate(
        sent=Count("deliveries", filter=Q(deliveries__sent__isnull=False)),
        refused=Count("deliveries", filter=Q(deliveries__refused=True)),
        total=Count("deliveries"),
    )
    return {
        "participants": rows,
        "number": len(everybody),
        "found": len(matches),
        "search": search,
        **pager,
        "invitations": _invitations(benchmark, viewer),
        "mails": mails,
        "policy": benchmark.policy,
        "mail_is_sent": settings.MAIL_IS_SENT,
    }


def _invitations(benchmark: Benchmark, viewer: User) -> list[Values]:
    """The invitations: whether the mail of one is sent, and who accepted it."""
    site = site_address(settings.RUNNING, settings.FOLDER)
    rows = benchmark.invitations.select_related("benchmark")
    invitations = []
    for row in rows.prefetch_related("deliveries", "guests__user"):
        state = ""
        for mail in row.deliveries.all():
            state = "sent" if mail.sent else "waiting"
            if mail.refused:
                state = "refused"
        invitations.append(
            {
                "pk": row.pk,
                "label": str(row),
                "uses": row.uses,
                "used": row.used,
                "expires": row.expires,
                "usable": row.is_usable,
                "url": site + row.path,
                "mail": state,
                "accepted": [account_name(guest.user, viewer) for guest in row.guests.all()],
            }
        )
    return invitations


def _participant(request: HttpRequest, benchmark: Benchmark, pk: int) -> Registration:
    """The registration of somebody who takes part, stored or not. Raises Http404."""
    return acts.registration_of(benchmark, get_object_or_404(acts.participants_of(benchmark), pk=pk))


def _participant_context(row: Registration, viewer: User) -> Values:
    (facts,) = rows_of(row.benchmark, viewer, account=row.user_id)
    sent = row.benchmark.submissions.filter(owner=row.user_id).select_related("phase")
    return {"participant": facts, "sent": sent, "policy": row.benchmark.policy}


PARTICIPANTS = OrganizerPage.from_toml(
    "organize-participants",
    {
        "approve": (_approve, ApprovalForm),
        "mail": (write_to, MessageForm),
        "invite": (acts.invite, InvitationForm),
        "invite-by-mail": (invite_people, MailedInvitationForm),
    },
    parameters=("q", "page"),
    context=_list,
)
PARTICIPANT = OrganizerPage.from_toml(
    "organize-participant",
    {
        "approve": (acts.approve, DecisionForm),
        "refuse": (acts.refuse, DecisionForm),
        "block": (acts.block, BlockForm),
        "unblock": (acts.unblock, DecisionForm),
    },
    find=_participant,
    context=_participant_context,
)
INVITATION = OrganizerPage.from_toml(
    "organize-invitation",
    {"end": (acts.end_invitation, ActForm)},
    find=lambda request, benchmark, pk: get_object_or_404(benchmark.invitations, pk=pk),
)


@for_organizers(require_safe)
def participants_csv(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Everybody who takes part, as CSV."""
    return csv_response(request, benchmark)


def csv_response(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """The same for a program."""
    assert isinstance(request.user, User)
    lines = []
    for row in rows_of(benchmark, request.user):
        cells = [row[name] for name in COLUMNS]
        lines.append(
            [cell.isoformat(timespec="seconds") if isinstance(cell, datetime) else cell for cell in cells]
        )
    text = BYTE_ORDER_MARK + csv_text(COLUMNS, lines)
    return as_download(HttpResponse(text, TYPES["csv"]), f"{benchmark.name}-participants.csv")
