"""An organizer's texts, looks, roles and copies of a benchmark, and the texts of the site."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings
from leaderboard.sealing import logged_acts

from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.organizing.forms import contrast
from gluebench.leaderboard.apps.submissions.grading import grade

HERE = "/benchmarks/tiny/organize"


@pytest.fixture
def organizer(tiny: Benchmark, ada: Any) -> Client:
    tiny.organizers.add(ada)
    client = Client()
    client.force_login(ada)
    return client


def page(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


OVERVIEW = """# Tiny

What it **is**. <script>alert(1)</script> [in](javascript:alert(1)) [out](https://example.org)

## More

Read on.
"""


def test_texts_are_previewed_then_saved_and_shown(organizer: Client) -> None:
    values = {
        "title": "Tiny tasks",
        "overview": OVERVIEW,
        "dataset": "Made up *here*.",
        "rules": "",
        "faq": "",
    }
    before = page(Client(), "/benchmarks/tiny")
    shown = organizer.post(f"{HERE}/texts", {**values, "act": "preview"}).content.decode()
    assert "What it <strong>is</strong>." in shown
    assert page(Client(), "/benchmarks/tiny") == before
    organizer.post(f"{HERE}/texts", {**values, "act": "save"})
    board, about = page(Client(), "/benchmarks/tiny"), page(Client(), "/benchmarks/tiny/about/overview")
    assert "What it <strong>is</strong>." in board
    assert "Read on." not in board
    assert about.count("<h1>") == 1
    assert "<h2>Tiny</h2>" in about
    assert "<script>" not in about.replace('<script type="module"', "")
    assert 'href="javascript' not in about
    assert 'rel="nofollow noopener ugc"' in about
    assert "Made up <em>here</em>." in page(Client(), "/benchmarks/tiny/data")
    assert Client().get("/benchmarks/tiny/about/rules").status_code == 404
    entry = Entry.objects.get(action="texts")
    assert entry.detail["changed"] == "dataset, overview, title"


def test_an_edited_title_survives_new_labels(organizer: Client, graded: Any, gold_folder: Any) -> None:
    from leaderboard.material import MANIFEST

    from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark

    Benchmark.objects.update(title="Edited")
    add_benchmark(str(MANIFEST), gold_folder)
    assert Benchmark.objects.get().title == "Edited"


def png(size: int = 1) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * (size * (size + 1)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def looks(client: Client, **values: Any) -> Any:
    return client.post(f"{HERE}/looks", {"links": "", "contact": "", **values})


def test_looks_are_on_the_board(organizer: Client) -> None:
    answer = looks(
        organizer,
        logo=SimpleUploadedFile("x.svg", png()),
        accent="#7a1f5c",
        links="The paper https://example.org/paper",
        contact="tiny@example.org",
    )
    assert answer.status_code == 302
    board = page(Client(), "/benchmarks/tiny")
    for part in ('src="/benchmarks/tiny/logo"', "/benchmarks/tiny/style.css", "mailto:tiny@example.org"):
        assert part in board
    assert '<a href="https://example.org/paper" rel="nofollow noopener">The paper</a>' in board
    logo = Client().get("/benchmarks/tiny/logo")
    assert (logo["Content-Type"], logo["X-Content-Type-Options"]) == ("image/png", "nosniff")
    assert b"".join(logo.streaming_content) == png()  # type: ignore[attr-defined]
    assert "light-dark(#7a1f5c, #74cdc0)" in page(Client(), "/benchmarks/tiny/style.css")
    looks(organizer, without_logo="on", accent="#7a1f5c")
    assert Client().get("/benchmarks/tiny/logo").status_code == 404


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"logo": SimpleUploadedFile("x.png", b"<svg onload='alert(1)'/>")}, "Send a PNG"),
        ({"logo": SimpleUploadedFile("x.png", png()[:16] + b"\0" * 200_000)}, "at most 200 kB"),
        ({"accent": "#9ad"}, "six digits"),
        ({"accent": "#99aadd"}, "Its contrast on light pages is 2.2"),
        ({"accent_dark": "#0a655c"}, "Its contrast on dark pages is 2.6"),
        ({"accent": "red;} body { display: none"}, "six digits"),
        ({"links": "Bad javascript:alert(1)"}, "write a text, then https://"),
    ],
)
def test_looks_that_are_refused(organizer: Client, values: dict[str, Any], message: str) -> None:
    answer = looks(organizer, **values)
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert Benchmark.objects.get().looks == {}


def test_contrast_is_that_of_wcag() -> None:
    """Black on white, white on itself, and the gray that is the usual example of just enough."""
    assert contrast("#000000", "#ffffff") == 21
    assert contrast("#ffffff", "#ffffff") == 1
    assert round(contrast("#767676", "#ffffff"), 2) == 4.54


def test_roles_are_given_by_address_and_taken_away(organizer: Client, person: Any, ada: Any) -> None:
    from gluebench.leaderboard.apps.accounts.models import User

    bea = person("bea@example.org")
    User.objects.create_user("unconfirmed@example.org", "a long password")
    for wrong in ("nobody@example.org", "unconfirmed@example.org"):
        answer = organizer.post(f"{HERE}/roles", {"act": "add", "email": wrong, "role": "reviewer"})
        assert "no account with this address, or it is not confirmed" in answer.content.decode()
    organizer.post(f"{HERE}/roles", {"act": "add", "email": "bea@example.org", "role": "reviewer"})
    bea_client = Client()
    bea_client.force_login(bea)
    assert bea_client.get(HERE).status_code == 200
    assert bea_client.get(f"{HERE}/texts").status_code == 403
    assert "bea@example.org" not in page(organizer, f"{HERE}/roles"), "addresses are for admins"
    alone = organizer.post(f"{HERE}/roles", {"act": "remove-organizer", "account": ada.pk}, follow=True)
    assert "You are its last organizer" in alone.content.decode()
    for nobody, status in {"": 302, "x": 302, "999999": 404}.items():
        answer = organizer.post(f"{HERE}/roles", {"act": "remove-reviewer", "account": nobody})
        assert answer.status_code == status
    organizer.post(f"{HERE}/roles", {"act": "remove-reviewer", "account": bea.pk})
    assert bea_client.get(HERE).status_code == 403
    actions = [*logged_acts().order_by("pk").values_list("action", flat=True)]
    assert actions == ["reviewer added", "reviewer removed"]


def test_one_of_two_organizers_can_leave(organizer: Client, person: Any, ada: Any) -> None:
    person("bea@example.org")
    organizer.post(f"{HERE}/roles", {"act": "add", "email": "bea@example.org", "role": "organizer"})
    answer = organizer.post(f"{HERE}/roles", {"act": "remove-organizer", "account": ada.pk})
    assert answer["Location"] == "/submissions"
    assert organizer.get(HERE).status_code == 403


@override_settings(RUNNING=settings.RUNNING._replace(create="accounts"))
def test_a_copy_has_everything_but_the_submissions(organizer: Client, graded: Any, tiny: Benchmark) -> None:
    graded()
    Benchmark.objects.update(texts={"faq": "Why?"}, settings={"per_day": 7})
    form = {"name": "tiny-2", "title": "Tiny 2", "labels": "on"}
    assert organizer.post(f"{HERE}/duplicate", form)["Location"] == "/benchmarks/tiny-2/organize/setup"
    copy = Benchmark.objects.get(name="tiny-2")
    assert (copy.title, copy.draft, copy.texts, copy.policy.per_day) == ("Tiny 2", True, {"faq": "Why?"}, 7)
    assert (copy.record.name, copy.gold_digest) == ("tiny-2", tiny.gold_digest)
    assert copy.gold != tiny.gold
    assert [file.path for file in copy.data_files.all()] == [file.path for file in tiny.data_files.all()]
    assert not copy.submissions.exists()
    assert Entry.objects.get(action="duplicate").detail == {"copy": "tiny-2"}


@override_settings(RUNNING=settings.RUNNING._replace(create="accounts"))
def test_a_copy_without_labels_opens_only_with_labels(organizer: Client, send: Any) -> None:
    organizer.post(f"{HERE}/duplicate", {"name": "tiny-2", "title": "Tiny 2"})
    copy = Benchmark.objects.get(name="tiny-2")
    assert [path.name for path in copy.gold_path.iterdir()] == [".label-key"]
    answer = organizer.post("/benchmarks/tiny-2/organize/opening", {"act": "open"}, follow=True)
    assert "It has no labels" in answer.content.decode()
    copy.refresh_from_db()
    assert copy.draft
    row = send(benchmark=copy)
    grade(row.pk)
    row.refresh_from_db()
    assert row.status == "failed"


def test_a_fresh_site_is_honest_and_its_admin_is_asked_to_write(person: Any) -> None:
    own = settings.FOLDER.pages / "terms.md"
    own.unlink(missing_ok=True)  # another test may have written it
    default = page(Client(), "/terms")
    assert "not yet written here who they are" in default
    assert "[" not in default.partition("<main")[2].partition("</main>")[0]
    admin = person("admin@example.org")
    admin.is_superuser = True
    admin.save()
    client = Client()
    client.force_login(admin)
    assert "This is the default text" in page(client, "/terms")
    text = {"text": "# Our terms\n\nThe **Institute** runs this."}
    assert (
        "<strong>Institute</strong>"
        in client.post("/terms/edit", {**text, "act": "preview"}).content.decode()
    )
    assert page(Client(), "/terms") == default
    client.post("/terms/edit", {**text, "act": "save"})
    now = page(Client(), "/terms")
    assert "<h1>Our terms</h1>" in now
    assert "default text" not in page(client, "/terms")
    assert Entry.objects.get(action="site text").detail == {"page": "terms"}
