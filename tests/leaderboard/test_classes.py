"""Scores of each class are shown where labels are public; of hidden labels, they never leave the grader."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from leaderboard.material import MANIFEST, PREDICTIONS
from leaderboard.test_canary import leaks, opened

from gluebench.leaderboard.apps.submissions import feedback
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.report import classes_of
from gluebench.scoring import ClassScore, grade, read_gold
from gluebench.scoring.report import by_class

HIDDEN, PUBLIC = {"a hidden class": 927182}, {"a public class": 618033}
"""Names and counts of classes that nothing else on a page looks like."""
SECRETS = {
    form: form.encode() for form in ("a hidden class", "927,182", "support': 927182", 'support": 927182')
}
PUBLIC_FILES = ("Refer", "DX")
FILES = ("Para", "Infer-m", "Infer-mm", *PUBLIC_FILES)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch, tiny: Any) -> None:
    """Reports have such classes, and the labels of Refer and DX are public."""

    def class_scores(*_: object) -> Mapping[str, Mapping[str, ClassScore]]:
        files = {}
        for name in FILES:
            classes = PUBLIC if name in PUBLIC_FILES else HIDDEN
            files[name] = {each: ClassScore.of(count, count, count) for each, count in classes.items()}
        return by_class(files)

    monkeypatch.setattr(sys.modules["gluebench.scoring.grade"], "class_scores", class_scores)
    text = tiny.manifest.replace('title = "Reference"\n', 'title = "Reference"\nprivate = false\n')
    type(tiny).objects.filter(pk=tiny.pk).update(manifest=text)


def addresses(submission: Submission) -> Iterator[str]:
    own, board, api = submission.get_absolute_url(), "/benchmarks/tiny", "/api/v1"
    yield from (own, f"{own}.json", f"{own}/detail", f"{own}/eee.json")
    yield from (f"{board}{end}" for end in ("", ".json", ".csv", "/Para", "/Para.json", "/health.json"))
    yield from (f"{api}/submissions/{submission.key}{end}" for end in ("", "/report", "/history"))
    yield f"{api}{board}/board"
    yield from (f"{board}/organize/{page}" for page in ("submissions", "submissions.csv", submission.key))
    yield f"/admin/submissions/result/{submission.results.get().pk}/change/"
    yield f"/admin/submissions/submission/{submission.pk}/change/"


def answers(submission: Submission, *users: Any) -> Iterator[tuple[str, bytes]]:
    """What each user gets at every address that answers; no user is a visitor."""
    for user in (None, *users):
        client = Client()
        if user is not None:
            client.force_login(user)
        for address in addresses(submission):
            answer = client.get(address)
            yield f"{address} for {user}", opened(b"".join(answer))
        if user is not None:
            yield f"the export of {user}", opened(b"".join(client.post("/account/export")))


@pytest.mark.parametrize("policy", ["full", "ladder"])
def test_counts_of_hidden_labels_are_nowhere(
    counts: None,
    graded: Callable[..., Submission],
    tiny: Any,
    ada: Any,
    person: Callable[..., Any],
    policy: str,
) -> None:
    tiny.refresh_from_db()
    tiny.settings = {**tiny.settings, "feedback": policy}
    tiny.save()
    admin, organizer = person("admin@example.org"), person("organizer@example.org")
    type(admin).objects.filter(pk=admin.pk).update(is_staff=True, is_superuser=True)
    admin.refresh_from_db()
    tiny.organizers.add(organizer)
    submission = graded()
    assert submission.results.get().shown is None or policy == "ladder"
    rows = [
        (model.__name__, repr(list(model._default_manager.values_list())).encode())
        for model in apps.get_models()
    ]
    seen = [*answers(submission, ada, organizer, admin), *rows]
    assert leaks(seen, SECRETS) == []
    places = [place for place, data in seen if b"a public class" in data]
    assert {"Result", "Submission"} <= {*places}, "what is looked for would be found"
    own = submission.get_absolute_url()
    assert {f"{own}.json for None", f"/api/v1/submissions/{submission.key}/report for None"} <= {*places}


def test_public_classes_stand_on_the_page_and_below_the_row_of_the_board(
    counts: None, graded: Callable[..., Submission], client: Client
) -> None:
    submission = graded()
    for address in (submission.get_absolute_url(), f"{submission.get_absolute_url()}/detail"):
        page = client.get(address).content.decode()
        assert "Refer by class" in page
        assert "618,033" in page
        assert page.count("by class</summary>") == 1, "DX has its confusion table"


def test_classes_that_another_machine_sends_are_not_shown(gold_folder: Path, tiny: Any) -> None:
    """A grader of another version may send them all."""
    gold = read_gold(gold_folder, MANIFEST)
    report = grade({name: [*values] for name, values in PREDICTIONS.items()}, gold).as_dict()
    assert {*report["classes"]} == {*FILES}
    assert {*feedback.as_shown(report, gold.benchmark, smallest=0)["classes"]} == {"DX"}


def test_classes_are_in_the_order_of_the_manifest(tiny: Any) -> None:
    (task,) = (task for task in tiny.record.tasks if task.name == "Infer")
    scores = {name: {} for name in ("zebra", "neutral", "entailment", "ant")}
    shown = classes_of({"classes": {"Infer-m": scores}}, [task])
    assert [*shown["Infer-m"]] == ["entailment", "neutral", "ant", "zebra"]
    assert classes_of({}, [task]) == classes_of(None, [task]) == {}
