"""The organizer's pages of phases: all problems at once, a preview, extensions, the log; and policy files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from leaderboard.sealing import logged_acts

from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import PolicyError, read_policy
from gluebench.leaderboard.apps.limits.acts import set_policy
from gluebench.leaderboard.apps.phases.models import Extension, Phase
from gluebench.leaderboard.apps.submissions.models import Submission

PAGE = "/benchmarks/tiny/organize/phases"
NOW = datetime(2027, 5, 15, 12, 0, tzinfo=UTC)


@pytest.fixture
def organizer(
    client: Client, tiny: Any, person: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> Client:
    monkeypatch.setattr(timezone, "now", lambda: NOW)
    grace = person("grace@example.org")
    tiny.organizers.add(grace)
    client.force_login(grace)
    return client


def form(**changes: Any) -> dict[str, Any]:
    """The form as a browser sends it."""
    usual = {
        "name": "Test",
        "zone": "AoE",
        "opens": "2027-05-01T00:00",
        "closes": "2027-05-31T23:59",
        "counting": "best",
        "most": "1",
        "otherwise": "best",
        "shown": "always",
        "rows": "all",
        "late": "kept",
        "policy-total": "5",
    }
    return {**usual, **changes}


def problems(page: Any) -> dict[str, str]:
    return {name: " ".join(map(str, texts)) for name, texts in page.context["form"].errors.items()}


def test_a_phase_is_added_with_its_times_in_utc_and_listed(organizer: Client) -> None:
    page = organizer.post(PAGE, form(), follow=True).content.decode()
    phase = Phase.objects.get()
    assert (phase.opens, phase.closes) == (
        datetime(2027, 5, 1, 12, 0, tzinfo=UTC),
        datetime(2027, 6, 1, 11, 59, tzinfo=UTC),
    )
    assert phase.settings == {"total": 5}
    assert "Test is saved." in page
    assert "31 May 2027, 23:59 AoE (1 June, 11:59 UTC)" in page
    entry = Entry.objects.get(action="phase")
    assert entry.detail["counting"] == [None, "best"]
    edited = organizer.get(f"{PAGE}/{phase.pk}").content.decode()
    assert 'value="2027-05-31T23:59"' in edited
    unchanged = organizer.post(f"{PAGE}/{phase.pk}", form(), follow=True).content.decode()
    assert "Nothing was changed." in unchanged
    assert Entry.objects.filter(action__startswith="phase").count() == 1
    organizer.post(f"{PAGE}/{phase.pk}", form(**{"policy-total": "none", "policy-feedback": "with-board"}))
    phase.refresh_from_db()
    assert phase.settings == {"total": None, "feedback": "with-board"}


def test_a_new_phase_has_the_zone_of_the_last_and_no_reason(organizer: Client) -> None:
    organizer.post(PAGE, form())
    new = organizer.get(PAGE).context["form"]
    assert (new["zone"].value(), "reason" in new.fields) == ("AoE", False)
    assert "reason" in organizer.get(f"{PAGE}/{Phase.objects.get().pk}").context["form"].fields


def test_the_organizers_list_names_phases_and_marks_late_files(
    organizer: Client, send: Callable[..., Any]
) -> None:
    organizer.post(PAGE, form(closes="2027-05-10T00:00"))
    send()
    assert "Test, late" in organizer.get("/benchmarks/tiny/organize").content.decode()


def test_all_problems_are_shown_at_once(organizer: Client) -> None:
    organizer.post(PAGE, form(share="0.3", rows="public"))
    wrong = form(
        name="test",
        zone="Europe/Berlin",
        opens="2027-03-28T02:30",
        closes="soon",
        shown="date",
        rows="held back",
        share="0.4",
        **{"policy-per_day": "two"},
    )
    page = organizer.post(PAGE, wrong)
    assert page.status_code == 422
    assert Phase.objects.count() == 1
    expected = {
        "name": "There is a phase 'test' already.",
        "opens": "02:30 does not exist on that day in Europe/Berlin",
        "closes": "'soon' is not a time to the minute, as 2027-05-31 23:59.",
        "shown_from": "Give the date",
        "share": "The phase Test has 0.3",
        "policy-per_day": "expected a whole number from 1 on",
    }
    shown = problems(page)
    assert shown.keys() == expected.keys()
    for name, text in expected.items():
        assert text in shown[name]


@pytest.mark.parametrize(
    ("changes", "field", "text"),
    [
        ({"closes": "2027-04-30T00:00"}, "closes", "closes before it opens"),
        ({"opens": "2027-05-10T00:00", "closes": ""}, "opens", "The phase First is open at the same time"),
        ({"opens": "2027-04-01T00:00"}, "opens", "The phase First is open at the same time"),
        ({"closes": "", "shown": "closed", "opens": "2028-05-01T00:00"}, "closes", "something is to happen"),
        ({"rows": "both"}, "share", "Give a number between 0 and 1"),
        ({"rows": "both", "share": "1.5"}, "share", "Give a number between 0 and 1"),
        ({"zone": "Mars/Base"}, "zone", "Select a valid choice"),
        ({"opens": "2027-05-01T00:00:30"}, "opens", "not a time to the minute"),
        ({"opens": "2027-05-01T00:00+02:00"}, "opens", "not a time to the minute"),
        ({"most": "0"}, "most", "greater than or equal to 1"),
    ],
)
def test_what_does_not_fit_is_refused(
    organizer: Client, changes: dict[str, str], field: str, text: str
) -> None:
    organizer.post(PAGE, form(name="First", opens="2027-05-05T00:00", closes="2027-05-15T00:00"))
    assert text in problems(organizer.post(PAGE, form(**changes)))[field]


def test_a_preview_saves_nothing(organizer: Client) -> None:
    page = organizer.post(
        PAGE, form(act="preview", counting="chosen", most="2", otherwise="last", shown="closed")
    )
    text = page.content.decode()
    assert page.status_code == 200
    assert "Choose up to 2 to count" in text
    assert "If none is chosen, the last one counts." in text
    assert (
        "their scores come on 1 June 2027, 00:10 AoE (12:10 UTC), or later, once all of them are graded."
        in text
    )
    assert "You may send 5 in all" in text
    assert not Phase.objects.exists()
    assert not logged_acts().exists()


def test_extensions_are_asked_for_with_a_reason_and_must_be_later(organizer: Client, ada: Any) -> None:
    Benchmark.objects.get().registrations.create(user=ada, standing="accepted")
    organizer.post(PAGE, form())
    organizer.post(PAGE, form(name="After", opens="2027-06-10T00:00", closes="2027-06-20T00:00"))
    phase = Phase.objects.get(name="Test")
    address = f"{PAGE}/{phase.pk}"
    for given, text in (
        ({"closes": "2027-05-30T00:00", "reason": "Late data"}, "is open until then already"),
        ({"closes": "2027-06-12T00:00", "reason": "Late data"}, "The phase After opens on 10 June 2027"),
        ({"closes": "2027-06-05T00:00"}, "This field is required."),
        ({"closes": "2027-06-05T00:00", "reason": "x", "who": "nobody"}, "not one of the available choices"),
    ):
        page = organizer.post(address, {"act": "extend", **given})
        assert (page.status_code, text in page.content.decode()) == (422, True), given
    organizer.post(
        address, {"act": "extend", "closes": "2027-06-12T00:00", "reason": "Ill", "who": f"account-{ada.pk}"}
    )
    organizer.post(address, {"act": "extend", "closes": "2027-06-05T00:00", "reason": "Late data"})
    phase.refresh_from_db()
    assert phase.closes == datetime(2027, 6, 5, 12, 0, tzinfo=UTC)
    assert [(row.user, row.reason) for row in Extension.objects.order_by("pk")] == [
        (ada, "Ill"),
        (None, "Late data"),
    ]
    text = organizer.get(f"{PAGE}/{phase.pk}").content.decode()
    assert "Everybody: 5 June 2027, 00:00 AoE" in text
    assert organizer.get("/benchmarks/tiny/organize/log").status_code == 200


def test_only_a_phase_without_submissions_is_deleted(organizer: Client, send: Callable[..., Any]) -> None:
    organizer.post(PAGE, form())
    phase = Phase.objects.get()
    row = send()
    assert row.phase == phase
    said = organizer.post(
        f"{PAGE}/{phase.pk}", {"act": "delete", "reason": "x"}, follow=True
    ).content.decode()
    assert "Test has 1 submission: close it instead." in said
    Submission.objects.all().delete()
    organizer.post(f"{PAGE}/{phase.pk}", {"act": "delete"})
    assert Phase.objects.exists()
    organizer.post(f"{PAGE}/{phase.pk}", {"act": "delete", "reason": "A mistake"})
    assert not Phase.objects.exists()
    benchmark = Benchmark.objects.get()
    assert (benchmark.due, benchmark.board_phase) == (None, None)


TOML = """
per_day = 3

[[phases]]
name = "Dev"
opens = 2027-05-01 00:00:00
closes = "2027-05-09 23:59"
zone = "AoE"
rows = "public"
share = 0.4

[[phases]]
name = "Test"
opens = "2027-05-11 00:00"
closes = "2027-05-20 23:59"
zone = "Europe/Berlin"
rows = "held back"
share = 0.4
counting = "chosen"
most = 2
shown = "closed"
[phases.settings]
total = 5
per_day = "none"
feedback = "with-board"
"""


def test_phases_are_read_from_a_policy_file(organizer: Client, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(TOML)
    set_policy("tiny", read_policy(file))
    dev, test = Phase.objects.all()
    assert (dev.opens, test.closes) == (
        datetime(2027, 5, 1, 12, 0, tzinfo=UTC),
        datetime(2027, 5, 20, 21, 59, tzinfo=UTC),
    )
    assert test.settings == {"total": 5, "per_day": None, "feedback": "with-board"}
    entries = Entry.objects.count()
    set_policy("tiny", read_policy(file))
    assert Entry.objects.count() == entries
    lines = set_policy("tiny")
    assert 'zone = "AoE"' in lines
    assert "opens = 2027-05-01T00:00:00" in lines
    file.write_text("\n".join(lines))
    set_policy("tiny", read_policy(file))
    assert Entry.objects.count() == entries, "what it prints is what it reads"


def test_the_policy_file_of_the_page_on_phases_is_taken(organizer: Client, tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "phases.md"
    file = tmp_path / "policy.toml"
    file.write_text(page.read_text().partition("```toml\n")[2].partition("```")[0])
    set_policy("tiny", read_policy(file))
    development, test = Phase.objects.all()
    assert (development.standing(), test.standing()) == ("open", "to come")
    assert (test.counting, test.settings) == ("last", {"total": 5, "feedback": "with-board"})


def test_a_policy_file_is_followed_whole_or_not_at_all(organizer: Client, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(
        TOML.replace('"chosen"', '"some"').replace("most = 2", "lots = 2").replace("total = 5", "sum = 5")
    )
    with pytest.raises(PolicyError) as refused:
        set_policy("tiny", read_policy(file))
    text = str(refused.value)
    assert "phase Test: counting: Select a valid choice." in text
    assert "phase Test: 'lots' is not known." in text
    assert "phase Test: 'sum' is not known." in text
    assert not Phase.objects.exists()
    assert Benchmark.objects.get().policy.per_day is None
    file.write_text("phases = 3")
    with pytest.raises(PolicyError, match="are tables"):
        set_policy("tiny", read_policy(file))
