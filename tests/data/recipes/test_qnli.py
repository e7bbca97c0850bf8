"""The QNLI recipe on small sets of our own, in English and Spanish."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gluebench.benchmark import Task, load_benchmark
from gluebench.data import DataError
from gluebench.data.recipes import RecipeResult, recipe

RECIPE = recipe("qnli")
TASK = load_benchmark("glue").task("QNLI")
CONTEXTS = {
    "Mills": "The red mill stood by the river. A storm took the roof in 1801. The miller moved to Leith.",
    "Boats": "The ferry is painted blue. Its pilot is Ms. Oduya. Dogs travel without a ticket.",
}
QUESTIONS = [
    ("Mills", "m1", "Where was the red mill by the river?", ["by the river"]),
    ("Mills", "m2", "When did the storm hit the red mill by the river?", ["1801", "in 1801"]),
    ("Mills", "m3", "Where did the red mill by the river go?", ["Leith"]),
    ("Boats", "b1", "What is painted blue on the ferry?", ["The ferry"]),
    ("Boats", "b2", "Who is the blue ferry pilot?", ["Ms. Oduya"]),
    ("Boats", "b3", "Which dogs travel without a ticket?", ["Dogs"]),
]
WORDS = (
    "the red mill stood by river a storm took roof in 1801 miller moved to ferry is painted blue its pilot"
    " dogs travel without ticket where was when did hit go what on who which leith oduya ms"
)


def squad(path: Path, contexts: dict[str, str], questions: list[tuple[str, str, str, list[str]]]) -> None:
    data = [
        {
            "title": title,
            "paragraphs": [
                {
                    "context": context,
                    "qas": [
                        {
                            "id": name,
                            "question": text,
                            "answers": [{"text": a, "answer_start": context.index(a)} for a in answers],
                        }
                        for article, name, text, answers in questions
                        if article == title
                    ],
                }
            ],
        }
        for title, context in contexts.items()
    ]
    path.write_text(json.dumps({"data": data}))


def vectors(path: Path, names: str = WORDS) -> Path:
    """A direction for each word: similarity is then the share of common words."""
    found = names.split()
    rows = [
        " ".join([name, *("1" if at == row else "0" for at in range(len(found)))])
        for row, name in enumerate(found)
    ]
    path.write_text("\n".join(rows) + "\n")
    return path


def built(folder: Path, task: Task = TASK, **changed: Any) -> RecipeResult:
    options = {option.name: option.default for option in RECIPE.options}
    options |= {name.replace("_", "-"): value for name, value in changed.items()}
    return RECIPE.build(folder, task, options)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    squad(tmp_path / "dev-v1.1.json", CONTEXTS, QUESTIONS)
    vectors(tmp_path / "vectors.txt")
    return tmp_path


def rows(result: RecipeResult, *splits: str) -> set[tuple[str, ...]]:
    return {
        row
        for split in splits or result.splits
        for row in zip(
            *(result.splits[split][name] for name in ("question_id", "sentence", "label")), strict=True
        )
    }


def test_each_selected_question_gives_its_answer_and_its_best_distractor(corpus: Path) -> None:
    result = built(corpus, vectors=corpus / "vectors.txt")
    mill, storm = "The red mill stood by the river.", "A storm took the roof in 1801."
    # m2 and m3 share most words with the first sentence, b2 with the ferry: the distractor wins
    misled = {
        ("m2", storm, "entailment"),
        ("m2", mill, "not_entailment"),
        ("m3", "The miller moved to Leith.", "entailment"),
        ("m3", mill, "not_entailment"),
        ("b2", "Its pilot is Ms. Oduya.", "entailment"),
        ("b2", "The ferry is painted blue.", "not_entailment"),
    }
    assert misled <= rows(result)
    assert {name for name, _, _ in rows(result)} == {"m1", "m2", "m3", "b1", "b2", "b3"}
    assert Counter(label for _, _, label in rows(result)) == {"entailment": 6, "not_entailment": 6}


def test_the_close_seconds_are_taken_or_the_far_ones(corpus: Path) -> None:
    """Without m3 two questions mislead, so two of the other three are taken: b3 leads by most."""
    squad(corpus / "dev-v1.1.json", CONTEXTS, [each for each in QUESTIONS if each[1] != "m3"])
    close = built(corpus, vectors=corpus / "vectors.txt")
    far = built(corpus, vectors=corpus / "vectors.txt", second="far")
    assert {name for name, _, _ in rows(close)} == {"m2", "b2", "m1", "b1"}
    assert {name for name, _, _ in rows(far)} >= {"m2", "b2", "b3"}


def test_a_margin_bounds_the_lead_and_the_balance_follows(corpus: Path) -> None:
    result = built(corpus, vectors=corpus / "vectors.txt", margin=0.0)
    assert not rows(result)
    assert "taken: 0 of those, and 0 where it was" in result.notes[-1]


def test_dev_and_test_are_halves_of_one_file(corpus: Path) -> None:
    result = built(corpus, vectors=corpus / "vectors.txt")
    assert set(result.splits) == {"dev", "test"}
    assert [len(result.splits[split]["label"]) for split in ("dev", "test")] == [6, 6]
    assert not rows(result, "dev") & rows(result, "test")
    assert "no train-v1.1.json: the train split was not built" in result.notes


@pytest.mark.parametrize(("by", "column"), [("questions", "question_id"), ("articles", "article")])
def test_the_deal_may_keep_questions_or_articles_together(corpus: Path, by: str, column: str) -> None:
    for seed in range(5):
        result = built(corpus, vectors=corpus / "vectors.txt", deal=by, seed=seed)
        dev, test = (set(result.splits[split][column]) for split in ("dev", "test"))
        assert dev
        assert test
        assert not dev & test


def test_the_seed_decides_the_order_and_the_deal(corpus: Path) -> None:
    def made(seed: int) -> Any:
        return built(corpus, vectors=corpus / "vectors.txt", seed=seed).splits

    assert made(3) == made(3)
    assert len({str(made(seed)) for seed in range(5)}) > 1


def test_train_and_test_may_have_files_of_their_own(corpus: Path) -> None:
    for name in ("train-v1.1.json", "held-out.json"):
        (corpus / name).write_bytes((corpus / "dev-v1.1.json").read_bytes())
    result = built(corpus, vectors=corpus / "vectors.txt", test="held-out.json")
    assert list(result.splits) == ["train", "dev", "test"]
    assert rows(result, "train") == rows(result, "dev") == rows(result, "test")
    assert [path.name for path in result.files] == [
        "train-v1.1.json",
        "dev-v1.1.json",
        "held-out.json",
        "vectors.txt",
    ]


def test_every_option_is_recorded_as_used(corpus: Path) -> None:
    used = built(corpus, vectors=corpus / "vectors.txt", margin=0.5).options
    assert used.keys() == {option.name for option in RECIPE.options}
    assert (used["margin"], used["min-overlap"], used["second"]) == (0.5, 0.0, "close")
    assert used["vectors"] == "vectors.txt"


def test_pairs_of_low_overlap_do_not_compete(corpus: Path) -> None:
    result = built(corpus, vectors=corpus / "vectors.txt", min_overlap=0.2)
    for split in result.splits.values():
        for question, sentence in zip(split["question"], split["sentence"], strict=True):
            one, other = (set(text.lower().strip("?.").split()) for text in (question, sentence))
            assert len(one & other) / len(one | other) >= 0.2


def test_questions_with_an_answer_in_two_sentences_or_none_are_passed_over(corpus: Path) -> None:
    contexts = {
        "Leith": "A mill stood in Leith. Leith had a ferry. It is blue. The pilot moved. To the roof he went."
    }
    questions = [
        ("Leith", "two", "Where stood a mill?", ["Leith"]),
        ("Leith", "across", "What did the pilot do?", ["moved. To"]),
        ("Leith", "none", "What is blue?", []),
        ("Leith", "unknown", "Quoi?", ["ferry"]),
    ]
    squad(corpus / "dev-v1.1.json", contexts, questions)
    result = built(corpus, vectors=corpus / "vectors.txt")
    assert not rows(result)
    assert result.notes[1] == (
        "dev: 3 questions with answers; passed over: 1 with an answer in several sentences, 1 in none, "
        "1 with no other sentence or no known word; 1 without an answer"
    )


def test_a_line_break_within_a_sentence_is_written_as_asked(corpus: Path) -> None:
    contexts = {"Air": "The storm took O\n2 from the river. The red mill stood by the river in Leith."}
    squad(
        corpus / "dev-v1.1.json",
        contexts,
        [("Air", "a", "What did the red mill by the river in Leith hit?", ["O\n2"])],
    )
    lone = {"Air2": "A ferry is blue. The pilot is in the roof."}
    squad(
        corpus / "train-v1.1.json",
        {**contexts, **lone},
        [
            ("Air", "a", "Where was the red mill by the river in Leith?", ["O\n2"]),
            ("Air2", "b", "What is a blue ferry?", ["ferry"]),
        ],
    )
    for given, expected in (("_", "O_2"), (" ", "O 2")):
        result = built(corpus, vectors=corpus / "vectors.txt", line_break=given)
        assert ("a", f"The storm took {expected} from the river.", "entailment") in rows(result, "train")


@pytest.mark.parametrize(("style", "opening"), [("release", ""), ("plain", '"')])
def test_sentences_are_cut_as_released_or_plainly(corpus: Path, style: str, opening: str) -> None:
    contexts = {"Quay": 'A storm hit the roof. "The pilot," he said, moved to Leith. Dogs stood by the mill.'}
    questions = [
        ("Quay", "q", "What roof did a storm hit?", ["Leith"]),
        ("Quay", "r", "Where is the pilot who moved to Leith?", ["to Leith"]),
    ]
    squad(corpus / "dev-v1.1.json", contexts, questions)
    result = built(corpus, vectors=corpus / "vectors.txt", sentences=style)
    answers = {sentence for _, sentence, label in rows(result) if label == "entailment"}
    assert answers == {f'{opening}The pilot," he said, moved to Leith.'}
    assert result.options["sentences"] == style


def test_another_language_with_its_own_columns_labels_and_abbreviations(tmp_path: Path) -> None:
    context = "La barca del Sr. Ruiz es azul. El puente se cayó en mayo. ¿Quién lo vio? Nadie."
    questions = [
        ("Puentes", "p1", "¿De qué color es la barca del Sr. Ruiz?", ["azul"]),
        ("Puentes", "p2", "¿Cuándo se cayó la barca azul del Sr. Ruiz?", ["en mayo"]),
    ]
    squad(tmp_path / "entreno.json", {"Puentes": context}, questions)
    vectors(
        tmp_path / "vec.txt",
        "la barca del sr ruiz es azul el puente se cayó en mayo quién lo vio nadie de qué color",
    )
    (tmp_path / "abreviaturas.txt").write_text("Sr.\nSra.\n")
    labels = tuple(label._replace(word=word) for label, word in zip(TASK.labels, ("sí", "no"), strict=True))
    task = TASK._replace(columns=("pregunta", "frase"), labels=labels)
    options = {
        "train": "entreno.json",
        "vectors": tmp_path / "vec.txt",
        "abbreviations": tmp_path / "abreviaturas.txt",
    }
    result = built(tmp_path, task, **options)
    columns = result.splits["train"]
    assert list(columns) == ["pregunta", "frase", "label", "question_id", "article"]
    assert set(zip(columns["question_id"], columns["frase"], columns["label"], strict=True)) == {
        ("p1", "La barca del Sr. Ruiz es azul.", "sí"),
        ("p1", "El puente se cayó en mayo.", "no"),
        ("p2", "El puente se cayó en mayo.", "sí"),
        ("p2", "La barca del Sr. Ruiz es azul.", "no"),
    }
    assert all(sentence in context for sentence in columns["frase"])
    assert result.files[-1].name == "abreviaturas.txt"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"vectors": None}, "option vectors: not given"),
        ({"margin": -0.1}, "option margin: -0.1; expected"),
        ({"min_overlap": 1.5}, "option min-overlap: 1.5; expected a share from 0 to 1"),
        ({"dev": "none.json", "train": "some.json"}, "holds no some.json or none.json"),
        ({"abbreviations": Path("none.txt")}, "none.txt"),
        ({"vectors": Path("none.vec")}, "none.vec: cannot be read"),
    ],
)
def test_wrong_options_are_told(corpus: Path, changed: dict[str, Any], told: str) -> None:
    with pytest.raises(DataError) as caught:
        built(corpus, **{"vectors": corpus / "vectors.txt", **changed})
    assert told in str(caught.value)


def test_a_task_of_another_shape_is_refused(corpus: Path) -> None:
    with pytest.raises(DataError, match="CoLA: 1 columns, but this corpus has 2 texts a row"):
        built(corpus, load_benchmark("glue").task("CoLA"), vectors=corpus / "vectors.txt")


def test_what_is_wrong_in_any_file_is_told_at_once(corpus: Path) -> None:
    for name in ("dev-v1.1.json", "train-v1.1.json"):
        (corpus / name).write_text("{}")
    with pytest.raises(DataError) as caught:
        built(corpus, vectors=corpus / "vectors.txt")
    assert len(caught.value.problems) == 2
