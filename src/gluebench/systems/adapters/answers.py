"""What a model's answer means: a label or a score, by its text, its probabilities or its label names."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress

from gluebench.benchmark import Task
from gluebench.benchmark.lookup import fold
from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.endpoint import CUT_OFF, FILTERED, REFUSAL, Reply
from gluebench.systems.adapters.prompts import Template, choices

REASONS = ("not understood", "cut off", "refused", "filtered")
"""Why a reply gives no answer."""
MAJORITY = 0.5
"""Labels whose first tokens have more of the probability are answered without reading the text."""
_TAGS = r"think|thinking|thought|reasoning"
_OPEN = rf"(?:<(?:{_TAGS})>|\[THINK\])"
_CLOSE = rf"(?:</(?:{_TAGS})>|\[/THINK\])"
_REASONING = re.compile(rf"{_OPEN}.*?{_CLOSE}|.*{_CLOSE}|{_OPEN}.*", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^\s*```\w*\s*$|^```\w*\s|\s*```\s*$", re.MULTILINE)
_ANSWER = re.compile(r"\banswer\b(?:\s+is)?[\s*_\"'`]*[:=]?[\s*_\"'`]*([^\n]+)", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\{(?:\\text\{)?([^{}]*)\}")
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])")
_OUT_OF = re.compile(r"\s*(?:/|of|out of)\s*\d+(?:\.\d+)?(?=\W*$)")


def read(task: Task, template: Template, reply: Reply) -> tuple[str | float | None, str]:
    """Return the label word or score that a reply gives, else None with one of REASONS.

    `reply.likely` maps the likeliest first tokens to their log-probabilities. If those that begin an answer
    have more than half of the probability, the likeliest is taken; else the text is read. Reasoning counts
    for nothing, and of an answer that was cut off only what is marked as the answer.
    """
    if reply.finish == FILTERED:
        return None, "filtered"
    if reply.finish == REFUSAL:
        return None, "refused"
    text = without_reasoning(reply.text)
    cut = reply.finish == CUT_OFF
    if not task.labels:
        value: str | float | None = _score(task, text, cut=cut)
    elif reply.reasoned or text != reply.text.strip():  # the first token began the reasoning
        value = _label(task, template, text, cut=cut)
    else:
        value = _by_first_token(task, template, text, reply)
    if value is not None:
        return value, ""
    return None, "cut off" if cut else "not understood"


def _by_first_token(task: Task, template: Template, text: str, reply: Reply) -> str | None:
    scores = _first_tokens(template, reply.likely)
    best = max(scores, key=lambda word: scores[word], default=None)
    if sum(scores.values()) > MAJORITY:
        return best
    return _label(task, template, text, cut=reply.finish == CUT_OFF) or best


def likeliest(task: Task, template: Template, likely: Mapping[str, float]) -> str | float:
    """Return the label whose answer is likeliest, of ties the template's first; or the mean score.

    `likely` has the log-probability of each of `choices`: a sum over tokens, not divided by their number.
    The mean weights each whole number of the range by its share of the probability.
    """
    if task.labels:
        return max(template.answers, key=lambda word: likely[template.answers[word]])
    numbers = choices(task, template)
    most = max(likely[number] for number in numbers)
    weights = {number: math.exp(likely[number] - most) for number in numbers}
    weighted = sum(weight * float(number) for number, weight in weights.items())
    return weighted / sum(weights.values())


def vote(task: Task, values: Sequence[str | float | None]) -> str | float | None:
    """Return the most frequent label among several answers, of ties the first given; the mean of scores."""
    given = [value for value in values if value is not None]
    if not given:
        return None
    if task.labels:
        return Counter(given).most_common(1)[0][0]
    return sum(map(float, given)) / len(given)


def without_reasoning(text: str) -> str:
    """Remove the reasoning before an answer, also if it never ends, or if only its end is marked."""
    return _REASONING.sub("", text).strip()


def _first_tokens(template: Template, likely: Mapping[str, float]) -> dict[str, float]:
    """Label word to the probability of the tokens that begin its answer and no other."""
    scores: dict[str, float] = {}
    for token, logarithm in likely.items():
        start = token.strip().casefold()
        words = [word for word, answer in template.answers.items() if answer.casefold().startswith(start)]
        if start and len(words) == 1:
            scores[words[0]] = scores.get(words[0], 0.0) + math.exp(min(logarithm, 0.0))
    return scores


def _candidates(text: str, *, cut: bool) -> list[str]:
    """Parts of a text that may be the whole answer, the surest first."""
    text = _FENCE.sub("", text).strip()
    with suppress(ValueError, TypeError, KeyError):  # not the JSON that was requested
        return [str(json.loads(text)["answer"])]
    candidates = [text]
    candidates += _BOXED.findall(text)[-1:]
    candidates += _ANSWER.findall(text)[-1:]
    if not cut:
        candidates += text.splitlines()[-1:]
    return candidates


def _label(task: Task, template: Template, text: str, *, cut: bool) -> str | None:
    """Return the label that the text or a marked part is, else the only one named in it."""
    parts = _candidates(text, cut=cut)
    for part in parts:
        word = _whole(task, template, part)
        if word:
            return word
    if cut:
        return None
    # A label named in what is marked as the answer counts before those in the whole text.
    for part in parts[1:-1] + parts[:1]:
        words = _words_named(template, part)
        if words:
            return words[0] if len(words) == 1 else None
    return None


def _whole(task: Task, template: Template, text: str) -> str | None:
    """Return the label whose answer, word, gloss or synonym is the text."""
    plain = text.strip(" \t\r\n.,:;!?\"'`*_()[]{}").casefold()
    for word, answer in template.answers.items():
        if plain == answer.casefold():
            return word
    return word_meant(task, text)


def _words_named(template: Template, text: str) -> list[str]:
    """List the labels whose answers are named in a text; a longer answer hides those within it.

    "no" before another word, as in "no idea", is not named.
    """
    by_answer = {answer.casefold(): word for word, answer in template.answers.items()}
    longest = sorted(by_answer, key=len, reverse=True)
    alternatives = []
    for answer in longest:
        alternative = re.escape(answer)
        if answer == "no":
            alternative += r"(?!\s+\w)"
        alternatives.append(alternative)
    pattern = "|".join(alternatives)
    named = re.findall(rf"(?<!\w)(?:{pattern})(?!\w)", text.casefold())
    return list(dict.fromkeys(by_answer[answer] for answer in named))


def _score(task: Task, text: str, *, cut: bool) -> float | None:
    """Return the only number of the text, of a marked part or of the last line, if it is within the range."""
    low, high = task.score_range or (-math.inf, math.inf)
    for part in _candidates(text, cut=cut):
        plain = _OUT_OF.sub("", part.strip(" .*_`"))
        numbers = {float(number) for number in _NUMBER.findall(plain)}
        if len(numbers) == 1 and (not cut or _NUMBER.fullmatch(plain)):
            number = numbers.pop()
            return number if low <= number <= high else None
    return None


def word_meant(task: Task, text: str) -> str | None:
    """The task's word whose word, synonym or gloss a text is; None where it is none, or of several."""
    folded = _fold(text)
    if not folded:
        return None
    by_name = []
    by_gloss = []
    for label in task.labels:
        if folded in map(_fold, (label.word,) + label.synonyms):
            by_name.append(label.word)
        if folded == _fold(label.gloss):
            by_gloss.append(label.word)
    for words in (by_name, by_gloss):
        if len(words) == 1:
            return words[0]
    return None


def word_mentioned(task: Task, name: str) -> str | None:
    """The task's word in whose gloss alone a model's label is mentioned.

    By RTE's gloss ("it does not: neutral or contradiction"), contradiction is its not_entailment. Of labels
    only: a word of any text stands too easily in some gloss.
    """
    folded = _fold(name)
    if folded.isdigit():
        return None
    words = [label.word for label in task.labels if folded in map(_fold, re.findall(r"\w+", label.gloss))]
    return words[0] if len(words) == 1 else None


def map_labels(task: Task, names: Sequence[str], given: Mapping[str, str], *, model: str) -> dict[str, str]:
    """Each label of a model to the task's word for it. Raises ModelError where that is not clear.

    `given` is the user's own mapping: a model's label, or `task:label`, to a word.
    """
    words = {}
    for name in names:
        own = given.get(f"{task.name}:{name}", given.get(name))
        words[name] = own if own in task.words else word_meant(task, name) or word_mentioned(task, name)
    unclear = [name for name, word in words.items() if word is None]
    absent = [word for word in task.words if word not in words.values()]
    if unclear or absent:
        raise ModelError(_question(task, names, unclear, absent, model=model))
    return {name: word for name, word in words.items() if word is not None}


def _fold(text: str) -> str:
    """Normalize a text for comparison: also without a plural s and surrounding punctuation."""
    return fold(text.strip(" \t\r\n.,:;!?\"'`*()[]")).rstrip("s")


def _question(
    task: Task, names: Sequence[str], unclear: Sequence[str], absent: Sequence[str], *, model: str
) -> str:
    words = ", ".join(f"{label.word} ({label.gloss})" for label in task.labels)
    if unclear and len(names) >= len(task.words):
        example = " ".join(f"--label {name}={word}" for name, word in zip(names, task.words, strict=False))
        return (
            f"{task.name}: {model} answers {', '.join(names)}, and which of them are {words} is not clear; "
            f"say it, as {example}, or in whatever order it is"
        )
    missing = f"; nothing is {', '.join(absent)}" if absent else ""
    return (
        f"{task.name}: {model} answers {', '.join(names)}{missing}; expected {words}. "
        "Leave the task out (--tasks), or fine-tune the model on it (--fine-tune)"
    )
