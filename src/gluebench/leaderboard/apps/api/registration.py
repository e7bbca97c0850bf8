"""Registering for a benchmark: its rules, what it asks for, and where the caller stands."""

from django.http import HttpRequest
from ninja import Router

from gluebench.leaderboard.apps.accounts.models import Scope, User
from gluebench.leaderboard.apps.api import schemas
from gluebench.leaderboard.apps.api.callers import SIGNED_IN, user_with
from gluebench.leaderboard.apps.api.schemas import answers
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import insist_on_valid
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.limits import registration as acts
from gluebench.leaderboard.apps.limits.models import Acceptance, obstacle_for, rules_of, version_of
from gluebench.leaderboard.apps.participants.pages import JoinForm

router = Router(tags=["Submitting"], auth=SIGNED_IN)


class Registered(schemas.Strict):
    """What a person gives: the version of the rules that were read, and what the benchmark asks for."""

    version: str
    name: str = ""
    affiliation: str = ""
    consent: bool = False
    code: str = ""
    """That of an invitation: the last part of its link."""


@router.get("/{slug:name}/registration", response=answers(schemas.RegistrationDetail, 403, 404))
def registration(request: HttpRequest, name: str, code: str = "") -> Values:
    """The rules with their version, what registering asks for, and whether the caller may submit.

    `code`: of an invitation, without which a benchmark for invited participants is not found.
    """
    user = user_with(request, Scope.SUBMIT)
    return _facts(acts.joinable(user, name, code), user, "")


@router.post("/{slug:name}/registration", response=answers(schemas.RegistrationDetail, 403, 404, 409, 422))
def register(request: HttpRequest, name: str, given: Registered) -> Values:
    """Accept this version of the rules and register, as the page `join` does."""
    user = user_with(request, Scope.SUBMIT)
    benchmark = acts.joinable(user, name, given.code)
    form = JoinForm(benchmark, given.dict())
    insist_on_valid(form)
    done = acts.register(benchmark, user, code=given.code, **form.cleaned_data)
    return _facts(benchmark, user, done)


def _facts(benchmark: Benchmark, user: User, done: str) -> Values:
    row = acts.registration_of(benchmark, user)
    version = version_of(benchmark)
    obstacle = obstacle_for(benchmark, user)
    policy = benchmark.policy
    accepted = Acceptance.objects.filter(user=user, benchmark=benchmark, digest=version)
    return {
        "benchmark": benchmark.name,
        "registration": policy.registration,
        "rules": rules_of(benchmark),
        "version": version,
        "accepted": accepted.exists(),
        "asks": {
            "name": policy.ask_name,
            "affiliation": policy.ask_affiliation,
            "consent": policy.consent,
        },
        "standing": row.standing or None,
        "obstacle": None if obstacle is None else obstacle.reason,
        "done": done,
    }
