"""Pages on limits: an organizer's policy and phases, its rules, teams, the quota beside submissions."""

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_POST

from gluebench.leaderboard.accounts.models import SignedInRequest, Team, User, account_name
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.text import markdown
from gluebench.leaderboard.health import workers
from gluebench.leaderboard.limits import acts
from gluebench.leaderboard.limits.acts import TeamError, add_override, change_policy, remove_override
from gluebench.leaderboard.limits.forms import OverrideForm, PolicyForm, RemovalForm, TeamForm
from gluebench.leaderboard.limits.models import Acceptance, Override, rules_of, version_of
from gluebench.leaderboard.limits.phase_acts import PhaseError, delete_phase, extend, save_phase, settle_phase
from gluebench.leaderboard.limits.phase_forms import ExtensionForm, PhaseForm
from gluebench.leaderboard.limits.quota import usage
from gluebench.leaderboard.phases.models import Phase
from gluebench.leaderboard.phases.table import ActError
from gluebench.leaderboard.phases.wording import described, phase_sentences
from gluebench.leaderboard.submissions.counting import moved_by, waiting_in
from gluebench.leaderboard.submissions.feedback import explained
from gluebench.leaderboard.submissions.grading import effect_of
from gluebench.leaderboard.submissions.views import for_organizers, render_tab

SHOWN = 5
"""Maximum number of benchmarks whose quota is shown: those the user last submitted to."""


@for_organizers()
def policy(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """The organizer's page: the policy as a form, and the exceptions from it."""
    form = PolicyForm(benchmark, request.POST or None)
    if request.method == "POST" and form.is_valid():
        if request.POST.get("act") == "preview":
            after = copy(benchmark)
            after.settings = form.policy()
            effect = effect_of(benchmark.policy, after.policy)
            return _policy_page(request, benchmark, form=form, preview=explained(after), effect=effect)
        given = {name: form.cleaned_data[name] for name in ("open", "reason")}
        changes = change_policy(benchmark, form.policy(), actor=request.user, **given)
        messages.success(request, "The policy holds from now on." if changes else "Nothing was changed.")
        return redirect("limits", benchmark.name)
    return _policy_page(request, benchmark, form=form)


@for_organizers(require_POST)
def override(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Add an exception from the policy."""
    form = OverrideForm(request.POST)
    if not form.is_valid():
        return _policy_page(request, benchmark, override_form=form)
    form.instance.benchmark = benchmark
    added = add_override(form.save(commit=False), request.user)
    messages.success(request, f"The exception for {_whose(added, request.user)} holds from now on.")
    return redirect("limits", benchmark.name)


@for_organizers(require_POST)
def override_end(request: SignedInRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Remove an exception; a reason is required."""
    override = get_object_or_404(benchmark.overrides, pk=pk)
    form = RemovalForm(request.POST)
    if form.is_valid():
        remove_override(override, actor=request.user, reason=form.cleaned_data["reason"])
        messages.success(request, f"The exception for {_whose(override, request.user)} is removed.")
    else:
        messages.error(request, f"Nothing was removed: {' '.join(map(str, form.errors['reason']))}")
    return redirect("limits", benchmark.name)


@login_required
def team(request: SignedInRequest) -> HttpResponse:
    """The user's team, or the form to create one."""
    form = TeamForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            created = acts.create_team(request.user, form.cleaned_data["name"])
        except TeamError as error:
            form.add_error("name", str(error))
        else:
            messages.success(request, f"The team {created} is ready. Send its link to the other members.")
            return redirect("team")
    mine = request.user.team
    context: dict[str, Any] = {"form": form, "team": mine, "here": "team"}
    if mine is not None:
        context["members"] = mine.members.count()
        context["link"] = request.build_absolute_uri(reverse("team-join", args=[mine.code]))
    return render(request, "limits/team.html", context, status=422 if form.errors else 200)


@login_required
def team_join(request: SignedInRequest, code: str) -> HttpResponse:
    """The page behind an invitation: explains what joining means; a POST joins."""
    if "merge" in request.POST:
        propose = partial(acts.propose_merge, code=code)
        return _change_team(request, propose, "The team {} is asked; one of its members accepts or declines.")
    if request.method == "POST":
        return _change_team(request, lambda user: acts.join_team(user, code), "You are in the team {} now.")
    invited_to = Team.objects.filter(code=code).first()
    context = {"wanted": invited_to, "code": code, "here": "team"}
    return render(request, "limits/join.html", context, status=200 if invited_to else 404)


@login_required
@require_POST
def team_leave(request: SignedInRequest) -> HttpResponse:
    """Leave the team."""
    return _change_team(request, acts.leave_team, "You left the team.")


@login_required
@require_POST
def team_merge(request: SignedInRequest, pk: int) -> HttpResponse:
    """Answer a team that asks one's own to merge."""
    accepted = "accept" in request.POST
    message = "The team {} is part of yours now." if accepted else "You declined the team {}."
    return _change_team(request, partial(acts.merge, pk=pk, accepted=accepted), message)


@login_required
@require_POST
def team_renew(request: SignedInRequest) -> HttpResponse:
    """Replace the team's invitation link."""
    return _change_team(request, acts.renew_link, "The team has a new link; the old one no longer works.")


def _change_team(request: SignedInRequest, action: Callable[[User], object], message: str) -> HttpResponse:
    try:
        messages.success(request, message.format(action(request.user)))
    except TeamError as error:
        messages.error(request, str(error))
    return redirect("team")


def _whose(override: Override, viewer: User) -> str:
    """The person or team of an exception, under the name that the viewer may see."""
    return account_name(override.user, viewer) if override.user else str(override.team)


def _policy_page(request: SignedInRequest, benchmark: Benchmark, **forms: Any) -> HttpResponse:
    overrides: list[Any] = list(benchmark.overrides.select_related("user", "team", "by"))
    for override in overrides:
        override.whose = _whose(override, request.user)
        override.who = account_name(override.by, request.user) if override.by else "–"
    context = {
        "form": PolicyForm(benchmark),
        "override_form": OverrideForm(),
        "overrides": overrides,
        "in_force": set(benchmark.overrides.in_force().values_list("pk", flat=True)),
        **forms,
    }
    return render_tab(request, benchmark, "limits", context, template="limits/policy.html")


def quota(request: HttpRequest) -> dict[str, Any]:
    """Context processor: `quota` is the user's quota as HTML, computed only on pages that show it."""
    return {"quota": SimpleLazyObject(lambda: _quota_html(request))}


def _quota_html(request: HttpRequest) -> SafeString:
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return SafeString("")
    name = request.resolver_match.kwargs.get("name") if request.resolver_match else None
    visible = Benchmark.objects.visible_to(user)
    benchmarks = visible.filter(name=name)
    if not name:  # those the user last submitted to; on a site of one benchmark, that one
        sent_to = visible.filter(submissions__owner=user)
        benchmarks = sent_to.annotate(last=Max("submissions__submitted")).order_by("-last")[:SHOWN]
        if not benchmarks and visible.count() == 1:
            benchmarks = visible
    quotas = [(benchmark, usage(benchmark, user)) for benchmark in benchmarks]
    if not quotas:
        return SafeString("")
    return render_to_string("limits/quota.html", {"quotas": quotas, "user": user, "named": name is None})


@for_organizers()
def phases(request: SignedInRequest, benchmark: Benchmark, pk: int | None = None) -> HttpResponse:
    """The phases in their order, and the forms that add or change one, extend its deadline, or delete it."""
    row = Phase(benchmark=benchmark)
    if pk is not None:
        row = get_object_or_404(benchmark.phases.select_related("benchmark"), pk=pk)
    if request.method != "POST":
        return _page(request, row)
    act = _ACTS.get(request.POST.get("act", "")) if pk is not None else None
    return (act or _save)(request, row)


def _extend(request: SignedInRequest, row: Phase) -> HttpResponse:
    form = ExtensionForm(row, request.POST)
    if not form.is_valid():
        return _page(request, row, extension_form=form)
    extend(row, actor=request.user, **form.cleaned_data)
    messages.success(request, f"The new deadline is {row.text_of(form.cleaned_data['closes'])}.")
    return redirect("phase", row.benchmark.name, row.pk)


def _delete(request: SignedInRequest, row: Phase) -> HttpResponse:
    benchmark = row.benchmark.name
    _with_reason(request, row, delete_phase, "Nothing was deleted", f"The phase {row} is deleted.")
    return redirect("phases", benchmark)


def _settle(request: SignedInRequest, row: Phase) -> HttpResponse:
    done = f"The results of {row} do not wait any more."
    _with_reason(request, row, settle_phase, "Nothing was done", done)
    return redirect("phase", row.benchmark.name, row.pk)


def _with_reason(
    request: SignedInRequest, row: Phase, act: Callable[[Phase, User, str], object], nothing: str, done: str
) -> None:
    """Do what needs a reason, and say in a message that it is `done`, or why not."""
    form = RemovalForm(request.POST)
    problem = "" if form.is_valid() else f"{nothing}: {' '.join(map(str, form.errors['reason']))}"
    try:
        if not problem:
            act(row, request.user, form.cleaned_data["reason"])
    except (PhaseError, ActError) as error:
        problem = str(error)
    (messages.error if problem else messages.success)(request, problem or done)


_ACTS = {"extend": _extend, "delete": _delete, "settle": _settle}


def _save(request: SignedInRequest, row: Phase) -> HttpResponse:
    """Save a phase, or show what participants will read."""
    form = PhaseForm(request.POST, instance=row)
    if not form.is_valid():
        return _page(request, row, form=form)
    changed = form.save(commit=False)
    if request.POST.get("act") == "preview":
        lines = [changed.span, *phase_sentences(changed), *explained(changed.benchmark, changed)]
        lines += moved_by(changed)
        return _page(request, row, form=form, preview=lines)
    changes = save_phase(changed, request.user, form.cleaned_data.get("reason", ""))
    messages.success(request, f"{changed} is saved." if changes else "Nothing was changed.")
    return redirect("phases", changed.benchmark.name)


def _page(request: SignedInRequest, row: Phase, **context: Any) -> HttpResponse:
    benchmark, stored = row.benchmark, row.pk is not None
    listed = described(benchmark, planned=True)
    for line in listed:
        line["count"] = line["phase"].submissions.filter(late=False).count()
        line["late"] = line["phase"].submissions.filter(late=True).count()
    extensions: list[Any] = list(row.extensions.select_related("user", "team", "by")) if stored else []
    for extension in extensions:
        person = account_name(extension.user, request.user) if extension.user else extension.team
        extension.whose = "Everybody" if extension.for_all else person
        extension.until = row.text_of(extension.closes)
    context = {
        "form": PhaseForm(instance=row),
        "extension_form": ExtensionForm(row) if stored and row.closes else None,
        **context,
        "phases": listed,
        "extensions": extensions,
        "phase": Phase.objects.get(pk=row.pk) if stored else None,
        "waits": _waits(row) if stored else "",
    }
    return render_tab(request, benchmark, "phases", context, template="limits/phases.html")


def _waits(phase: Phase) -> str:
    """What the results of a phase that is over wait for; empty where they do not wait."""
    now = timezone.now()
    if phase.over is None or phase.complete is None or now < phase.over or phase.is_settled:
        return ""
    if now < phase.complete:
        return f"Uploads that began before the deadline may end until {phase.text_of(phase.complete)}."
    number = waiting_in(phase).count()
    worker = "" if workers() or not phase.benchmark.gold else " No worker gives signs of life."
    return f"{number:,} submission{'s' * (number != 1)} in the queue may count.{worker}"


@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, name: str) -> HttpResponse:
    """The rules; a POST accepts the version that was shown, unless they have changed since."""
    benchmark = get_object_or_404(Benchmark.objects.visible_to(request.user), name=name)
    digest = version_of(benchmark)
    user = request.user if isinstance(request.user, User) else None
    if request.method == "POST":
        if user is None:
            return redirect_to_login(request.path)
        if request.POST.get("version") == digest:
            Acceptance.objects.get_or_create(user=user, benchmark=benchmark, digest=digest)
            messages.success(request, f"You accepted the rules of {benchmark.title}.")
            return redirect("submit", name)
        messages.error(request, "The rules have changed since you opened the page. Read them again.")
    rows = Acceptance.objects.filter(user=user, benchmark=benchmark, digest=digest)
    context = {
        "benchmark": benchmark,
        "rules": markdown(rules_of(benchmark), demoted=1),
        "version": digest,
        "accepted": rows.first(),
        "here": "join",
    }
    return render(request, "limits/terms.html", context)
