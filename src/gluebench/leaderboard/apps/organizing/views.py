"""Pages of an organizer's setup: opening a draft, roles, a copy of the benchmark."""

from functools import partial

from gluebench.leaderboard.apps.accounts.models import User, account_name
from gluebench.leaderboard.apps.accounts.trust import may_create
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import ActForm, OrganizerPage
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.organizing.acts import (
    duplicate,
    give_role,
    holders_of,
    make_draft,
    open_to_participants,
    open_to_public,
    take_role,
)
from gluebench.leaderboard.apps.organizing.checklist import checklist
from gluebench.leaderboard.apps.organizing.dry_runs import delete_dry_run, last_dry_run, start_dry_run
from gluebench.leaderboard.apps.organizing.forms import AccountForm, CopyForm, RoleForm


def _people(benchmark: Benchmark, viewer: User) -> Values:
    people = []
    for role in ("organizer", "reviewer"):
        for user in holders_of(benchmark, role).all():
            people.append({"role": role, "account": user.pk, "name": account_name(user, viewer)})
    return {"people": people}


def _setup(benchmark: Benchmark, viewer: User) -> Values:
    form = CopyForm(benchmark) if may_create(viewer) else None
    dry_run = last_dry_run(benchmark)
    return {"dry_run": dry_run, "form": form, **checklist(benchmark, dry_run)}


SETUP = OrganizerPage.from_toml("organize-setup", {}, context=_setup)
OPENING = OrganizerPage.from_toml(
    "organize-opening",
    {
        "open": (open_to_public, ActForm),
        "restrict": (open_to_participants, ActForm),
        "draft": (make_draft, ActForm),
    },
    context=_setup,
)
DRY_RUN = OrganizerPage.from_toml(
    "organize-dry-run", {"": (start_dry_run, ActForm), "delete": (delete_dry_run, ActForm)}, context=_setup
)
DUPLICATE = OrganizerPage.from_toml("organize-duplicate", {"": (duplicate, CopyForm)}, context=_setup)
ROLES = OrganizerPage.from_toml(
    "organize-roles",
    {
        "": (give_role, RoleForm),
        "remove-organizer": (partial(take_role, role="organizer"), AccountForm),
        "remove-reviewer": (partial(take_role, role="reviewer"), AccountForm),
    },
    context=_people,
)
