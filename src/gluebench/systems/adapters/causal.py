"""A local causal language model as a system: the likelihood of each answer after the prompt, no training.

As in lm-evaluation-harness, prompt and answer are tokenized together, and the answer's tokens are those after
as many as the prompt alone has. Their log-probabilities are summed, not divided by length.
"""

import copy
import inspect
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch

from gluebench.benchmark import Task
from gluebench.data import Example
from gluebench.systems.adapters.answers import likeliest
from gluebench.systems.adapters.huggingface import expect_path_or_name, loading
from gluebench.systems.adapters.openai import PromptedModel, PromptOptions
from gluebench.systems.adapters.prompts import Template, choices
from gluebench.systems.protocols import Counting, silent
from gluebench.systems.run import Answers

TOKENS = {"cpu": 2048}
"""Tokens of a batch on a device, padding included; elsewhere more."""
MANY_TOKENS = 16384
WORTH_KEEPING = 16
"""Shared first tokens from which on their keys and values are computed once."""


class Continuation(NamedTuple):
    """An answer after its prompt."""

    inputs: tuple[int, ...]
    """All tokens but the last; of a text longer than the model takes the end."""
    targets: tuple[int, ...]
    """The answer's tokens; `inputs` ends with all but the last of them."""


class CausalModel(PromptedModel):
    """A checkpoint of transformers; of equally likely answers the template's first is taken."""

    def __init__(
        self,
        name: str,
        options: PromptOptions | None = None,
        *,
        device: str = "cpu",
        precision: str = "fp32",
        seed: int | None = None,
        counting: Counting = silent,
    ) -> None:
        """`name` is a folder, or a name that transformers resolves; in bf16 the weights are too.

        Raises ModelError.
        """
        import transformers

        super().__init__(options or PromptOptions(), seed=seed, counting=counting)
        expect_path_or_name(name)
        with loading(name):
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(name)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                name, dtype="bfloat16" if precision == "bf16" else "float32"
            )
        self._model = model.eval().to(device)
        self._longest = getattr(model.config, "max_position_embeddings", None) or 10**9
        self._some_logits = "logits_to_keep" in inspect.signature(model.forward).parameters

    def predict(self, task: Task, examples: Sequence[Example]) -> Answers:
        """Answer each example, in order."""
        template = self._templates[task.name]
        shots = self._shots[task.name]
        answers = choices(task, template)
        pairs = []
        for example in examples:
            text, separator = self._pair(template, example, shots)
            for answer in answers:
                pairs.append((text, separator + answer))
        scores = self.log_likelihoods(pairs)
        predictions = []
        for start in range(0, len(scores), len(answers)):
            of_example = scores[start : start + len(answers)]
            likely = dict(zip(answers, of_example, strict=True))
            predictions.append(likeliest(task, template, likely))
        return Answers(predictions)

    def notes(self) -> dict[str, Any]:
        """Return the last fitted task's number of texts that were cut to the model's length."""
        return {"cut_texts": self._counts.get("cut_texts", 0)}

    def log_likelihoods(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the log-probability of each text's continuation."""
        continuations = self._tokenize(pairs)
        rows = sorted({continuation.inputs for continuation in continuations}, key=len, reverse=True)
        targets_of: dict[tuple[int, ...], set[tuple[int, ...]]] = {row: set() for row in rows}
        for inputs, targets in continuations:
            targets_of[inputs].add(targets)
        most = max((len(targets) for _, targets in continuations), default=0)
        prefix = _shared_prefix(rows, but=most)
        sums: dict[Continuation, float] = {}
        advance = self._counting("scored", "texts")
        done = 0
        with torch.inference_mode():
            cache = None
            if prefix:  # keys and values of the tokens with which all rows begin
                ids = torch.tensor([prefix], device=self._model.device)
                cache = self._model(input_ids=ids, use_cache=True).past_key_values
            for batch in _batches(rows, len(prefix), TOKENS.get(self._model.device.type, MANY_TOKENS)):
                logits = self._last_logits(batch, cache, len(prefix), most)
                for row, of_row in zip(batch, logits, strict=True):
                    for targets in targets_of[row]:
                        place = torch.tensor(targets, device=of_row.device)[:, None]
                        chosen = of_row[-len(targets) :].gather(1, place)
                        sums[Continuation(row, targets)] = float(chosen.sum())
                done += len(batch)
                advance(done, len(rows))
        return [sums[continuation] for continuation in continuations]

    def _pair(self, template: Template, example: Example, shots: Sequence[Example]) -> tuple[str, str]:
        """A text to be continued, and what separates it from the answer."""
        if not self._options.chat:
            return template.text(example, shots), " "
        messages = template.messages(example, shots)
        return self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True), ""

    def _tokenize(self, pairs: Sequence[tuple[str, str]]) -> list[Continuation]:
        texts = list(dict.fromkeys(text for text, _ in pairs))
        special = not self._options.chat  # a chat template writes them itself
        sizes = {text: len(ids) for text, ids in zip(texts, self._ids(texts, special), strict=True)}
        wholes = self._ids([text + answer for text, answer in pairs], special)
        continuations = []
        for (text, _), whole in zip(pairs, wholes, strict=True):
            targets = tuple(whole[sizes[text] :])
            self._count(cut_texts=len(whole) - 1 > self._longest)
            continuations.append(Continuation(tuple(whole[:-1][-self._longest :]), targets))
        return continuations

    def _ids(self, texts: Sequence[str], special: bool) -> list[list[int]]:
        if not texts:
            return []
        ids: list[list[int]] = self._tokenizer(list(texts), add_special_tokens=special)["input_ids"]
        return ids

    def _last_logits(
        self, batch: Sequence[tuple[int, ...]], cache: Any, skipped: int, most: int
    ) -> list[torch.Tensor]:
        """Log-probabilities (positions, vocabulary) of the tokens after the last `most` ones of each row."""
        device = self._model.device
        sizes = [len(row) - skipped for row in batch]
        width = max(sizes)
        ids = torch.zeros(len(batch), width, dtype=torch.long)
        for at, row in enumerate(batch):
            ids[at, : sizes[at]] = torch.tensor(row[skipped:])
        mask = (torch.arange(width) < torch.tensor(sizes)[:, None]).long()
        mask = torch.cat([torch.ones(len(batch), skipped, dtype=torch.long), mask], dim=1)
        given: dict[str, Any] = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
        if cache is not None:
            expanded = copy.deepcopy(cache)
            expanded.batch_repeat_interleave(len(batch))
            given["past_key_values"] = expanded
        # Of each row the last `most` places; rows of several lengths need all of those of each.
        places_of_rows = [range(max(size - most, 0), size) for size in sizes]
        kept = sorted(set[int]().union(*places_of_rows))
        if self._some_logits:
            given["logits_to_keep"] = torch.tensor(kept, device=device)
        else:
            kept = list(range(width))
        logits = self._model(**given, use_cache=cache is not None).logits.float().log_softmax(-1)
        index_of = {place: index for index, place in enumerate(kept)}
        last_logits = []
        for of_row, places in zip(logits, places_of_rows, strict=True):
            last_logits.append(of_row[[index_of[place] for place in places]])
        return last_logits


def _shared_prefix(rows: Sequence[tuple[int, ...]], *, but: int) -> tuple[int, ...]:
    """The tokens with which all rows begin, `but` fewer than the shortest at most; none if they are few."""
    if not rows:
        return ()
    # What the first and the last in order share, all between them share.
    first = min(rows)
    last = max(rows)
    size = 0
    while size < len(first) and first[size] == last[size]:
        size += 1
    size = min(size, min(map(len, rows)) - but)
    return first[:size] if size >= WORTH_KEEPING else ()


def _batches(
    rows: Sequence[tuple[int, ...]], skipped: int, tokens: int
) -> Iterator[Sequence[tuple[int, ...]]]:
    """Split rows, the longest first, into batches of at most so many tokens after the skipped ones."""
    start = 0
    while start < len(rows):
        size = max(tokens // (len(rows[start]) - skipped), 1)
        yield rows[start : start + size]
        start += size
