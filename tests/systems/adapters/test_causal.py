"""A local causal model against one forward pass per answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from systems.adapters import tiny

from gluebench.benchmark import load_benchmark
from gluebench.data import Example
from gluebench.systems.adapters.prompts import template_called

torch = pytest.importorskip("torch", reason="torch is not installed (gluebench[train])")
TASK = load_benchmark("glue").task("MNLI")
TEXT = "Ann saw a red house behind the tree and Tom ran to it with four more dogs than she had seen there"


def example(row: int) -> Example:
    words = TEXT.split()
    label = TASK.words[row % 3]
    return Example(
        row, {"premise": " ".join(words[row % 7 :: 2]), "hypothesis": " ".join(words[: row % 5 + 2])}, label
    )


def by_hand(folder: Path, text: str, answer: str, longest: int = 10**6) -> float:
    """The sum of the log-probabilities of an answer's tokens, from one pass over one text."""
    import transformers

    words = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype="float32").eval()
    whole = words(f"{text} {answer}")["input_ids"]
    answers = len(whole) - len(words(text)["input_ids"])
    with torch.no_grad():
        logs = model(torch.tensor([whole[:-1][-longest:]])).logits[0].double().log_softmax(-1)
    return sum(float(logs[place - answers, whole[place - answers]]) for place in range(answers))


@pytest.mark.slow
@pytest.mark.parametrize(("shots", "longest"), [(0, 512), (3, 512), (6, 200)])
def test_likelihoods_in_batches_after_a_kept_prefix_are_those_of_single_passes(
    tmp_path: Path, shots: int, longest: int, monkeypatch: pytest.MonkeyPatch
):
    folder = tiny.causal(
        tmp_path / "gpt", [TEXT, "true false neither Answer First text Second"], longest=longest
    )
    from gluebench.systems.adapters import causal
    from gluebench.systems.adapters.openai import PromptOptions

    monkeypatch.setitem(causal.TOKENS, "cpu", 300)
    model = causal.CausalModel(str(folder), PromptOptions(shots=shots), seed=1)
    model.fit(TASK, [example(row) for row in range(30, 60)], [])
    template = template_called(TASK, None)
    shown = model._shots[TASK.name]
    pairs = [
        (template.text(example(row), shown), answer)
        for row in range(20)
        for answer in ("true", "neither", "no")
    ]
    values = model.log_likelihoods([(text, f" {answer}") for text, answer in pairs])
    expected = [by_hand(folder, text, answer, longest) for text, answer in pairs[:12]]
    assert values[:12] == pytest.approx(expected, abs=2e-4)
    assert (model.notes()["cut_texts"] > 0) == (longest == 200)
    predictions = model.predict(TASK, [example(row) for row in range(20)])
    for row in range(4):
        text = template.text(example(row), shown)
        scores = {word: by_hand(folder, text, answer, longest) for word, answer in template.answers.items()}
        assert predictions[row] == max(scores, key=scores.__getitem__)
    assert model.predict(TASK, []) == []


@pytest.mark.slow
def test_the_chat_template_of_the_model_is_applied(tmp_path: Path):
    folder = tiny.causal(tmp_path / "gpt", [TEXT])
    import transformers

    from gluebench.systems.adapters.causal import CausalModel
    from gluebench.systems.adapters.openai import PromptOptions

    words = transformers.AutoTokenizer.from_pretrained(folder)
    words.chat_template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}<assistant>"
    words.save_pretrained(folder)
    model = CausalModel(str(folder), PromptOptions(shots=1, chat=True))
    model.fit(TASK, [example(row) for row in range(9)], [])
    text, join = model._pair(template_called(TASK, None), example(3), model._shots["MNLI"])
    assert text.count("<user>First text:") == 2
    assert text.endswith("\n<assistant>")
    assert join == ""
    assert len(set(model.predict(TASK, [example(row) for row in range(9)]))) >= 1
