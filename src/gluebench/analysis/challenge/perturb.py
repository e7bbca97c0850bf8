"""Examples changed by rule, so that the new label is known; and sentences paired with their edits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random

from gluebench.analysis.challenge.edits import EDITS, NAMED, NAMES_CHANGED, Edit, names_changed
from gluebench.analysis.challenge.item import ORIGINAL, Classes, Item, classes
from gluebench.benchmark import Task, UnknownNameError
from gluebench.data import DataError, Example

RULES = (*(edit.name for edit in EDITS), NAMES_CHANGED)
"""The names of all rules."""


def perturbed(
    task: Task, examples: Sequence[Example], *, rules: Sequence[str] = RULES, seed: int = 0
) -> list[Item]:
    """Every example that a rule fits, as it is and then as each rule changes it, with the label it then has.

    Rules change the last text; names change throughout, and are all that is changed where a task has one
    text. A rule that turns the meaning about needs an inference task, and labels that then are not known
    are left out. The model asked is that of the task, or of the one it names in `predict_with`. Raises
    DataError for a task or examples without labels, UnknownNameError for no such rule.
    """
    edits = _edits(rules)
    if not task.labels or any(example.label is None for example in examples):
        raise DataError([f"{task.name}: expected examples with label words, to tell what a changed one has"])
    words = _classes(task)
    back = {tuple(example.inputs.values()): str(example.label) for example in examples}
    chance = Random(f"perturb/{seed}")
    items: list[Item] = []
    for example in examples:
        original = _original(task, example, back, words)
        distinct: dict[tuple[str, ...], Item] = {}
        for item in _changed(task, original, edits, words):
            distinct.setdefault(item.inputs, item)
        changed = list(distinct.values())
        if NAMES_CHANGED in rules:
            renamed = names_changed(original.inputs, chance)
            if renamed is not None:
                changed.append(replace(original, case=NAMES_CHANGED, inputs=renamed, phenomena=(NAMED,)))
        if changed:
            source = len(items)
            items.append(original)
            items += [replace(item, source=source) for item in changed]
    return items


def sentence_pairs(
    task: Task, examples: Iterable[Example], *, rules: Sequence[str] = RULES, name: str = ""
) -> list[Item]:
    """Sentences of examples, each with its edit as the second text, for a model of the inference task `task`.

    Both directions have a label by rule, so no gold label is needed: the same meaning entails both ways, the
    contrary contradicts both ways. Names are not changed, since that says nothing of the label. `name` is the
    domain. Raises what `perturbed` raises.
    """
    words = classes(task)
    edits = _edits(rules)
    items: list[Item] = []
    for text in dict.fromkeys(text for example in examples for text in example.inputs.values()):
        for edit in edits:
            new = edit.change(text)
            if new is not None and new != text:
                label = words.entailment if edit.relation == "same" else words.contradiction
                about = (label, name, (edit.phenomenon,))
                items.append(Item(task.name, edit.name, (text, new), label, (label,), *about))
    return _sets(items)


def _sets(items: Sequence[Item]) -> list[Item]:
    """The pairs of one source sentence as one set."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(item.inputs[0] for item in items))}
    return [replace(item, set=f"sentence-{numbers[item.inputs[0]]}") for item in items]


def _edits(rules: Sequence[str]) -> list[Edit]:
    for rule in rules:
        if rule not in RULES:
            raise UnknownNameError(rule, RULES, what="rule")
    return [edit for edit in EDITS if edit.name in rules]


def _classes(task: Task) -> Classes | None:
    """None for a task that is not inference: only what keeps the meaning can be done there."""
    try:
        return classes(task)
    except DataError:
        return None


def _original(task: Task, example: Example, back: dict[tuple[str, ...], str], words: Classes | None) -> Item:
    inputs, label = tuple(example.inputs.values()), str(example.label)
    backward = "" if words is None else back.get(inputs[::-1]) or words.back(label)
    return Item(
        task=task.predict_with or task.name,
        case=ORIGINAL,
        inputs=inputs,
        label=label,
        accepted=(label,),
        backward=backward,
        domain=task.name,
        set=f"{task.name}-{example.index}",
    )


def _changed(task: Task, original: Item, edits: Sequence[Edit], words: Classes | None) -> Iterator[Item]:
    """What the edits make of the last text."""
    if len(task.columns) < 2:
        return
    *before, last = original.inputs
    for edit in edits:
        new = edit.change(last)
        if new is None or new == last:
            continue
        changed = replace(original, case=edit.name, inputs=(*before, new), phenomena=(edit.phenomenon,))
        if edit.relation == "same" and (edit.exact or words is not None):
            yield changed
        elif edit.relation == "negated" and words is not None and (label := words.opposite(original.label)):
            yield replace(changed, label=label, accepted=(label,), backward=words.back(label))
