"""The two parts of a gold folder: nothing lost, nothing twice, labels in proportion, stable under mending."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring.material import gold_values, predicted_values, write_gold

from gluebench.scoring import grade, read_gold
from gluebench.scoring.gold import label_key
from gluebench.scoring.split import part_of, public_units
from gluebench.submission.values import submission_of

KEY = bytes(range(32))


@pytest.fixture
def small(small):
    tasks = [task._replace(private=True) if task.name == "Probe" else task for task in small.tasks]
    return small._replace(tasks=tuple(tasks))


@pytest.fixture
def gold(small, folder):
    return read_gold(folder, small)


def parts(gold, share: float = 0.5, key: bytes = KEY):
    return [part_of(gold, rows, share=share, key=key) for rows in ("public", "held back")]


def indices(column) -> list[int]:
    return list(column.indices)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.9])
def test_each_row_is_in_one_part(gold, share: float) -> None:
    public, rest = parts(gold, share)
    for name, column in gold.columns.items():
        both = [indices(part.columns[name]) for part in (public, rest)]
        assert sorted(both[0] + both[1]) == list(range(len(column)))
        assert all(each == sorted(each) for each in both)
        assert all(both)
        for part in (public, rest):
            values = list(column.values)
            assert list(part.columns[name].values) == [values[at] for at in indices(part.columns[name])]


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_each_label_has_its_share_to_within_a_row(gold, share: float) -> None:
    public = part_of(gold, "public", share=share, key=KEY)
    for name in ("Accept", "Pairs", "Halves-m", "Halves-mm"):
        whole, part = (Counter(each.columns[name].codes) for each in (gold, public))
        for code, number in whole.items():
            assert abs(part[code] - share * number) <= 1


def test_numbers_have_their_share_of_each_tenth(gold) -> None:
    numbers = gold.columns["Like"].numbers
    order = sorted(range(40), key=lambda at: (numbers[at], at))
    public = set(indices(part_of(gold, "public", share=0.5, key=KEY).columns["Like"]))
    assert [len(public & set(order[start : start + 4])) for start in range(0, 40, 4)] == [2] * 10


def test_what_goes_together_stays_together_and_keeps_its_tags(gold) -> None:
    whole = gold.metadata["Probe"].groups
    for part in parts(gold, 0.4):
        at = indices(part.columns["Probe"])
        assert Counter(whole[index] for index in at) == Counter({whole[index]: 2 for index in at})
        groups = part.metadata["Probe"].groups
        assert sorted(set(groups)) == list(range(len(at) // 2))
        assert [whole[a] == whole[b] for a in at for b in at] == [a == b for a in groups for b in groups]
        directions = gold.metadata["Probe"].columns["direction"]
        assert part.metadata["Probe"].columns["direction"] == tuple(directions[index] for index in at)
        for phenomenon, where in gold.phenomena["Probe"].items():
            mine = part.phenomena["Probe"].get(phenomenon, ())
            assert {at[position] for position in mine} == set(where) & set(at)
        assert part.categories["Probe"][0].positions == tuple(range(len(at)))


def test_the_parts_scores_are_those_of_their_rows(small, gold) -> None:
    submission = submission_of(predicted_values(), small)
    for part in parts(gold):
        report = grade(submission, part)
        at = indices(part.columns["Accept"])
        same = [gold_values()["Accept"][i] == predicted_values()["Accept"][i] for i in at]
        pairs = indices(part.columns["Pairs"])
        hits = np.mean([gold_values()["Pairs"][i] == predicted_values()["Pairs"][i] for i in pairs])
        assert report.tasks["Pairs"].metrics["accuracy"].value == pytest.approx(hits)
        assert report.tasks["Accept"].metrics["matthews_correlation"].n == len(same)
        assert report.provenance["rows"] == part.rows
        assert report.complete
        assert not any("there are gold labels for" in warning for warning in report.warnings)
        assert any("held back" in warning for warning in report.warnings)
    whole = grade(submission, gold, intervals=False)
    assert "rows" not in whole.provenance


def test_the_key_decides_and_the_same_key_decides_the_same(gold) -> None:
    def chosen(key: bytes) -> list[int]:
        return indices(part_of(gold, "public", share=0.5, key=key).columns["Accept"])

    assert chosen(KEY) == chosen(KEY)
    assert len({tuple(chosen(bytes([number] * 32))) for number in range(20)}) == 20


def test_mending_a_label_moves_hardly_a_row(small, tmp_path) -> None:
    values = gold_values()
    before = read_gold(write_gold(tmp_path / "a", values), small)
    values["Accept"][7] = 1 - values["Accept"][7]
    after = read_gold(write_gold(tmp_path / "b", values), small)
    first, second = (
        set(indices(part_of(each, "public", share=0.5, key=KEY).columns["Accept"]))
        for each in (before, after)
    )
    assert len(first ^ second) <= 3
    other = indices(part_of(after, "public", share=0.5, key=KEY).columns["Pairs"])
    assert other == indices(part_of(before, "public", share=0.5, key=KEY).columns["Pairs"])


def test_public_labels_of_a_diagnostic_set_are_not_held_back(small, folder) -> None:
    tasks = [task._replace(private=False) if task.name == "Probe" else task for task in small.tasks]
    gold = read_gold(folder, small._replace(tasks=tuple(tasks)))
    for part in parts(gold):
        assert part.columns["Probe"] == gold.columns["Probe"]
        assert part.metadata["Probe"] == gold.metadata["Probe"]


def test_a_part_keeps_what_is_known_of_the_whole(small, folder) -> None:
    whole = read_gold(folder, small, partial=True)
    whole = replace(whole, datasets={"Accept": "0123456789abcdef"}, warnings=("as the whole has it",))
    public, rest = parts(whole)
    for part in (public, rest):
        assert (part.version, part.folder, part.partial) == (whole.version, str(folder), True)
        assert part.datasets == whole.datasets
    assert public.warnings == (
        "as the whole has it",
        "scored on the public rows; the others are held back",
    )
    assert rest.warnings == (
        "as the whole has it",
        "scored on the rows that were held back at first",
    )


def test_partial_gold_is_divided_by_index_and_a_row_without_gold_is_in_no_part(small, folder) -> None:
    values = gold_values()
    rows = (folder / "Accept.tsv").read_text().splitlines(keepends=True)
    (folder / "Accept.tsv").write_text("".join([rows[0], *rows[7:]]))
    (folder / "Probe.metadata.tsv").write_text(
        "index\tdirection\n" + "".join(f"{at}\t{'ab'[at % 3 // 2]}\n" for at in range(60))
    )
    found = parts(read_gold(folder, small, partial=True))
    both = [indices(part.columns["Accept"]) for part in found]
    assert sorted(both[0] + both[1]) == list(range(6, 40))
    for part, at in zip(found, both, strict=True):
        assert part.columns["Accept"].words() == [str(values["Accept"][index]) for index in at]
        probe = indices(part.columns["Probe"])
        assert part.metadata["Probe"] == (None, {"direction": tuple("ab"[each % 3 // 2] for each in probe)})
    assert both[0] == [6, 10, 11, 16, 17, 18, 21, 23, 24, 25, 26, 31, 32, 35, 38, 39]


def test_a_key_keeps_its_rows_from_version_to_version(gold) -> None:
    """Else a running board would show rows that it holds back. Worked out apart from the source, by HMAC."""
    public = part_of(gold, "public", share=0.3, key=KEY)
    assert indices(public.columns["Accept"]) == [0, 1, 6, 11, 16, 17, 23, 24, 31, 32, 35, 38]
    strata = {"a": range(10), "b": [10, 11]}
    chosen = [public_units(strata, share=share, key=KEY) for share in (0.001, 0.3, 0.999)]
    assert chosen == [{4}, {1, 3, 4}, {*range(12)} - {7}]


def test_a_file_of_one_example_or_group_cannot_be_divided(small, tmp_path) -> None:
    folder = write_gold(tmp_path / "one")
    (folder / "Accept.metadata.tsv").write_text(
        "index\tgroup\n" + "".join(f"{at}\tsame\n" for at in range(40))
    )
    with pytest.raises(ValueError, match="Accept cannot be divided"):
        part_of(read_gold(folder, small), "public", share=0.5, key=KEY)

    (folder / "Accept.metadata.tsv").write_text(
        "index\tgroup\n" + "".join(f"{at}\t{at % 2}\n" for at in range(40))
    )
    public, rest = parts(read_gold(folder, small))
    found = [indices(part.columns["Accept"]) for part in (public, rest)]
    assert sorted(found) == [list(range(0, 40, 2)), list(range(1, 40, 2))]


def test_the_parts_have_names(gold) -> None:
    with pytest.raises(ValueError, match="rows is 'secret'; expected one of public, held back"):
        part_of(gold, "secret", share=0.5, key=KEY)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0])
def test_a_share_is_between_none_and_all(gold, share: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        part_of(gold, "public", share=share, key=KEY)


def test_every_unit_is_public_as_often_as_the_share_says() -> None:
    strata = {"a": list(range(7)), "b": [7, 8], "c": [9]}
    seen: Counter[int] = Counter()
    for number in range(2000):
        seen.update(public_units(strata, share=0.3, key=number.to_bytes(4, "big")))
    for unit in range(10):
        assert abs(seen[unit] / 2000 - 0.3) < 5 * (0.21 / 2000) ** 0.5 + 0.01


@given(st.dictionaries(st.text("abc", max_size=2), st.integers(1, 5), min_size=1), st.floats(0.01, 0.99))
def test_neither_part_is_ever_empty(sizes, share: float) -> None:
    numbers = iter(range(100))
    strata = {name: [next(numbers) for _ in range(size)] for name, size in sizes.items()}
    total = sum(sizes.values())
    if total > 1:
        assert 0 < len(public_units(strata, share=share, key=KEY)) < total


def test_the_key_is_the_one_that_names_the_labels(gold, folder) -> None:
    assert label_key(str(folder)) == (folder / ".label-key").read_bytes()
