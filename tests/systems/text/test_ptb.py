from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real import REAL, needs_real

from gluebench.benchmark import UnknownNameError
from gluebench.systems.text.ptb import tokenize, tokenizer, words

CASES = {
    "He doesn't like Ann's hat.": "He does n't like Ann 's hat .",
    "We'll, they've, I'd, you're, I'm": "We 'll , they 've , I 'd , you 're , I 'm",
    "I CAN'T and DON'T": "I CA N'T and DO N'T",
    "the dogs' bowls, Chris's": "the dogs ' bowls , Chris 's",
    'She said "no".': "She said `` no '' .",
    '"Yes," he said ("quietly").': "`` Yes , '' he said ( `` quietly '' ) .",
    "'hello' and rock 'n' roll": "' hello ' and rock 'n ' roll",
    "I cannot, gonna, wanna go; gimme that": "I can not , gon na , wan na go ; gim me that",
    "costs $3.50, 1,000 at 5:30: half": "costs $ 3.50 , 1,000 at 5:30 : half",
    "well ... maybe--or not -- who knows?!": "well ... maybe -- or not -- who knows ? !",
    "a.b@c.org #1 50% R&D *x*": "a.b @ c.org # 1 50 % R & D * x *",
    "the U.S. and the U.K.": "the U.S. and the U.K .",
    "{[<a>]}": "{ [ < a > ] }",
    "It was “good” – ‘fine’ — really…": "It was “ good ” – ‘ fine ’ — really…",
    "No stop, no end": "No stop , no end",
    "It ended (at last.)": "It ended ( at last . )",
    'He left. "Go," she said. Then rain': "He left . `` Go , '' she said . Then rain",
    "Dr. Lee of Acme Corp. met Mr. Orr. They ate": "Dr. Lee of Acme Corp. met Mr. Orr . They ate",
    "": "",
    " \t\n": "",
}


@pytest.mark.parametrize(("text", "expected"), CASES.items())
def test_cases_by_hand(text: str, expected: str) -> None:
    assert tokenize(text) == expected.split()


@given(st.text(alphabet="ab .,'\"`-()?:;n't$é’1", max_size=30))
def test_no_character_is_lost_but_quotes_and_spaces(text: str) -> None:
    def bare(value: str) -> str:
        return re.sub(r"[\s\"'`]", "", value)

    assert bare("".join(tokenize(text))) == bare(text)
    assert all(tokenize(text))


PIECES = """
dog Dog's can't they'll dogs' I'm we'd've WON'T 3.5 1,000 5:30 U.S. p.m. Mr. end. end.) why? so! no, thus; as:
(see below) [sic] {x} <b> "quoted" ("deep") "open close" 'single' 'tis 'n' o'clock $5 50% R&D #1 a@b.c *x* a/b
well-known a--b -- ... wait... cannot gonna wanna gimme lemme d'ye “curled” ‘inner’ «là» café – — naïve,
"end."
"""


@given(st.lists(st.sampled_from(PIECES.split()), max_size=8).map(" ".join))
def test_one_sentence_of_ordinary_pieces_gives_what_nltk_gives(text: str) -> None:
    from nltk.tokenize import NLTKWordTokenizer

    assert words(text) == NLTKWordTokenizer().tokenize(text)


def real_sentences() -> Iterator[tuple[str, list[str]]]:
    columns = {"CoLA": [3], "SST-2": [0], "RTE": [1, 2], "WNLI": [1, 2], "STS-B": [7, 8], "MRPC": [3, 4]}
    for name, places in columns.items():
        lines = (REAL / "glue" / name / "dev.tsv").read_text(encoding="utf-8-sig").split("\n")
        rows = [line.split("\t") for line in lines if line][name != "CoLA" :]
        yield name, list(dict.fromkeys(row[place] for row in rows for place in places))


@needs_real
def test_real_sentences_are_tokenized_as_by_nltk() -> None:
    """All 110,000 sentences of the released files were equal when this was written; here the dev splits."""
    from nltk.tokenize import NLTKWordTokenizer

    peer = NLTKWordTokenizer()
    for name, texts in real_sentences():
        equal = sum(words(text) == peer.tokenize(text) for text in texts)
        assert equal / len(texts) > 0.995, name


@needs_real
def test_inner_sentence_ends_of_real_texts_are_as_frequent_as_punkt_finds_them() -> None:
    found = {
        name: sum(len(_ends(text)) > 1 for text in texts) / len(texts) for name, texts in real_sentences()
    }
    assert found["RTE"] == pytest.approx(0.17, abs=0.03)
    assert found["WNLI"] == pytest.approx(0.22, abs=0.15)
    assert max(found["CoLA"], found["SST-2"]) < 0.02


def _ends(text: str) -> list[str]:
    from gluebench.systems.text.ptb import sentences

    return sentences(text)


def test_tokenizers_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tokenizer("ptb")("it's") == ["it", "'s"]
    assert tokenizer("space")("it's  so") == ["it's", "so"]
    with pytest.raises(UnknownNameError, match="no tokenizer is called 'moses'"):
        tokenizer("moses")
    monkeypatch.setitem(sys.modules, "nltk.tokenize", None)
    with pytest.raises(ImportError):
        tokenizer("nltk")
