"""Studies of how well people do: drawing, labeling, scoring, and who sees what."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from gluebench.analysis.human.score import score_sheets
from gluebench.analysis.human.sheets import read_draw, read_sheets
from gluebench.benchmark import load_benchmark
from gluebench.data.sample import build
from gluebench.leaderboard.apps.accounts.trust import delete_account
from gluebench.leaderboard.apps.annotation.models import Annotator, Study
from gluebench.leaderboard.apps.annotation.studies import order_of, score_study
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.scoring import read_gold
from sample.archive import judgments

HERE = "/benchmarks/sample/organize/people"
ROWS = judgments()
TEXTS = {(each.premise, each.hypothesis): each.label for each in ROWS}
PAIRS, PEOPLE = 20, 3


@pytest.fixture(scope="module")
def sample_gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample") / "sample"
    build(folder)
    return folder / "gold"


@pytest.fixture
def sample(db: None, sample_gold: Path) -> Benchmark:
    return Benchmark.objects.get(name=add_benchmark("sample", sample_gold))


@pytest.fixture
def organizer(sample: Benchmark, person: Any) -> Client:
    client = Client()
    account = person("organizer@example.org")
    sample.organizers.add(account)
    client.force_login(account)
    return client


def file_of(*, header: str = "index\tpremise\thypothesis\tlabel\tdomain", rows: Any = None) -> Any:
    lines = rows or [
        f"{at}\t{each.premise}\t{each.hypothesis}\t{each.label}\t{each.domain}"
        for at, each in enumerate(ROWS)
    ]
    text = "\n".join([header, *lines]) + "\n"
    return SimpleUploadedFile("examples.tsv", text.encode(), content_type="text/tab-separated-values")


def draw(organizer: Client, **changes: Any) -> Any:
    task = load_benchmark("sample").diagnostics[0].name
    values = {"task": task, "pairs": PAIRS, "annotators": PEOPLE, "seed": 7, "accounts": "", **changes}
    return organizer.post(HERE, {"examples": file_of(), **values})


@pytest.fixture
def study(organizer: Client) -> Study:
    assert draw(organizer).status_code == 302
    return Study.objects.get()


def go_through(annotator: Annotator, *, wrong: int = 0, client: Client | None = None) -> int:
    """Label everything from the pages alone, following where they lead; returns how many pages it took."""
    client = client or Client()
    address, pages = start_link(client, annotator), 0
    while address:
        html = client.get(address).content.decode()
        shown = tuple(re.findall(r"<dd>(.*?)</dd>", html))
        label = TEXTS[shown]  # type: ignore[index]
        if pages < wrong:
            label = "neutral" if label != "neutral" else "entailment"
        answer = client.post(address, {"label": label})
        pages += 1
        address = "" if answer["Location"] == annotator.get_absolute_url() else answer["Location"]
    return pages


def start_link(client: Client, annotator: Annotator) -> str:
    html = client.get(annotator.get_absolute_url()).content.decode()
    found = re.search(r'class="button" href="(.*?)"', html)
    assert found, html
    return found.group(1)


def test_what_is_drawn_has_texts_and_nothing_else(study: Study) -> None:
    assert study.items == 2 * PAIRS
    assert all(tuple(texts) in TEXTS for texts in study.texts)
    kept = json.dumps([study.texts, study.drawn])
    assert not any(each.domain in kept for each in ROWS[:1] if len(each.domain) > 12)
    assert "label" not in study.drawn
    assert Entry.objects.latest("pk").action == "people drawn"


def test_the_same_file_and_seed_draw_the_same(study: Study, organizer: Client) -> None:
    draw(organizer)
    again = Study.objects.exclude(pk=study.pk).get()
    assert (again.drawn, again.texts) == (study.drawn, study.texts)


def test_an_annotator_is_blind_and_meets_the_other_direction_later(study: Study) -> None:
    annotator = study.annotators.first()
    assert annotator is not None
    order = order_of(annotator)
    for first, second in study.drawn["pairs"]:
        assert abs(order.index(first) - order.index(second)) >= len(order) // 4
    client = Client()
    html = client.get(start_link(client, annotator)).content.decode()
    tags = {name for each in ROWS for name in each.phenomena}
    assert not any(f">{name}<" in html for name in tags)
    shown = tuple(re.findall(r"<dd>(.*?)</dd>", html))
    assert shown in TEXTS
    assert shown[0] != shown[1]
    assert "noindex" in html


def test_everybody_answers_and_the_grader_scores_as_the_command_does(
    study: Study, organizer: Client, sample_gold: Path, tmp_path: Path, client: Client
) -> None:
    for at, annotator in enumerate(study.annotators.all()):
        assert go_through(annotator, wrong=4 * at) == study.items
    score_study.func(study.pk)
    study.refresh_from_db()
    assert study.problems == []
    assert study.agreement is not None
    sheets = organizer.get(f"{HERE}/{study.key}/sheets.zip").content
    zipfile.ZipFile(io.BytesIO(sheets)).extractall(tmp_path)
    gold = read_gold(sample_gold, load_benchmark("sample"))
    drawn = read_draw(tmp_path)
    expected = score_sheets(
        drawn, read_sheets(tmp_path, drawn, gold.benchmark.task(study.task)), gold
    ).as_dict()
    found = study.agreement
    assert [*found["annotators"].values()] == [*expected["annotators"].values()]
    assert (found["mean"], found["kappa"]) == (expected["mean"], expected["kappa"])
    assert found["annotators"]["Annotator 1"]["value"] == 1.0
    assert found["annotators"]["Annotator 3"]["value"] < 1.0

    page = study.get_absolute_url()
    assert [client.get(f"{page}{end}").status_code for end in ("", ".json", ".csv")] == [404] * 3
    assert client.get("/api/v1/benchmarks/sample/people").json() == {"items": []}
    organizer.post(f"{HERE}/{study.key}", {"act": "publish"})
    html = client.get(page).content.decode()
    assert html.count("<svg xmlns") == 1
    assert f"{found['kappa']['value']:.2f}" in html
    assert client.get(f"{page}.json").json()["agreement"] == found
    assert client.get(f"{page}.csv").content.decode().count("\n") == 1 + PEOPLE + 2
    (item,) = client.get("/api/v1/benchmarks/sample/people").json()["items"]
    assert item["agreement"] == found
    assert page in client.get(f"/benchmarks/sample/diagnostics/{study.task}").content.decode()


def test_going_on_later_going_back_and_mending(study: Study) -> None:
    annotator, client = study.annotators.get(number=2), Client()
    first = start_link(client, annotator)
    answer = client.post(first, {"label": "neutral"})
    assert answer["Location"].endswith("/2")
    assert start_link(Client(), annotator).endswith("/2"), "another browser goes on where this one stopped"
    back = client.get(first).content.decode()
    assert re.search(r'value="neutral" checked', back)
    assert client.post(first, {"label": "entailment"})["Location"].endswith("/2")
    client.post(answer["Location"], {"label": ""})
    assert sorted(annotator.answers_by_item().values()) == ["", "entailment"]
    assert "2 of 40 answered" in client.get(annotator.get_absolute_url()).content.decode()


@pytest.mark.parametrize("label", [None, "perhaps", "ENTAILMENT", "entailment\n"])
def test_what_is_no_answer_is_not_kept(study: Study, label: str | None) -> None:
    annotator, client = study.annotators.get(number=1), Client()
    answer = client.post(start_link(client, annotator), {} if label is None else {"label": label})
    assert answer.status_code == 422
    assert "Choose one of these first" in answer.content.decode()
    assert annotator.answers_by_item() == {}


def test_answers_need_the_page_s_token(study: Study) -> None:
    annotator, client = study.annotators.get(number=1), Client(enforce_csrf_checks=True)
    assert client.post(start_link(client, annotator), {"label": "neutral"}).status_code == 403
    assert annotator.answers_by_item() == {}


def test_who_is_invited_by_account_is_alone_let_in(organizer: Client, person: Any, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    guest, other = person("guest@example.org"), person("other@example.org")
    assert draw(organizer, accounts="Guest@example.org\n").status_code == 302
    annotator = Annotator.objects.get(number=1)
    address = annotator.get_absolute_url()
    (sent,) = mail.outbox
    assert sent.to == ["guest@example.org"]
    assert address in sent.body
    client = Client()
    assert client.get(address)["Location"].startswith("/account/login/")
    assert client.post(f"{address}/1", {"label": "neutral"})["Location"].startswith("/account/login/")
    client.force_login(other)
    assert client.get(address).status_code == 404
    client.force_login(guest)
    assert client.post(start_link(client, annotator), {"label": "neutral"}).status_code == 302
    delete_account(guest)
    annotator.refresh_from_db()
    assert (annotator.user, len(annotator.answers_by_item())) == (None, 1)
    assert client.get(address).status_code == 404
    assert Client().get(address).status_code == 404


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pairs": 500}, "500 cannot be drawn"),
        ({"accounts": "nobody@example.org"}, "no account on this site for nobody@example.org"),
        ({"annotators": 1}, "greater than or equal to 2"),
        ({"examples": file_of(header="a\tb", rows=["1\t2"])}, "expected the columns premise and hypothesis"),
        (
            {"examples": file_of(header="index\tpremise\thypothesis", rows=["0\tx", "x\ty\tz"])},
            "line 2: 2 columns",
        ),
        ({"examples": file_of(header="premise\thypothesis", rows=["x\ty"] * 5000)}, "and 4"),
        ({"examples": SimpleUploadedFile("x.tsv", b"premise\thypothesis\n\xff\t\n")}, "line 2: not UTF-8"),
    ],
)
def test_what_cannot_be_drawn_is_said(organizer: Client, changes: Any, said: str) -> None:
    answer = draw(organizer, **changes)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Study.objects.exists()


def test_a_closed_study_takes_nothing_and_shows_no_text(study: Study, organizer: Client) -> None:
    annotator, client = study.annotators.get(number=1), Client()
    place = start_link(client, annotator)
    organizer.post(f"{HERE}/{study.key}", {"act": "close"})
    client.post(place, {"label": "neutral"})
    assert annotator.answers_by_item() == {}
    assert "This study is closed" in client.get(place, follow=True).content.decode()
    organizer.post(f"{HERE}/{study.key}", {"act": "open"})
    assert client.post(place, {"label": "neutral"}).status_code == 302
    assert len(annotator.answers_by_item()) == 1


def test_another_link_ends_the_old_one_and_keeps_the_answers(study: Study, organizer: Client) -> None:
    annotator, client = study.annotators.get(number=2), Client()
    old = annotator.get_absolute_url()
    client.post(start_link(client, annotator), {"label": "neutral"})
    organizer.post(f"{HERE}/{study.key}", {"act": "renew", "number": "2"})
    annotator.refresh_from_db()
    assert client.get(old).status_code == 404
    assert client.get(annotator.get_absolute_url()).status_code == 200
    assert len(annotator.answers_by_item()) == 1


def test_too_little_to_score_is_said(study: Study, organizer: Client) -> None:
    go_through(study.annotators.get(number=1))
    score_study.func(study.pk)
    assert "labeled by two annotators or more" in organizer.get(f"{HERE}/{study.key}").content.decode()


def test_other_labels_make_a_score_out_of_date(study: Study, organizer: Client, sample: Benchmark) -> None:
    for annotator in study.annotators.all():
        go_through(annotator)
    score_study.func(study.pk)
    Benchmark.objects.filter(pk=sample.pk).update(gold_digest="0" * 64)
    assert "The labels changed since it was scored" in organizer.get(f"{HERE}/{study.key}").content.decode()


@pytest.mark.parametrize("end", ["", "/KEY", "/KEY/sheets.zip"])
def test_only_organizers_enter(study: Study, organizer: Client, ada: Any, end: str) -> None:
    address = HERE + end.replace("KEY", study.key)
    stranger = Client()
    assert stranger.get(address).status_code == 302
    stranger.force_login(ada)
    assert stranger.get(address).status_code == 403
    assert organizer.get(address).status_code == 200


def test_deleting_a_study_deletes_its_answers(study: Study, organizer: Client) -> None:
    organizer.post(f"{HERE}/{study.key}", {"act": "delete"})
    assert not Annotator.objects.exists()
    assert next(each.action for each in Entry.objects.all()) == "people delete"


def test_text_of_examples_is_text(organizer: Client) -> None:
    rows = [line for at in range(0, 40, 2) for line in (
        f"{at}\t<b>x{at}</b>\ty", f"{at + 1}\ty\t<b>x{at}</b>"
    )]  # fmt: skip
    draw(organizer, examples=file_of(header="index\tsentence1\tsentence2", rows=rows))
    client = Client()
    annotator = Annotator.objects.get(number=1)
    html = client.get(start_link(client, annotator)).content.decode()
    assert "&lt;b&gt;x" in html
    assert "<b>x" not in html
