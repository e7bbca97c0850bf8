"""What decides what counts is sealed: an edit without the key is found, and no act is taken for an edit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from leaderboard.material import MANIFEST
from leaderboard.sealing import catch_up

from docs.tools.sealed import UNSEALED, fields, page, sealed_fields
from gluebench.leaderboard.apps.accounts.models import Team, User, move_to
from gluebench.leaderboard.apps.accounts.trust import delete_account
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.limits import acts as limits
from gluebench.leaderboard.apps.limits.models import Override
from gluebench.leaderboard.apps.limits.phase_acts import delete_phase, extend, save_phase
from gluebench.leaderboard.apps.organizing.acts import set_organizer
from gluebench.leaderboard.apps.phases.models import Extension, Phase
from gluebench.leaderboard.apps.submissions import acts
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.keeping import integrity

NOW = timezone.now().replace(second=0, microsecond=0)


def findings() -> list[str]:
    return [f"{check.name}: {check.state}" for check in integrity.examine(files=True) if check.fix]


@pytest.fixture
def site(
    tiny: Any, graded: Callable[..., Submission], gold_folder: Path, ada: Any, person: Any
) -> Submission:
    """A benchmark with a phase in which authors choose, an extension, an exception and a reviewer."""
    add_benchmark(str(MANIFEST), gold_folder)
    tiny.reviewers.add(person("grace@example.org"))
    catch_up()
    phase = Phase(benchmark=tiny, name="Test", opens=NOW - timedelta(days=1), closes=NOW + timedelta(days=1))
    phase.counting = "chosen"
    save_phase(phase)
    row = graded(name="A")
    extend(phase, closes=NOW + timedelta(days=2), who=ada, actor=None, reason="ill")
    limits.add_override(Override(benchmark=tiny, user=ada, per_day=9, reason="a workshop"), ada)
    acts.choose(row, ada, chosen=True)
    assert findings() == []
    return Submission.objects.get(pk=row.pk)


def other_account() -> int:
    return User.objects.create(email="eve@example.org").pk


EDITS: dict[str, Callable[[], str]] = {
    "late": lambda: "UPDATE submissions_submission SET late = NOT late",
    "chosen": lambda: "UPDATE submissions_submission SET chosen = NULL",
    "public value": lambda: "UPDATE submissions_submission SET public_value = 0.99",
    "began": lambda: "UPDATE submissions_submission SET began = '2020-01-01 00:00:00'",
    "submitted": lambda: "UPDATE submissions_submission SET submitted = '2020-01-01 00:00:00'",
    "owner": lambda: f"UPDATE submissions_submission SET owner_id = {other_account()}",
    "phase": lambda: "UPDATE submissions_submission SET phase_id = NULL",
    "seal taken off": lambda: "UPDATE submissions_submission SET seal = '', late = NOT late",
    "extension moved": lambda: "UPDATE phases_extension SET closes = '2999-01-01 00:00:00'",
    "extension for another": lambda: f"UPDATE phases_extension SET user_id = {other_account()}",
    "extension deleted": lambda: "DELETE FROM phases_extension",
    "extension inserted": lambda: (
        "INSERT INTO phases_extension (phase_id, user_id, before, closes, reason, created) SELECT phase_id, "
        f"{other_account()}, before, closes, '', created FROM phases_extension"
    ),
    "exception": lambda: "UPDATE limits_override SET per_day = 99",
    "exception deleted": lambda: "DELETE FROM limits_override",
    "revealed": lambda: "UPDATE benchmarks_benchmark SET revealed = '2026-01-01 00:00:00'",
    "reviewer": lambda: f"UPDATE benchmarks_benchmark_reviewers SET user_id = {other_account()}",
    "organizer": lambda: (
        f"INSERT INTO benchmarks_benchmark_organizers (benchmark_id, user_id) SELECT id, {other_account()} "
        "FROM benchmarks_benchmark"
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_an_input_is_found(site: Submission, edit: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(EDITS[edit]())
    assert findings(), edit
    integrity.seal_inputs()
    assert findings(), "only a site of an earlier version is sealed as it is"


def test_another_label_key_is_found(site: Submission) -> None:
    key = site.benchmark.gold_path / ".label-key"
    before = key.read_bytes()
    key.write_bytes(b"k" * len(before))
    try:
        assert "label-key of tiny" in findings()[0]
    finally:
        key.write_bytes(before)


def test_the_site_s_own_acts_seal_no_edit(site: Submission, ada: Any) -> None:
    """The edit stays found whatever an author does with the row afterwards."""
    Submission.objects.filter(pk=site.pk).update(late=True)
    Submission.objects.filter(pk=site.pk).update(late=False, began=NOW - timedelta(days=9))
    acts.choose(site, ada, chosen=False)
    acts.withdraw(site)
    assert any(f"submission {site.key}" in text for text in findings())


def test_no_act_is_taken_for_an_edit(site: Submission, ada: Any, person: Any, graded: Any) -> None:
    tiny, phase = site.benchmark, site.phase
    assert phase is not None
    grace = User.objects.get(email="grace@example.org")
    acts.choose(site, ada, chosen=False)
    owls, larks = Team.objects.create(name="Owls"), Team.objects.create(name="Larks")
    move_to(ada, owls)
    move_to(grace, larks)
    ada.refresh_from_db()
    graded(name="B")
    extend(phase, closes=NOW + timedelta(days=3), who=owls, actor=None, reason="ill")
    limits.add_override(Override(benchmark=tiny, team=owls, total=99, reason="many"), ada)
    assert findings() == []
    larks.invitations.create(uses=9, expires=NOW + timedelta(days=1))
    limits.propose_merge(ada, larks.code)
    limits.merge(User.objects.get(pk=grace.pk), owls.pk, accepted=True)
    assert Extension.objects.filter(team=larks).exists()
    assert findings() == []
    set_organizer("grace@example.org", "tiny", unconfirmed=True)
    tiny.reviewers.set([])
    limits.remove_override(Override.objects.get(user=ada), ada, reason="over")
    limits.change_policy(tiny, {"public_share": 0.5, "reveal": "2020-01-01"})
    assert findings() == []
    other = Phase(benchmark=tiny, name="Next", opens=NOW + timedelta(days=9), closes=NOW + timedelta(days=10))
    save_phase(other)
    extend(other, closes=NOW + timedelta(days=11), who=ada, actor=None, reason="ill")
    delete_phase(other, None, "not held")
    larks.delete()
    delete_account(User.objects.get(pk=grace.pk))
    assert findings() == []


def test_every_field_is_sealed_or_listed_with_its_reason() -> None:
    sealed = sealed_fields()
    for model, names in fields().items():
        listed = {name for text in UNSEALED.get(model, {}).values() for name in text.split()}
        own = sealed.get(model, set())
        assert names == listed | own, f"{model}: seal a new field, or list it in docs/tools/sealed.py"
        assert not listed & own, model
    assert UNSEALED.keys() <= fields().keys()


def test_the_page_of_what_is_not_sealed_is_the_one_of_the_tables() -> None:
    assert Path("docs/reference/sealed.md").read_text() == f"{page()}\n"
