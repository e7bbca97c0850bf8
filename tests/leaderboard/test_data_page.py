"""The Data page: what participants download, and that no test label is among it."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.cache import caches
from django.core.files.storage import storages
from django.test import Client
from leaderboard.material import CANARIES, GOLD, MANIFEST, write_data
from leaderboard.test_transfer import restore

from gluebench.benchmark import load_benchmark
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.contents import read_folder
from gluebench.leaderboard.apps.benchmarks.models import Benchmark, DataFile
from gluebench.leaderboard.apps.boards import downloads
from gluebench.leaderboard.keeping import transfer
from gluebench.leaderboard.keeping.folder import SiteError
from gluebench.submission import check

PAGE = "/benchmarks/tiny/data"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data")


@pytest.fixture
def published(tiny: Any, gold_folder: Path, data: Path) -> Benchmark:
    add_benchmark(str(MANIFEST), gold_folder, data)
    return Benchmark.objects.get(name="tiny")


def fetched(client: Client, url: str, **headers: str) -> bytes:
    return b"".join(client.get(url, headers=headers))


def listed(client: Client) -> dict[str, dict[str, Any]]:
    return {each["path"]: each for each in client.get(f"{PAGE}.json").json()["files"]}


def test_every_file_is_listed_with_its_checksum(client: Client, published: Benchmark, data: Path) -> None:
    files = listed(client)
    page = client.get(PAGE).content.decode()
    for facts in files.values():
        content = fetched(client, facts["url"])
        assert (len(content), hashlib.sha256(content).hexdigest()) == (facts["size"], facts["sha256"])
        assert facts["url"] in page
        assert facts["sha256"] in page
    given = {str(path.relative_to(data)): path.read_bytes() for path in data.rglob("*.tsv")}
    assert given == {path: fetched(client, files[path]["url"]) for path in files if path.endswith(".tsv")}
    assert files.keys() - given.keys() == {"manifest.toml", "sample-submission.zip"}
    assert fetched(client, f"{PAGE}/manifest.toml") == MANIFEST.read_bytes()
    assert client.get("/api/v1/benchmarks/tiny").json()["data"] == list(files.values())


def test_the_sample_submission_is_valid_without_any_data(client: Client, tiny: Any, tmp_path: Path) -> None:
    assert listed(client).keys() == {"manifest.toml", "sample-submission.zip"}
    file = tmp_path / "sample.zip"
    file.write_bytes(fetched(client, f"{PAGE}/sample-submission.zip"))
    found = check(str(file), load_benchmark(MANIFEST))
    assert found.verdict == "valid"
    assert not found.missing


def with_labels(data: Path) -> None:
    rows = (data / "Sim" / "test.tsv").read_text().splitlines()
    texts = [
        rows[0] + "\tlabel",
        *(f"{row}\t{label}" for row, label in zip(rows[1:], GOLD["Sim"], strict=True)),
    ]
    (data / "Sim" / "test.tsv").write_text("\n".join(texts) + "\n")


def with_labels_as_text(data: Path) -> None:
    rows = [f"{at}\ta text\t{label}\n" for at, label in enumerate(GOLD["Sim"])]
    (data / "Sim" / "test.tsv").write_text("index\tsentence1\tsentence2\n" + "".join(reversed(rows)))


def short(data: Path) -> None:
    (data / "DX" / "test.tsv").write_text("index\tpremise\thypothesis\n0\ta\tb\n")


def of_nothing(data: Path) -> None:
    for path in data.iterdir():
        path.rename(data / f"no-{path.name}")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (with_labels, r"Sim/test.tsv: has a label column; expected index sentence1 sentence2 without labels"),
        (with_labels_as_text, r"Sim/test.tsv: column sentence2 holds the test labels"),
        (short, r"test.tsv:2: the file ends here with 1 examples, expected 4"),
        (of_nothing, r"no file of tiny; expected Para/test.tsv"),
    ],
)
def test_a_folder_that_would_tell_labels_is_refused(
    tiny: Any, gold_folder: Path, data: Path, change: Callable[[Path], None], said: str
) -> None:
    change(data)
    before = list(DataFile.objects.values())
    with pytest.raises(SiteError, match=said) as refused:
        add_benchmark(str(MANIFEST), gold_folder, data)
    assert not [label for label in CANARIES if label in str(refused.value)]
    assert list(DataFile.objects.values()) == before


def test_a_labeled_split_that_holds_the_test_examples_is_refused(
    tiny: Any, gold_folder: Path, data: Path
) -> None:
    rows = [row.split("\t")[1:3] for row in (data / "Infer" / "test_mismatched.tsv").read_text().splitlines()]
    test = "".join(f"{at}\t{one}\t{two}\n" for at, (one, two) in enumerate([rows[1]] * 3))
    dev = "".join(f"{at}\t{one}\t{two}\tneutral\n" for at, (one, two) in enumerate(rows[1:3]))
    (data / "Infer" / "test_mismatched.tsv").write_text(f"index\tpremise\thypothesis\n{test}")
    (data / "Infer" / "dev_matched.tsv").write_text(f"index\tpremise\thypothesis\tlabel\n{dev}")
    with pytest.raises(SiteError, match=r"Infer/dev_matched.tsv: holds every test example with a label"):
        add_benchmark(str(MANIFEST), gold_folder, data)


def test_glue_s_own_data_are_linked_and_not_served(tmp_path: Path) -> None:
    (tmp_path / "CoLA").mkdir()
    gold: Any = SimpleNamespace(benchmark=load_benchmark("glue"), columns={})
    with pytest.raises(SiteError, match="CoLA is published elsewhere on its own terms"):
        read_folder(tmp_path, gold.benchmark, gold)


@pytest.mark.django_db(transaction=True)
def test_other_files_replace_those_that_are_there(
    client: Client, published: Benchmark, gold_folder: Path, data: Path
) -> None:
    before, old = listed(client), DataFile.objects.get(path="Sim/dev.tsv").file
    text = (data / "Sim" / "dev.tsv").read_text().replace("Sim text 0 one", "another text")
    (data / "Sim" / "dev.tsv").write_text(text)
    add_benchmark(str(MANIFEST), gold_folder)
    assert listed(client) == before
    add_benchmark(str(MANIFEST), gold_folder, data)
    assert fetched(client, f"{PAGE}/Sim/dev.tsv") == text.encode()
    assert listed(client)["Sim/dev.tsv"]["sha256"] in client.get(PAGE).content.decode()
    assert not storages["data"].exists(old)
    assert Entry.objects.filter(action="data").count() == 2
    assert Entry.objects.filter(action="labels").count() == 0


def test_the_rest_of_a_file_is_sent_to_who_has_its_beginning(client: Client, published: Benchmark) -> None:
    url = f"{PAGE}/Sim/test.tsv"
    whole = client.get(url)
    content, etag = b"".join(whole), whole["ETag"]
    rest = client.get(url, headers={"Range": "bytes=10-", "If-Range": etag})
    assert (rest.status_code, b"".join(rest)) == (206, content[10:])
    assert rest["Content-Range"] == f"bytes 10-{len(content) - 1}/{len(content)}"
    assert rest["Content-Length"] == str(len(content) - 10)
    assert fetched(client, url, **{"Range": "bytes=10-", "If-Range": '"another"'}) == content
    assert fetched(client, url, Range=f"bytes={len(content)}-") == content
    assert client.get(url, headers={"If-None-Match": etag}).status_code == 304


def test_one_zip_has_all_files_that_the_page_lists(client: Client, published: Benchmark) -> None:
    answer = client.get(f"{PAGE}.zip")
    assert answer["Content-Disposition"] == 'attachment; filename="tiny-data.zip"'
    with zipfile.ZipFile(io.BytesIO(b"".join(answer))) as archive:
        assert archive.testzip() is None
        inside = {name.removeprefix("tiny-data/"): archive.read(name) for name in archive.namelist()}
    files = listed(client)
    assert {path: hashlib.sha256(data).hexdigest() for path, data in inside.items()} == {
        path: facts["sha256"] for path, facts in files.items()
    }
    page = client.get(PAGE).content.decode()
    assert f'href="{PAGE}.zip"' in page
    assert f"{len(files)} files" in page


def test_files_that_are_too_large_for_one_zip_are_fetched_by_command(
    client: Client, published: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "MOST_ZIPPED", 10)
    caches["pages"].clear()
    assert client.get(f"{PAGE}.zip").status_code == 404
    assert "Download all" not in client.get(PAGE).content.decode()


def test_the_license_of_all_tasks_is_said_once_and_examples_are_previewed(
    client: Client, published: Benchmark
) -> None:
    page = client.get(PAGE).content.decode()
    assert page.count("License") == 1
    assert "<summary>Para: dev</summary>" in page
    assert "dev Para text 0 one" in page
    assert "test Para text 0" not in page


def test_a_task_s_page_shows_public_examples(client: Client, published: Benchmark) -> None:
    page = client.get("/benchmarks/tiny/tasks/Para").content.decode()
    shown = [f"dev Para text {at} one" for at in range(4)]
    assert [text in page for text in shown] == [True, True, True, False]
    assert "Para/test.tsv" in page
    assert "test Para text 0" not in page


def test_a_task_without_files_shows_no_examples(client: Client, tiny: Any) -> None:
    page = client.get("/benchmarks/tiny/tasks/Para").content.decode()
    assert "<h2>Examples</h2>" not in page
    assert "has not published files of this task" in page


def test_the_page_s_command_names_the_benchmark_as_anybody_can(client: Client, tiny: Any, ada: Any) -> None:
    client.force_login(ada)
    for page in (PAGE, "/benchmarks/tiny/submit"):
        text = client.get(page).content.decode()
        assert "gluebench check submission.zip --benchmark http://testserver/benchmarks/tiny<" in text


@pytest.mark.django_db(transaction=True)
def test_an_export_has_the_files(client: Client, published: Benchmark, tmp_path: Path) -> None:
    content = fetched(client, f"{PAGE}/Sim/test.tsv")
    archive = tmp_path / "export.tar.gz"
    assert transfer.export_site(str(archive), secrets=True).problems == ()
    file = DataFile.objects.get(path="Sim/test.tsv")
    with tarfile.open(archive) as tar:
        stored = tar.extractfile(f"data/{file.file}")
        assert stored is not None
        assert stored.read() == content
    site = restore(archive, tmp_path / "new")
    assert (site.data / file.file).read_bytes() == content
    assert [path for path in site.data.rglob("*") if path.stat().st_mode & 0o077] == []
    storages["data"].delete(file.file)
    assert transfer.export_site(str(tmp_path / "again.tar.gz")).problems == (
        f"{file.file} of the files to download is missing",
    )


def test_the_published_files_are_a_croissant_document(client: Client, published: Benchmark) -> None:
    answer = client.get("/benchmarks/tiny/croissant.json")
    document = answer.json()
    examples = {path: file for path, file in listed(client).items() if file["task"]}
    assert {file["@id"]: file["sha256"] for file in document["distribution"]} == {
        path: file["sha256"] for path, file in examples.items()
    }
    for file in document["distribution"]:
        content = fetched(client, file["contentUrl"].removeprefix("http://testserver"))
        columns = content.decode().partition("\n")[0].split("\t")
        [rows] = [
            part
            for part in document["recordSet"]
            if part["field"][0]["source"]["fileObject"]["@id"] == file["@id"]
        ]
        assert [field["name"] for field in rows["field"]] == columns
    assert 'href="/benchmarks/tiny/croissant.json"' in client.get(PAGE).content.decode()


def test_mlcommons_reader_accepts_the_croissant_document(
    client: Client, published: Benchmark, tmp_path: Path, mlcroissant: Any
) -> None:
    path = tmp_path / "croissant.json"
    path.write_bytes(client.get("/benchmarks/tiny/croissant.json").content)
    issues = mlcroissant.Dataset(jsonld=path).metadata.ctx.issues
    assert not issues.errors
    assert all("recommended" in warning for warning in issues.warnings), "tiny.toml states no version or date"
