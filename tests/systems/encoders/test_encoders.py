"""Encoders by name: each keeps the contract; CBoW's means by hand; functions, good and bad, as encoders."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from gluebench.benchmark import Benchmark, UnknownNameError
from gluebench.data import DataError
from gluebench.data.recipes import OptionError
from gluebench.data.vectors import Vectors
from gluebench.systems import SentenceEncoder
from gluebench.systems.encoders import EncoderError, encoder_called
from gluebench.systems.encoders.callable import CallableEncoder
from gluebench.systems.encoders.cbow import CBoW
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.encoders.trained_vectors import train_vectors

HERE = Path(__file__).parent
SPEC = spec_from_file_location("encoder_contract", HERE / "contract.py")
assert SPEC is not None
assert SPEC.loader is not None
contract = module_from_spec(SPEC)
SPEC.loader.exec_module(contract)

WORDS = [
    "the",
    "ferry",
    "left",
    "at",
    "nine",
    "ten",
    "nobody",
    "saw",
    "leave",
    "did",
    "old",
    "which",
    "was",
    "late",
]


def table(words: list[str], dim: int = 6) -> Vectors:
    rng = np.random.default_rng(1)
    return Vectors(
        {word: row for row, word in enumerate(words)},
        rng.standard_normal((len(words), dim)).astype(np.float32),
    )


@pytest.fixture
def corpus(tmp_path: Path, sample: Benchmark, sample_folder: Path) -> Corpus:
    part = sample._replace(tasks=(sample.task("RTE"), sample.task("WNLI")))
    return Corpus(part, sample_folder, [sample.task("RTE")])


def lengths(sentences: list[str]) -> np.ndarray:
    return np.array([[len(text), text.count(" ")] for text in sentences])


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Writes a module into the current folder; gives its name."""
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> str:
        name = f"mine_{abs(hash((str(tmp_path), text))):x}"
        (tmp_path / f"{name}.py").write_text(f"import numpy as np\n{text}\n")
        return name

    return write


def called(text: str, corpus: Corpus) -> SentenceEncoder:
    return encoder_called(text, {}, corpus)


# ---------------------------------------------------------------- the contract


@pytest.mark.parametrize("check", contract.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", ["words", "exact", "function"])
def test_own_vectors_and_functions_keep_the_contract(kind: str, check: Callable[..., None]) -> None:
    if kind == "function":
        check(lambda: CallableEncoder(lengths, "lengths"))
    else:
        check(lambda: CBoW(table(WORDS), exact=kind == "exact"))


def test_an_encoder_by_name_keeps_the_contract(corpus: Corpus) -> None:
    made = encoder_called("cbow", {"dim": "20"}, corpus)
    assert re.fullmatch(r"cbow\(own vectors of \d+ sentences of sample, 20, ptb\)", made.name)
    for check in contract.CHECKS:
        if "made_again" not in check.__name__:
            check(lambda: made)
    again = encoder_called("cbow", {"dim": "20"}, corpus)
    contract.close(made.encode(contract.SENTENCES), again.encode(contract.SENTENCES))


# ---------------------------------------------------------------- CBoW


def test_the_mean_of_known_words_by_hand() -> None:
    vectors = Vectors({"owl": 0, "sleeps": 1, "Owl": 2}, np.array([[1, 2], [3, 6], [9, 9]], dtype=np.float32))
    sentences = ["owl sleeps", "Owl SLEEPS", "a b c", "", "owl owl sleeps unheard"]
    assert CBoW(vectors).encode(sentences).tolist() == [
        [2, 4],
        [6, 7.5],
        [0, 0],
        [0, 0],
        pytest.approx([5 / 3, 10 / 3]),
    ]
    assert CBoW(vectors, exact=True).encode(["Owl SLEEPS"]).tolist() == [[9, 9]]
    assert CBoW(vectors, most=1).encode(["owl sleeps"]).tolist() == [[1, 2]]


def test_vectors_from_a_file_are_read_for_the_words_at_hand(corpus: Corpus, tmp_path: Path) -> None:
    sentence = next(corpus.sentences())
    word = sentence.split()[0].lower()
    path = tmp_path / "tiny.txt"
    path.write_text(f"{word} 2 4 6\nunheardof 1 1 1\n")
    made = encoder_called("cbow", {"vectors": str(path), "tokenizer": "space", "most": "40"}, corpus)
    assert made.name == "cbow(tiny.txt, space, 40 words)"
    assert made.dim == 3
    assert made.encode([f"{word} unheardof"]).tolist() == [[2, 4, 6]]


def test_options_are_checked(corpus: Corpus) -> None:
    for options, message in (
        ({"dims": "5"}, r"cbow has no option dims\. Did you mean dim or most\? Its options: vectors, dim"),
        ({"dim": "five"}, r"dim is 'five'; expected a whole number"),
        ({"case": "lower"}, r"case is 'lower'; expected one of either, exact"),
    ):
        with pytest.raises(OptionError, match=message):
            encoder_called("cbow", options, corpus)
    with pytest.raises(UnknownNameError, match=r"cbow, .*gensen, encoder:module:function"):
        encoder_called("cbwo", {}, corpus)


# ---------------------------------------------------------------- vectors of one's own


def test_words_of_like_company_are_near_and_the_same_comes_out_again() -> None:
    animals, tools = ["owl", "hen", "cow"], ["saw", "axe", "awl"]
    rng = np.random.default_rng(0)
    sentences = [
        f"the {rng.choice(animals)} eats and sleeps"
        if rng.random() < 0.5
        else f"a sharp {rng.choice(tools)} cuts wood"
        for _ in range(400)
    ]
    found = train_vectors(sentences, str.split, dim=4)
    assert found.matrix.shape == (len(found.rows), 4)
    contract.close(found.matrix, train_vectors(sentences, str.split, dim=4).matrix)

    def cosine(one: str, two: str) -> float:
        u, v = found.matrix[found.rows[one]], found.matrix[found.rows[two]]
        return float(u @ v / np.linalg.norm(u) / np.linalg.norm(v))

    assert min(cosine("owl", "hen"), cosine("saw", "axe")) > 0.9
    assert max(cosine("owl", "saw"), cosine("hen", "awl")) < 0.5


def test_too_few_words_to_train_on_are_refused() -> None:
    with pytest.raises(DataError, match=r"2 words occur 2 times or more; expected more than 300"):
        train_vectors(["a b", "a b", "c"], str.split)


def test_a_corpus_gives_each_text_once_and_tells_all_that_is_missing(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
) -> None:
    tasks = [sample.task("RTE"), sample.task("WNLI")]
    texts = list(Corpus(sample, sample_folder, tasks).sentences())
    assert len(texts) == len(set(texts)) > 1000
    (tmp_path / "RTE").mkdir()
    (tmp_path / "RTE" / "dev.tsv").write_bytes((sample_folder / "RTE" / "dev.tsv").read_bytes())
    partial = Corpus(sample, tmp_path, tasks)
    assert set(partial.there()) < set(texts)
    with pytest.raises(DataError, match="no data of WNLI") as caught:
        list(partial.sentences())
    assert len(caught.value.problems) == 3, "train and test of RTE, and WNLI"


# ---------------------------------------------------------------- functions


def test_a_function_of_a_module_in_this_folder_encodes(module: Callable[[str], str], corpus: Corpus) -> None:
    name = module("def encode(texts):\n    return [[len(text), 1.0] for text in texts]")
    made = called(f"encoder:{name}:encode", corpus)
    assert (made.name, made.dim) == (f"encoder:{name}:encode", 2)
    assert made.encode(["one", "three"]).tolist() == [[3, 1], [5, 1]]


def test_an_encoder_object_is_taken_as_it_is(module: Callable[[str], str], corpus: Corpus) -> None:
    name = module(
        "class E:\n    name = 'e'\n    dim = 1\n    def encode(self, texts):\n"
        "        return np.ones((len(texts), 1), np.float32)\nmine = E()"
    )
    assert called(f"encoder:{name}:mine", corpus).name == "e"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return np.ones(len(texts))", r"shape \(1,\) for 1 sentences; expected \(1, dim\)"),
        ("return np.ones((2, 3))", r"shape \(2, 3\) for 1 sentences"),
        ("return np.full((len(texts), 2), np.nan)", r"1 of 1 vectors hold NaN or infinity"),
        ("return np.full((len(texts), 2), 1e300)", r"hold NaN or infinity"),
        ("return ['a vector']", r"gave list, which is not an array of numbers"),
        ("return None", r"shape \(\)|no array of numbers"),
    ],
)
def test_what_are_no_vectors_is_refused(
    module: Callable[[str], str], corpus: Corpus, body: str, message: str
) -> None:
    name = module(f"def encode(texts):\n    {body}")
    with pytest.raises(EncoderError, match=message):
        called(f"encoder:{name}:encode", corpus)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("encoder:json", r"expected encoder:module:function"),
        ("encoder:no_such_module_here:f", r"no module is called 'no_such_module_here'"),
        ("encoder:json:dumsp", r"json has no 'dumsp'; did you mean dump"),
        ("encoder:json:__name__", r"is str, not a function"),
    ],
)
def test_an_address_that_leads_nowhere_is_told(address: str, message: str, corpus: Corpus) -> None:
    with pytest.raises(EncoderError, match=message):
        called(address, corpus)


def test_a_module_that_fails_by_itself_shows_its_own_error(
    module: Callable[[str], str], corpus: Corpus
) -> None:
    name = module("import no_such_dependency")
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency"):
        called(f"encoder:{name}:encode", corpus)


def test_a_function_takes_no_options(corpus: Corpus) -> None:
    with pytest.raises(EncoderError, match="takes no options"):
        encoder_called("encoder:json:dumps", {"dim": "5"}, corpus)
