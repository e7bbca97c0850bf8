"""Diagnostic sets by phenomenon: heat map, a phenomenon's page, and which label is taken for which."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from leaderboard.material import GOLD, PREDICTIONS, write_gold, zip_bytes

from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.boards.diagnostics import find_category, slug_of
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.report import diagnosis_of

Graded = Callable[..., Submission]
HERE = "/benchmarks/tiny/diagnostics/DX"


@pytest.fixture
def two(graded: Graded) -> tuple[Submission, Submission]:
    """One that has all of DX right, and one that answers neutral throughout."""
    constant = zip_bytes({**PREDICTIONS, "DX": ["neutral"] * 4})
    return graded(name="Right"), graded(constant, name="Constant")


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


def test_the_heat_map_has_its_numbers_as_a_table_and_as_csv(client: Client, two: Any) -> None:
    html = page(client, f"{HERE}?view=map")
    assert html.count("<svg xmlns") == 1
    assert "style=" not in html
    table = html[html.index("The numbers") :]
    assert re.search(r"Negation.*?100\.0.*?0\.0", words(table))
    rows = list(csv.DictReader(io.StringIO(page(client, f"{HERE}.csv"))))
    assert {row["system"] for row in rows} == {"Right", "Constant"}
    assert {row["key"] for row in rows} == {each.key for each in two}
    whole = {row["system"]: float(row["value"]) for row in rows if row["kind"] == "overall"}
    assert whole == {"Right": 1.0, "Constant": 0.0}


def test_systems_of_one_name_stay_apart_and_formulas_stay_text(client: Client, graded: Graded) -> None:
    one, two = graded(name="=1+1"), graded(name="=1+1")
    rows = list(csv.DictReader(io.StringIO(page(client, f"{HERE}.csv"))))
    assert {row["key"] for row in rows} == {one.key, two.key}
    assert len({row["system"] for row in rows}) == 2
    assert all("=1+1" in row["system"] and not row["system"].startswith("=") for row in rows)
    assert page(client, f"{HERE}?view=map").count("<svg xmlns") == 1


def test_a_system_called_as_another_is_labeled_takes_no_place_of_it(client: Client, graded: Graded) -> None:
    constant = zip_bytes({**PREDICTIONS, "DX": ["neutral"] * 4})
    made = [graded(constant, name="CBoW", model="A"), graded(name="CBoW", model="A")]
    made.append(graded(name=f"CBoW, A, {made[0].key}"))
    rows = list(csv.DictReader(io.StringIO(page(client, f"{HERE}.csv"))))
    whole = {row["key"]: float(row["value"]) for row in rows if row["kind"] == "overall"}
    assert whole == dict(zip([each.key for each in made], [0.0, 1.0, 1.0], strict=True))
    line = page(client, f"{HERE}?view=map").split('<tr class="overall">')[1].split("</tr>")[0]
    assert re.findall(r'<td class="n">([\d.]+)<', line) == ["4", "100.0", "100.0", "0.0"]


def test_the_map_without_systems_says_what_to_do(client: Client, tiny: Any) -> None:
    assert "Add DX.tsv to a submission" in page(client, f"{HERE}?view=map")


def test_a_phenomenon_is_explained_with_pairs_of_the_sample(client: Client, two: Any) -> None:
    html = page(client, f"{HERE}/negation")
    text = words(html)
    assert "Written for the sample benchmark" in text
    assert html.count('class="n">100.0<') == 1
    assert text.index("Right") < text.index("Constant"), "the higher one comes first"
    found = client.get(f"{HERE}/negation.json").json()
    assert [row["name"] for row in found["rows"]] == ["Right", "Constant"]
    assert found["about"]
    assert found["examples"]
    assert client.get("/api/v1/benchmarks/tiny/diagnostics/DX/phenomena/negation").json() == found


def test_a_coarse_category_lists_its_phenomena(client: Client, two: Any) -> None:
    html = page(client, f"{HERE}/logic")
    assert f'href="{HERE}/conjunction"' in html
    assert f'href="{HERE}/negation"' in html


@pytest.mark.parametrize("address", [f"{HERE}/ghosts", "/benchmarks/tiny/diagnostics/Para/negation"])
def test_an_unknown_phenomenon_is_not_found(client: Client, tiny: Any, address: str) -> None:
    assert client.get(address).status_code == 404
    assert client.get(f"{address}.json").status_code == 404
    api = address.replace("/benchmarks", "/api/v1/benchmarks").replace("/negation", "/phenomena/negation")
    assert client.get(api.replace("/ghosts", "/phenomena/ghosts")).status_code == 404


def test_every_phenomenon_of_glue_has_an_address_of_its_own() -> None:
    from gluebench.benchmark import load_benchmark

    task = load_benchmark("glue").task("AX")
    names = [each.name for each in task.phenomena] + list(task.coarse())
    slugs = [slug_of(name) for name in names]
    assert len(set(slugs)) == len(names) == 37
    assert all(re.fullmatch(r"[a-z0-9-]+", slug) for slug in slugs)
    found = [find_category(task, slug) for slug in slugs]
    assert [each.name for each in found if each] == names


def test_which_label_is_taken_for_which(client: Client, two: Any) -> None:
    right, constant = two
    table = diagnosis_of(constant)["DX"]["confusions"]["overall"][""]  # type: ignore[index]
    assert {gold: row["neutral"] for gold, row in table.items()} == {
        label: list(GOLD["DX"]).count(label) for label in ("entailment", "neutral", "contradiction")
    }
    html = page(client, constant.get_absolute_url())
    assert "Which label is taken for which" in html
    assert re.search(r"neutral 0 2 0 2 100\.0", words(html))
    assert "Negation 0 1 0 0 1 0 0 1 0" in words(html)
    twin = client.get(f"{constant.get_absolute_url()}.json").json()
    assert twin["diagnosis"]["DX"]["confusions"]["overall"][""] == table
    assert diagnosis_of(right) != diagnosis_of(constant)


@pytest.fixture
def paired(tmp_path: Any, tiny: Benchmark, gold_folder: Any) -> Iterator[Benchmark]:
    """The benchmark with the groups of pairs that its metadata file names."""
    from leaderboard.material import MANIFEST

    from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark

    folder = write_gold(tmp_path / "gold")
    metadata = "index\tgroup\tdirection\n0\ta\tforward\n1\ta\tbackward\n2\tb\tforward\n3\tb\tbackward\n"
    (folder / "DX.metadata.tsv").write_text(metadata)
    add_benchmark(str(MANIFEST), folder)
    tiny.refresh_from_db()
    return tiny


def test_a_pair_s_two_directions_stand_on_the_page(client: Client, paired: Any, graded: Graded) -> None:
    constant = graded(zip_bytes({**PREDICTIONS, "DX": ["neutral"] * 4}), name="Constant")
    text = words(page(client, constant.get_absolute_url()))
    assert "The two directions of a pair" in text
    assert re.search(r"One direction right of all pairs 2 of 2 100\.0", text)
    assert "By direction" in page(client, HERE)
    by_direction = words(page(client, f"{HERE}?category=direction"))
    assert "forward" in by_direction
    assert "backward" in by_direction


def private(benchmark: Benchmark, **settings: Any) -> None:
    """Its diagnostic set with labels that nobody says are public, under this policy."""
    benchmark.manifest = benchmark.manifest.replace("private = false", "private = true")
    benchmark.settings = {**benchmark.settings, **settings}
    benchmark.save()


@pytest.mark.parametrize("feedback", ["full", "ladder"])
def test_no_counts_of_hidden_labels_are_shown(tiny: Benchmark, graded: Graded, feedback: str) -> None:
    private(tiny, feedback=feedback, smallest_category=0)
    assert diagnosis_of(graded()) == {}


def test_nothing_is_shown_before_the_report_is(tiny: Benchmark, graded: Graded, client: Client) -> None:
    tiny.settings = {**tiny.settings, "feedback": "on-publish"}
    tiny.save()
    kept = graded(public=False)
    assert kept.results.get().diagnosis is not None
    assert diagnosis_of(kept) is None
