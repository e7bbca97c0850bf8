"""Acts of registration: a person registers, an organizer approves, refuses, blocks and invites."""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import User, account_name
from gluebench.leaderboard.apps.accounts.trust import has_confirmed_address
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.signals import registration_decided
from gluebench.leaderboard.apps.limits.models import Acceptance, Invitation, Registration, version_of
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.submissions.acts import decline

Standing = Registration.Standing
BLOCKED = "An organizer has blocked this account."


def participants_of(benchmark: Benchmark) -> QuerySet[User]:
    """The accounts that registered for a benchmark, accepted its rules or submitted to it."""
    # Subqueries: joins would multiply what one person has in these tables, over all benchmarks.
    takes_part = Q(pk__in=benchmark.registrations.values("user"))
    takes_part |= Q(pk__in=benchmark.acceptances.values("user"))
    takes_part |= Q(pk__in=benchmark.submissions.values("owner"))
    return User.objects.filter(takes_part, is_active=True)


def joinable(user: Any, name: str, code: str = "") -> Benchmark:
    """The benchmark that this person may register for; `code`: of an invitation. Raises Http404.

    A restricted one may be, whose pages the person does not see yet: with invitations, by a link alone.
    """
    visible = Benchmark.objects.visible_to(user).filter(name=name).first()
    if visible is not None:
        return visible
    restricted = get_object_or_404(Benchmark, name=name, draft=False)
    invited = restricted.invitations.filter(code=code).exists()
    if restricted.policy.registration == "invitation" and not invited:
        raise Http404("There is no such benchmark, or you need an invitation.")
    return restricted


def registration_of(benchmark: Benchmark, user: User) -> Registration:
    """The registration of a person; a new one, not stored, for who has none."""
    row = Registration.objects.filter(benchmark=benchmark, user=user).first()
    return row or Registration(benchmark=benchmark, user=user)


def register(
    benchmark: Benchmark,
    user: User,
    *,
    version: str,
    code: str = "",
    name: str = "",
    affiliation: str = "",
    consent: bool = False,
) -> str:
    """Accept this version of the rules, and register by the policy of the benchmark.

    `code`: that of an invitation. The form has checked that all is given that the policy asks for. Raises
    ActError for other rules than the present ones, and for a person who may not take part.
    """
    with transaction.atomic():
        person = User.objects.select_for_update(no_key=True).get(pk=user.pk)  # one registration at a time
        current = Benchmark.objects.get(pk=benchmark.pk)
        if version != version_of(current):
            raise ActError("The rules have changed since you opened the page. Read them again.", "rules")
        row = registration_of(current, person)
        former = row.standing
        if former == Standing.BLOCKED:
            raise ActError(BLOCKED, "participation")
        if former != Standing.ACCEPTED:
            _admit(row, code)
        row.affiliation = affiliation
        row.consent = current.policy.consent if consent else ""
        row.save()
        if name and name != person.name:
            person.name = name
            person.save(update_fields=["name"])
        Acceptance.objects.get_or_create(user=person, benchmark=current, digest=version)
        if row.standing != former:
            _record("registration", row, person)
    if row.standing == Standing.WAITING:
        return f"You registered for {current}. An organizer looks at your registration."
    if former == Standing.ACCEPTED:
        return f"You accepted the rules of {current}."
    return f"You accepted the rules of {current}, and may submit."


def _admit(row: Registration, code: str) -> None:
    """Decide by the policy whether a person may take part. Raises ActError for who may not register."""
    policy = row.benchmark.policy
    invitation = _use_invitation(row.benchmark, code) if code else None
    if invitation is not None or policy.registration == "open":
        row.standing, row.invitation, row.reason = Standing.ACCEPTED, invitation, ""
        return
    if row.standing == Standing.REFUSED:
        raise ActError(f"An organizer refused your registration. {row.reason}".strip(), "participation")
    if policy.registration == "approval":
        row.standing = Standing.WAITING
        return
    if policy.registration == "invitation":
        raise ActError(
            f"{row.benchmark} is for people who were invited. Open the link of your invitation.", "invitation"
        )
    domain = row.user.email.rpartition("@")[2].lower()
    if domain not in policy.mail_domains:
        raise ActError(
            f"{row.benchmark} is for people with an address of {policy.domains}; yours is of {domain}. "
            "Change your address under Account, Email.",
            "domain",
        )
    if not has_confirmed_address(row.user):
        raise ActError("Confirm your email address first, under Account, Email.", "domain")
    row.standing = Standing.ACCEPTED


def _use_invitation(benchmark: Benchmark, code: str) -> Invitation:
    """Count one use of an invitation; of several people at once for the last use, one succeeds."""
    usable = Invitation.objects.usable().filter(benchmark=benchmark, code=code)
    if not usable.update(used=F("used") + 1):
        raise ActError(
            "This invitation is used up or has expired. Ask an organizer for another.", "invitation"
        )
    return Invitation.objects.get(code=code)


def approve(row: Registration, actor: User, reason: str = "") -> str:
    """Let a person take part."""
    return _decide(row, actor, Standing.ACCEPTED, "registration approved", reason)


def refuse(row: Registration, actor: User, reason: str = "") -> str:
    """Refuse a registration. Raises ActError for a benchmark in which anybody may take part."""
    if row.benchmark.policy.registration == "open":
        raise ActError(
            "Everybody may take part in this benchmark. Block the account instead.", "participation"
        )
    return _decide(row, actor, Standing.REFUSED, "registration refused", reason)


def block(row: Registration, actor: User, reason: str = "", entries: bool = False) -> str:
    """Let a person send nothing more; with `entries`, take everything that the person sent off the board.

    Raises ActError for who organizes the benchmark.
    """
    if row.benchmark.has_organizer(row.user):
        raise ActError("This account organizes the benchmark. Remove the role first.", "role")
    with transaction.atomic():
        done = _decide(row, actor, Standing.BLOCKED, "account blocked", reason)
        if entries:
            for submission in row.benchmark.submissions.filter(owner=row.user, declined=""):
                decline(submission, actor, reason or BLOCKED)
    return done


def unblock(row: Registration, actor: User, reason: str = "") -> str:
    """Let a blocked person take part again. Entries that were taken off the board stay off."""
    if row.standing != Standing.BLOCKED:
        raise ActError("This account is not blocked.", "participation")
    return _decide(row, actor, Standing.ACCEPTED, "account unblocked", reason)


def _decide(row: Registration, actor: User, standing: str, action: str, reason: str) -> str:
    """Store and log an organizer's decision; the person reads the reason of a refusal or a block."""
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=row.user_id)  # as `register`
        current = registration_of(row.benchmark, row.user)
        former = current.standing
        current.standing = standing
        current.reason = "" if standing == Standing.ACCEPTED else reason
        current.save()
        _record(action, current, actor, reason=reason)
        if standing not in (former, Standing.BLOCKED) and former != Standing.BLOCKED:
            registration_decided.send(Registration, registration=current)
    return f"{account_name(row.user, actor)}: {current.get_standing_display().lower()}."


def invite(benchmark: Benchmark, actor: User, *, label: str, uses: int, days: int) -> str:
    """Make a link by which so many people may register for some days."""
    with transaction.atomic():
        row = new_invitation(benchmark, actor, label=label, uses=uses, days=days)
        facts: Values = {"invitation": row.pk, "label": label, "uses": uses, "days": days}
        record("invitation", actor=actor, benchmark=benchmark, **facts)
    return "The invitation is ready: send its link to the people whom it is for."


def new_invitation(benchmark: Benchmark, actor: User, *, label: str, uses: int, days: int) -> Invitation:
    """Store an invitation for so many people, and so many days."""
    expires = timezone.now() + timedelta(days=days)
    return Invitation.objects.create(benchmark=benchmark, label=label, uses=uses, expires=expires, by=actor)


def end_invitation(row: Invitation, actor: User) -> str:
    """Let nobody use an invitation any more. Who has registered with it stays."""
    with transaction.atomic():
        Invitation.objects.filter(pk=row.pk).update(uses=F("used"))
        record("invitation ended", actor=actor, benchmark=row.benchmark, invitation=row.pk)
    return "The link no longer works."


def _record(action: str, row: Registration, actor: User, reason: str = "") -> None:
    facts: Values = {"account": row.user_id, "standing": str(row.standing)}
    if row.invitation_id is not None:
        facts["invitation"] = row.invitation_id
    record(action, actor=actor, benchmark=row.benchmark, reason=reason, **facts)
