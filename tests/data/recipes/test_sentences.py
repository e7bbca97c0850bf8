"""The sentence splitter, on sentences of several scripts."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluebench.data.recipes.qa_pairs import overlap, words
from gluebench.data.recipes.sentences import ENGLISH, RELEASED, Splitter

CORPUS = [
    "The ferry left late. The crew slept. In the hold it was warm. She said that the sea was calm. "
    "There was the smell of tar. This was in June. It rained on this deck, and there it stayed."
]


def split(text: str, *, abbreviations: frozenset[str] = ENGLISH, strays: bool = False) -> list[str]:
    splitter = Splitter([*CORPUS, text], abbreviations=abbreviations, strays=strays)
    return [text[start:end] for start, end in splitter.spans(text)]


WHOLE = [
    "Dr. Adeyemi saw Mrs. Ito and Gen. Park.",
    "The J. R. Moreau prize went to A. B. Silva.",
    "He worked for the U.S. Navy and the U.K. Treasury.",
    "It opens at 9 a.m. and costs 3.50 e.g. on No. 7 or p. 12.",
    "The range is 2.5 to 7.1 km (approx. 4.4 mi) long.",
    "Wells, pumps etc. were sold to Hart & Co. of York.",
    "He cried out! then he left… slowly.",
    "The site example.org/Index.Page is down.",
    "A sum of (n − 1)! + 1 is odd.",
]
PARTED = [
    ["The lamp went out.", "Nobody moved."],
    ["Is it late?", "It is!", "Then go."],
    ['"Come in."', '"No," she said.', "(He waited.)", "It was dark."],
    ["The mill burnt down.[3][note 4]", "It was rebuilt.:12–14, 20", "The end."],
    ["He moved to the U.S.", "There he wrote."],
    ["They built the Saturn V.", "It flew."],
    ["Everything is lost...", "The ship sank."],
    ["The answer was no.", "She left in 1890.", "1891 was worse."],
    ["They walked home.", "There was snow."],
]


@pytest.mark.parametrize("text", WHOLE)
def test_what_only_looks_like_an_end_is_none(text: str) -> None:
    assert split(text) == [text]


@pytest.mark.parametrize("parts", PARTED, ids=lambda parts: parts[0])
def test_sentences_are_parted(parts: list[str]) -> None:
    assert split(" ".join(parts)) == parts


def test_a_missing_space_parts_before_a_word_that_begins_sentences() -> None:
    assert split("The crew slept.The hold was warm.") == ["The crew slept.", "The hold was warm."]
    assert split("The crew used Node.Kit for it.") == ["The crew used Node.Kit for it."]


def test_line_breaks_part_after_a_mark_and_blank_lines_always() -> None:
    assert split("A title\n\nThe text goes\non here.\nand ends") == [
        "A title",
        "The text goes\non here.",
        "and ends",
    ]


@pytest.mark.parametrize(
    "parts",
    [
        ["今日は雨です。", "傘を持っていますか？", "はい！"],
        ["他说：“走吧。”", "我们走了。"],
        ["Ya llegó la barca.", "¿Quién la espera?", "¡Nadie!"],
        ["यह नाव है।", "वह नदी है।"],
        ["هل وصل القارب؟", "نعم، وصل."],
        ["Лодка пришла.", "Никто её не ждал."],
    ],
    ids=["Japanese", "Chinese", "Spanish", "Hindi", "Arabic", "Russian"],
)
def test_other_languages_have_their_own_marks(parts: list[str]) -> None:
    spaced = not re.search("[。！？]", parts[0])
    assert split((" " if spaced else "").join(parts)) == parts


def test_abbreviations_are_those_of_the_language() -> None:
    text = "Vive en la avda. Norte con el Sr. Ruiz."
    assert split(text, abbreviations=frozenset({"avda", "sr"})) == [text]
    assert len(split(text)) == 2


@pytest.mark.parametrize(
    "parts",
    [
        ["The wind dropped.", '"', 'Lower the sail," he said.'],
        ["Was it late?", '"', 'Blue Anna" left the quay.', "Nobody saw it."],
        ["A bell rang.", '"', 'Pull," she said, "and do not stop."'],
    ],
)
def test_an_opening_mark_stays_behind_where_its_quotation_ends_within_the_sentence(parts: list[str]) -> None:
    first, mark, second, *others = parts
    text = f"{first} {mark}{second}" + "".join(f" {each}" for each in others)
    assert split(text, strays=True) == [f"{first} {mark}", second, *others]
    assert split(text) == [first, f"{mark}{second}", *others]


@pytest.mark.parametrize(
    "parts",
    [
        ["The wind dropped.", '"Lower the sail."', "He was right."],
        ["The wind dropped.", '"Lower the sail.', 'Then row home," he said.'],
        ['"Lower the sail."', '"Row home," he said.'],
        ["The wind dropped.", "“Lower the sail,” he said."],
        ["The wind dropped.[2]", '"Lower the sail," he said.'],
    ],
    ids=["whole", "runs on", "after a mark", "curved", "after a note"],
)
def test_other_opening_marks_stay_with_their_sentence(parts: list[str]) -> None:
    assert split(" ".join(parts), strays=True) == parts


def test_the_release_cuts_after_abbreviations_that_it_did_not_know() -> None:
    text = "It is approx. 40 m long and ca. 3 m wide (Ito et al. 1998)."
    assert split(text) == [text]
    assert split(text, abbreviations=RELEASED) == [
        "It is approx.",
        "40 m long and ca.",
        "3 m wide (Ito et al.",
        "1998).",
    ]


@given(st.text(st.sampled_from("aB c.!?。\n\"')[1]"), max_size=60), st.booleans())
def test_sentences_are_all_of_the_text_but_white_space(text: str, strays: bool) -> None:
    found = Splitter([text], strays=strays).spans(text)
    assert "".join("".join(text[start:end].split()) for start, end in found) == "".join(text.split())
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann's dog didn't bark, they'd say.", "Ann 's dog did n't bark they 'd say"),
        ("L’été n'est qu'un 'mot'", "L été n est qu un mot"),
        ("U.S. $3,000 (CO_2)", "U S 3 000 CO_2"),
        ("東京は雨", "東 京 は 雨"),
        ("हिन्दी भाषा", "हिन्दी भाषा"),
        ("cafe\u0301 noir", "cafe\u0301 noir"),
    ],
)
def test_words_are_found_in_any_script(text: str, expected: str) -> None:
    assert words(text) == expected.split(" ")


def test_overlap_is_the_share_of_common_words_letter_case_aside() -> None:
    assert overlap("Who built the bridge?", "The guild built it") == pytest.approx(2 / 6)
    assert overlap("", "...") == 0
