"""A benchmark's policy and the exceptions from it: the organizer's page, the log, the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from django.conf import settings
from django.test import Client
from django.utils import timezone
from leaderboard.material import MANIFEST
from leaderboard.sealing import logged_acts

from gluebench.cli import main
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import SETTINGS, Policy, read_policy
from gluebench.leaderboard.apps.limits import acts
from gluebench.leaderboard.apps.limits.models import Override, Registration
from gluebench.leaderboard.apps.limits.quota import usage
from gluebench.leaderboard.apps.submissions.models import Submission

Send = Callable[..., Submission]
PAGE = "/benchmarks/tiny/organize/limits"


def set_policy(benchmark: Any, **values: Any) -> None:
    benchmark.settings = {"per_day": None, "at_once": None, **values}
    benchmark.save()


@pytest.fixture
def organizer(client: Client, tiny: Any, person: Callable[[str], Any]) -> Client:
    grace = person("grace@example.org")
    tiny.organizers.add(grace)
    client.force_login(grace)
    return client


def form(**changes: Any) -> dict[str, Any]:
    """The organizer's form as a browser sends it: empty where there is no limit, nothing where unticked."""
    usual = Policy().as_dict()
    values = {name: value for name, value in {**usual, "open": True, **changes}.items() if value is not False}
    return {name: "" if value is None else value for name, value in values.items()}


@pytest.mark.parametrize(
    ("changes", "effect"),
    [
        ({"per_day": 7}, ""),
        ({"smallest_category": 99}, "What is shown of all submissions would change at once"),
        ({"feedback": "ladder"}, "All submissions would be graded again."),
    ],
)
def test_a_preview_says_what_a_change_does_and_saves_nothing(
    organizer: Client, tiny: Any, changes: dict[str, Any], effect: str
) -> None:
    page = organizer.post(PAGE, form(**changes, act="preview")).content.decode()
    panel = page.partition("What participants will read")[2].partition("</section>")[0]
    assert "Nothing is saved yet." in panel
    assert effect in panel
    assert ("would" in panel) == bool(effect)
    assert ("You may send 7 within 24 hours" in panel) == ("per_day" in changes)
    before = tiny.settings
    tiny.refresh_from_db()
    assert tiny.settings == before
    assert not Entry.objects.filter(action="policy").exists()


def test_the_organizer_reads_whose_labels_scores_may_tell(organizer: Client, tiny: Any) -> None:
    """Of tiny, only the diagnostic set says that its labels are public."""
    for page in (PAGE, "/benchmarks/tiny/organize/setup"):
        text = organizer.get(page).content.decode()
        assert "Scores of DX have all digits" in text
        assert "labels can be read from scores (338 uploads for 99 % of STS-B)" in text
    text = tiny.manifest.replace("private = false", "private = true")
    Benchmark.objects.filter(pk=tiny.pk).update(manifest=text)
    assert "have all digits" not in organizer.get(PAGE).content.decode()


def test_only_organizers_see_and_change_limits(client: Client, tiny: Any, ada: Any) -> None:
    exception = Override.objects.create(benchmark=tiny, user=ada, per_day=9, reason="a workshop")
    addresses = [PAGE, f"{PAGE}/exceptions", f"{PAGE}/exceptions/{exception.pk}/remove"]
    for address in addresses:
        assert client.post(address, {"reason": "mine"})["Location"].startswith("/account/login/")
    client.force_login(ada)
    for address in addresses:
        assert client.post(address, {**form(per_day=99), "reason": "mine"}).status_code == 403
    assert client.get(PAGE).status_code == 403
    assert Override.objects.exists()


def test_every_setting_is_on_the_form_with_a_sentence(organizer: Client) -> None:
    assert set(SETTINGS) == set(Policy().as_dict())
    text = organizer.get(PAGE).content.decode()
    for name, field in SETTINGS.items():
        assert f'name="{name}"' in text
        assert field.label in text
        assert field.help in text
        assert field.is_valid(getattr(Policy(), name))


def test_a_change_of_policy_holds_and_is_in_the_log(organizer: Client, tiny: Any) -> None:
    changed = form(per_day=1, total=None, window="calendar", feedback="ladder", approval="on", open=False)
    version = Benchmark.objects.get().version
    organizer.post(PAGE, {**changed, "public_share": "0.5", "reveal": "2028-02-29", "reason": "a new term"})
    row = Benchmark.objects.get()
    assert row.policy.as_dict() == {
        **Policy().as_dict(),
        "per_day": 1,
        "window": "calendar",
        "feedback": "ladder",
        "approval": True,
        "public_share": 0.5,
        "reveal": "2028-02-29",
    }
    assert (row.open, row.version) == (False, version + 1)
    entry = logged_acts().get()
    assert (entry.action, User.objects.get(pk=entry.actor).email, entry.reason) == (
        "policy",
        "grace@example.org",
        "a new term",
    )
    assert entry.detail["changes"]["open"] == [True, False]
    assert entry.detail["changes"]["per_day"] == [None, 1]
    again = organizer.post(PAGE, {**changed, "public_share": "0.5", "reveal": "2028-02-29"}, follow=True)
    assert "Nothing was changed." in again.content.decode()
    assert logged_acts().count() == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"per_day": 0}, "greater than or equal to 1"),
        ({"public_share": 0.5}, "belong together"),
        ({"public_share": 1.5, "reveal": "2028-02-29"}, "between 0 and 1"),
        ({"window": "week"}, "not one of the available choices"),
    ],
)
def test_a_policy_that_cannot_be_followed_changes_nothing(
    organizer: Client, tiny: Any, wrong: dict[str, Any], said: str
) -> None:
    answer = organizer.post(PAGE, form(**wrong))
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert Benchmark.objects.get().settings == tiny.settings


def test_an_exception_is_given_and_taken_with_a_reason(
    organizer: Client, tiny: Any, ada: Any, send: Send
) -> None:
    set_policy(tiny, per_day=1)
    send()
    assert usage(tiny, ada).remaining == 0
    given = {"who": f"account-{ada.pk}", "per_day": "3", "until": "2099-06-30 18:00", "reason": "a workshop"}
    page = organizer.post(f"{PAGE}/exceptions", given, follow=True).content.decode()
    assert "a workshop" in page
    assert usage(tiny, ada).remaining == 2
    exception = Override.objects.get()
    remove = f"{PAGE}/exceptions/{exception.pk}/remove"
    assert "Give a reason" in organizer.post(remove, {"reason": " "}, follow=True).content.decode()
    assert Override.objects.exists()
    organizer.post(remove, {"reason": "it is over"})
    assert usage(tiny, ada).remaining == 0
    removed, added = logged_acts()
    assert (added.action, added.reason, added.detail["limits"]) == ("exception", "a workshop", {"per_day": 3})
    assert (removed.action, removed.reason, removed.detail["user"]) == (
        "exception removed",
        "it is over",
        ada.pk,
    )


def test_an_exception_for_a_team_and_wrong_ones(organizer: Client, tiny: Any, ada: Any) -> None:
    set_policy(tiny, per_day=2, per="team")
    lovelace = f"team-{acts.create_team(ada, 'Lovelace').pk}"
    Registration.objects.create(benchmark=tiny, user=ada, standing="accepted")
    address = f"{PAGE}/exceptions"
    for wrong, said in (
        ({"who": "account-999", "per_day": "3", "reason": "x"}, "not one of the available choices"),
        ({"who": ada.email, "per_day": "3", "reason": "x"}, "not one of the available choices"),
        ({"who": lovelace, "reason": "x"}, "at least one limit"),
        ({"who": lovelace, "per_day": "3"}, "required"),
        ({"who": lovelace, "per_day": "-1", "reason": "x"}, "greater than or equal to 0"),
    ):
        answer = organizer.post(address, wrong)
        assert (answer.status_code, said in answer.content.decode()) == (422, True)
    assert not Override.objects.exists()
    organizer.post(address, {"who": lovelace, "per_day": "3", "reason": "a course"})
    ada.refresh_from_db()
    assert usage(tiny, ada).remaining == 3


def test_who_organizes_and_is_no_admin_sees_no_address(
    organizer: Client, tiny: Any, ada: Any, person: Callable[[str], Any]
) -> None:
    boss = person("boss@example.org")
    Override.objects.create(benchmark=tiny, user=ada, by=boss, per_day=9, reason="a workshop")
    page = organizer.get(PAGE).content.decode()
    Registration.objects.create(benchmark=tiny, user=ada, standing="accepted")
    given = {"who": f"account-{ada.pk}", "per_day": "3", "reason": "a course"}
    added = organizer.post(f"{PAGE}/exceptions", given, follow=True).content.decode()
    remove = f"{PAGE}/exceptions/{Override.objects.latest('pk').pk}/remove"
    removed = organizer.post(remove, {"reason": "over"}, follow=True).content.decode()
    for text in (page, added, removed):
        assert f"Account {ada.pk}" in text
        assert f"Account {boss.pk}" in text
        assert ada.email not in text
        assert boss.email not in text
    boss.is_superuser = True
    boss.save()
    organizer.force_login(boss)
    assert ada.email in organizer.get(PAGE).content.decode()


def test_an_exception_that_ran_out_is_marked(organizer: Client, tiny: Any, ada: Any) -> None:
    over = timezone.now() - timedelta(days=1)
    Override.objects.create(benchmark=tiny, user=ada, per_day=9, reason="a workshop", until=over)
    assert '<span class="tag">over</span>' in organizer.get(PAGE).content.decode()


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [*map(str, words), "--site", str(settings.FOLDER.root)])


def test_adding_a_benchmark_names_the_tasks_whose_labels_scores_may_tell(
    db: None, gold_folder: Path, tmp_path: Path
) -> None:
    added = run("leaderboard", "add", MANIFEST, "--gold", gold_folder)
    assert "Scores of DX have all digits" in added.output
    assert "labels can be read from scores" in added.output
    hidden = tmp_path / "tiny.toml"
    hidden.write_text(MANIFEST.read_text().replace("private = false", "private = true"))
    assert "digits" not in run("leaderboard", "add", hidden, "--gold", gold_folder).output


def test_the_policy_on_the_command_line(tiny: Any, tmp_path: Path) -> None:
    set_policy(tiny)
    changed = run("leaderboard", "policy", "tiny", "--set", "per_day=1", "--set", "invalid_per_day=none")
    assert changed.exit_code == 0, changed.output
    assert Benchmark.objects.get().policy == Policy(per_day=1, at_once=None, invalid_per_day=None)
    file = tmp_path / "policy.toml"
    file.write_text(run("leaderboard", "policy", "tiny").stdout)
    assert read_policy(file).policy == Benchmark.objects.get().policy, "what it prints is a policy file"
    assert Entry.objects.get().detail["changes"] == {"per_day": [None, 1], "invalid_per_day": [20, None]}
    file.write_text('per = "team"\n')
    run("leaderboard", "policy", "tiny", "--file", file, "--set", "approval=true")
    assert Benchmark.objects.get().policy == Policy(per="team", approval=True), "a file is the whole policy"


@contextmanager
def pipe(text: str) -> Iterator[str]:
    """The path of a pipe with this text in it, as a shell's <(...) is: what has been read is gone."""
    reading, writing = os.pipe()
    os.write(writing, text.encode())
    os.close(writing)
    yield f"/dev/fd/{reading}"
    os.close(reading)


def test_a_policy_is_read_from_a_pipe_with_its_phases(tiny: Any) -> None:
    with pipe('per_day = 3\n[[phases]]\nname = "Test"\nopens = "2026-01-01 00:00"\n') as path:
        changed = run("leaderboard", "policy", "tiny", "--file", path)
    assert changed.exit_code == 0, changed.output
    assert Benchmark.objects.get().policy == Policy(per_day=3)
    assert [phase.name for phase in Benchmark.objects.get().phases.all()] == ["Test"]


def test_a_benchmark_is_added_with_a_policy_from_a_pipe(db: None, gold_folder: Path) -> None:
    with pipe('per_day = 7\n[[phases]]\nname = "Test"\nopens = "2026-01-01 00:00"\n') as path:
        added = run("leaderboard", "add", MANIFEST, "--gold", gold_folder, "--policy", path)
    assert added.exit_code == 0, added.output
    assert Benchmark.objects.get().policy == Policy(per_day=7)
    assert [phase.name for phase in Benchmark.objects.get().phases.all()] == ["Test"]


def test_wrong_policies_on_the_command_line(tiny: Any) -> None:
    wrong = run("leaderboard", "policy", "tiny", "--set", "per_day=many", "--set", "perday=1")
    assert wrong.exit_code == 1
    assert "per_day: expected a whole number" in wrong.stderr
    assert "'perday' is not a setting" in wrong.stderr
    assert "has: tiny" in run("leaderboard", "policy", "glue").stderr
    assert run("leaderboard", "policy", "tiny", "--set", "per_day").exit_code == 2


def test_adding_with_a_policy(db: None, gold_folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("per_day = 7\nper_dya = 3\n")
    words = ("leaderboard", "add", MANIFEST, "--gold", gold_folder, "--policy", file)
    assert "'per_dya' is not a setting" in run(*words).stderr
    assert not Benchmark.objects.exists()
    file.write_text("per_day = 7\n")
    assert run(*words).exit_code == 0
    assert Benchmark.objects.get().policy == Policy(per_day=7)
    run(*words[:-2])
    assert Benchmark.objects.get().policy == Policy(per_day=7), "adding again without one keeps it"
