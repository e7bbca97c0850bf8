"""A benchmark's questions as tasks of inspect_ai, which finds them by the entry point in pyproject.toml.

    inspect eval gluebench/questions -T file=RTE -T data=data/ --model openai/gpt-4o

The hook beside them is registered by the same import.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState, generate

from gluebench.benchmark import Role, load_benchmark
from gluebench.data.home import data_folder
from gluebench.systems.adapters.answers import read
from gluebench.systems.adapters.prompts import template_called
from gluebench.systems.callbacks.inspect_ai import ScoresHook
from gluebench.systems.harnesses.logs import reply_of
from gluebench.systems.harnesses.questions import QuestionSet, questions_of

__all__ = ["ScoresHook", "answer", "questions"]

TURNS = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
MOST_TOKENS = 4096
"""Of an answer, reasoning included, as `gluebench run api:` asks for."""
LOGPROBS = 20
"""Log-probabilities of the first token that are requested on demand."""


@task  # type: ignore[untyped-decorator]
def questions(
    file: str,
    benchmark: str = "glue",
    data: str | None = None,
    split: Role = "test",
    shots: int = 0,
    template: str | None = None,
    seed: int = 0,
    logprobs: bool = False,
) -> Task:
    """Ask the examples of one test file, such as RTE or MNLI-m, of the split dev or test.

    `data` is the folder of prepared data. With `logprobs`, the probabilities of the first token decide, as
    in `gluebench run api:`; not every provider has them.
    """
    suite = load_benchmark(benchmark)
    question_set = questions_of(
        suite, suite.file(file), data_folder(data), split, shots=shots, template=template, seed=seed
    )
    return _task(question_set, logprobs=logprobs, seed=seed)


def _task(question_set: QuestionSet, *, logprobs: bool, seed: int) -> Task:
    config = GenerateConfig(temperature=0, max_tokens=MOST_TOKENS, seed=seed)
    if logprobs:
        config = config.merge(GenerateConfig(logprobs=True, top_logprobs=LOGPROBS))
    return Task(
        name=question_set.task_name,
        dataset=MemoryDataset(list(_samples(question_set)), name=question_set.task_name),
        solver=generate(),
        scorer=answer(**question_set.facts()),
        config=config,
        # One request that a provider refuses is an answer that is missing, not the end of the others.
        fail_on_error=False,
    )


def _samples(question_set: QuestionSet) -> Iterator[Sample]:
    for example in question_set.examples:
        messages = []
        for turn in question_set.template.messages(example, question_set.shots):
            messages.append(TURNS[turn["role"]](content=turn["content"]))
        facts: dict[str, Any] = {**question_set.facts(), "question": question_set.template.question(example)}
        target = "" if example.label is None else str(example.label)
        yield Sample(id=example.index, input=messages, target=target, metadata=facts)


@scorer(metrics=[accuracy(), stderr()])  # type: ignore[untyped-decorator]
def answer(benchmark: str, task: str, template: str) -> Scorer:
    """Whether a reply means the right label; the answer that it means is in the log."""
    record = load_benchmark(benchmark).task(task)
    words = template_called(record, template)

    async def score(state: TaskState, target: Target) -> Score:
        reply = reply_of(state.output.model_dump())
        value, reason = (None, "failed") if reply is None else read(record, words, reply)
        is_right = bool(target.text) and str(value) == target.text
        meant = None if value is None else str(value)
        return Score(value="C" if is_right else "I", answer=meant, explanation=reason)

    return score
