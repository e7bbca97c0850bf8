"""Pages on limits: an organizer's policy and phases, its rules, teams, the quota beside submissions."""

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from gluebench.leaderboard.apps.accounts.models import (
    SignedInRequest,
    User,
    account_name,
    leader_of,
    teams_of,
)
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import (
    OrganizerPage,
    benchmark_of,
    refusals_shown,
)
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.common.pages import redirect_with_error
from gluebench.leaderboard.apps.common.parameters import takes
from gluebench.leaderboard.apps.limits import acts
from gluebench.leaderboard.apps.limits.acts import add_override, remove_override, set_limits
from gluebench.leaderboard.apps.limits.forms import (
    MemberForm,
    OverrideForm,
    PolicyForm,
    RemovalForm,
    TeamForm,
    TeamLinkForm,
)
from gluebench.leaderboard.apps.limits.models import Override
from gluebench.leaderboard.apps.limits.phase_acts import delete_phase, extend, save_phase, settle_phase
from gluebench.leaderboard.apps.limits.phase_files import PhaseFileForm, add_file, delete_file
from gluebench.leaderboard.apps.limits.phase_forms import (
    PRESETS,
    ExtensionForm,
    NewPhaseForm,
    PhaseForm,
    preset_phase,
)
from gluebench.leaderboard.apps.limits.quota import usage
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.phases.wording import describe_phases, phase_sentences
from gluebench.leaderboard.apps.submissions.counting import describe_moves, results_wait_for
from gluebench.leaderboard.apps.submissions.feedback import explain_policy
from gluebench.leaderboard.apps.submissions.grading import effect_of
from gluebench.leaderboard.serving.health import workers

SHOWN = 5
"""Maximum number of benchmarks whose quota is shown: those the user last submitted to."""


@login_required
@takes("benchmark")
def team(request: SignedInRequest) -> HttpResponse:
    """The user's team for a benchmark or for all, or the form to create one."""
    scope = _scope(request)
    form = TeamForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            created = acts.create_team(request.user, form.cleaned_data["name"], scope)
        except ActError as error:
            form.add_error("name", str(error))
        else:
            messages.success(request, f"The team {created} is ready. Send its link to the other members.")
            return redirect(_team_page(scope))
    teams = teams_of(request.user)
    mine = teams.get(None if scope is None else scope.pk)
    benchmarks = Benchmark.objects.filter(
        Q(pk__in=Benchmark.objects.visible_to(request.user).values("pk")) | Q(teams__in=teams.values())
    )
    choices = [(benchmark, teams.get(benchmark.pk)) for benchmark in benchmarks.distinct().order_by("title")]
    context: dict[str, Any] = {
        "form": form,
        "team": mine,
        "here": "team",
        "benchmark": scope,
        "general": teams.get(None),
        "choices": choices,
    }
    if mine is not None:
        invitation = mine.invitations.usable().first()
        context |= {
            "members": acts.members_of(mine),
            "leads": leader_of(mine) == request.user,
            "link_form": TeamLinkForm(),
            "invitation": invitation,
            "link": request.build_absolute_uri(invitation.path) if invitation else "",
        }
    return render(request, "limits/team.html", context, status=422 if form.errors else 200)


@login_required
def team_join(request: SignedInRequest, code: str) -> HttpResponse:
    """The page behind an invitation: explains what joining means; a POST joins."""
    if request.method == "POST":
        act = acts.propose_merge if "merge" in request.POST else acts.join_team
        page = reverse("team")
        with refusals_shown(request):
            invited_to = acts.team_of_invitation(code)
            page = _team_page(invited_to.benchmark)
            messages.success(request, act(request.user, code))
        return redirect(page)
    try:
        inviting = acts.team_of_invitation(code)
    except ActError:
        return render(request, "limits/join.html", {"here": "team"}, status=404)
    own = teams_of(request.user).get(inviting.benchmark_id)
    return render(request, "limits/join.html", {"wanted": inviting, "own": own, "here": "team"})


@login_required
@require_POST
@takes("benchmark")
def team_leave(request: SignedInRequest) -> HttpResponse:
    """Leave the team."""
    return _change_team(request, acts.leave_team)


@login_required
@require_POST
@takes("benchmark")
def team_merge(request: SignedInRequest, pk: int) -> HttpResponse:
    """Answer a team that asks one's own to merge."""
    with refusals_shown(request):
        messages.success(request, acts.merge(request.user, pk, accepted="accept" in request.POST))
    return redirect(_team_page(_scope(request)))


@login_required
@require_POST
@takes("benchmark")
def team_renew(request: SignedInRequest) -> HttpResponse:
    """Replace the team's invitation."""
    form = TeamLinkForm(request.POST)
    if not form.is_valid():
        return redirect_with_error(request, "Give a number of people and of days.", "team")
    return _change_team(request, partial(acts.renew_link, **form.cleaned_data))


@login_required
@require_POST
@takes("benchmark")
def team_member(request: SignedInRequest) -> HttpResponse:
    """Remove a member, or let one lead the team."""
    form = MemberForm(request.POST)
    if not form.is_valid():
        return redirect_with_error(request, "Choose a member.", "team")
    act = acts.hand_over_team if request.POST.get("act") == "lead" else acts.remove_member
    return _change_team(request, partial(act, **form.cleaned_data))


def _change_team(request: SignedInRequest, act: Callable[..., str]) -> HttpResponse:
    scope = _scope(request)
    with refusals_shown(request):
        messages.success(request, act(request.user, benchmark=scope))
    return redirect(_team_page(scope))


def _scope(request: SignedInRequest) -> Benchmark | None:
    """The benchmark that the address names; None for the team for all. Raises Http404."""
    return acts.team_scope(request.user, request.GET.get("benchmark", ""))


def _team_page(benchmark: Benchmark | None) -> str:
    """The address of the page of one's team for a benchmark, or for all."""
    if benchmark is None:
        return reverse("team")
    return f"{reverse('team')}?benchmark={benchmark.name}"


def _policy(row: Any, viewer: User) -> Values:
    benchmark = benchmark_of(row)
    overrides: list[Any] = list(benchmark.overrides.select_related("user", "team", "by"))
    for override in overrides:
        override.name = override.whose(viewer)
        override.who = account_name(override.by, viewer) if override.by else "–"
    return {
        "form": PolicyForm(benchmark),
        "override_form": OverrideForm(Override(benchmark=benchmark)),
        "overrides": overrides,
        "in_force": set(benchmark.overrides.in_force().values_list("pk", flat=True)),
    }


def _policy_preview(form: PolicyForm) -> Values:
    after = copy(form.row)
    after.settings = form.policy()
    return {"preview": explain_policy(after), "effect": effect_of(form.row.policy, after.policy)}


POLICY = OrganizerPage.from_toml(
    "limits", {"": (set_limits, PolicyForm)}, context=_policy, preview=_policy_preview
)
EXCEPTIONS = OrganizerPage.from_toml(
    "override",
    {"": (add_override, OverrideForm)},
    find=lambda request, benchmark: Override(benchmark=benchmark),
    context=_policy,
)
EXCEPTION = OrganizerPage.from_toml(
    "override-remove",
    {"": (remove_override, RemovalForm)},
    find=lambda request, benchmark, pk: get_object_or_404(benchmark.overrides, pk=pk),
)


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


def _phases(row: Phase, viewer: User, **query: str) -> Values:
    stored = row.pk is not None
    listed = describe_phases(row.benchmark, planned=True)
    for line in listed:
        line["count"] = line["phase"].submissions.filter(late=False).count()
        line["late"] = line["phase"].submissions.filter(late=True).count()
    extensions: list[Any] = list(row.extensions.select_related("user", "team", "by")) if stored else []
    for extension in extensions:
        person = account_name(extension.user, viewer) if extension.user else extension.team
        extension.whose = "Everybody" if extension.for_all else person
        extension.until = row.text_of(extension.closes)
    return {
        "phases": listed,
        "presets": PRESETS,
        "elsewhere": row.benchmark.phases_elsewhere.select_related("benchmark"),
        "extensions": extensions,
        "phase": Phase.objects.get(pk=row.pk) if stored else None,
        "waits": results_wait_for(row) if stored else "",
        "no_worker": bool(row.benchmark.gold) and not workers(),
    }


def _preview(form: Any) -> Values:
    changed = form.arguments()[0]
    lines = [changed.span, *phase_sentences(changed), *explain_policy(changed.benchmark, changed)]
    return {"preview": lines + describe_moves(changed)}


PHASES = OrganizerPage.from_toml(
    "phases",
    {"": (save_phase, NewPhaseForm)},
    find=lambda request, benchmark: preset_phase(benchmark, request.GET.get("preset", "")),
    parameters=("preset",),
    context=_phases,
    preview=_preview,
)
PHASE = OrganizerPage.from_toml(
    "phase",
    {
        "": (save_phase, PhaseForm),
        "extend": (extend, ExtensionForm),
        "delete": (delete_phase, RemovalForm),
        "settle": (settle_phase, RemovalForm),
    },
    find=lambda request, benchmark, pk: get_object_or_404(
        benchmark.phases.select_related("benchmark"), pk=pk
    ),
    context=_phases,
    preview=_preview,
)


def _files(row: Any, viewer: User) -> Values:
    return {"phase": row, "files": row.files.select_related("phase")}


PHASE_FILES = OrganizerPage.from_toml(
    "phase-files",
    {"": (add_file, PhaseFileForm)},
    find=lambda request, benchmark, pk: get_object_or_404(
        benchmark.phases.select_related("benchmark"), pk=pk
    ),
    context=_files,
)
PHASE_FILE = OrganizerPage.from_toml(
    "phase-file",
    {"": (delete_file, RemovalForm)},
    find=lambda request, benchmark, pk: get_object_or_404(
        benchmark.phase_files.select_related("benchmark", "phase"), pk=pk
    ),
)
