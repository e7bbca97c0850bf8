"""Files of Winograd schemas: a text, a pronoun in it, and the candidates that it may refer to.

Three formats are read, by the suffix of the file's name:

`.xml`    the Winograd Schema Collection: `<schema>` with `<text>` (`<txt1>`, `<pron>`, `<txt2>`),
          `<answers>`, `<correctAnswer>`, and `<quote>`, whose `<quote1>` has words of the clause before the
          pronoun, none if it begins with it. A file that declares or uses its own entities is refused.
`.jsonl`  one candidate per line, as SuperGLUE's WSC: `text`, `span1_text` (the candidate), `span2_text` (the
          pronoun), `span2_index` (its position in words, from 0), in `target` or directly, and `label`
          unless hidden.
`.txt`    one candidate per block, as the data set of Rahman and Ng (2012) recast by White et al. (2017):
          lines `text:`, `hypothesis:`, `entailed:` and `partof:`, with an empty line between blocks. These
          files contain the hypotheses.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gluebench.data.errors import DataError
from gluebench.data.recipes.reading import records
from gluebench.data.tsv import text_lines

Problems = list[str]


class Candidate(NamedTuple):
    """A possible referent of the pronoun."""

    text: str
    right: bool | None
    """Whether it is the referent; None if the file hides it."""


class Schema(NamedTuple):
    """One text with one pronoun, and its candidates."""

    place: str
    """File name and line, or number of the schema, for messages."""
    before: str
    pronoun: str
    after: str
    candidates: tuple[Candidate, ...]
    quote: str | None = None
    """Words of the clause before the pronoun, perhaps only the last; None if the file does not say."""
    hypothesis: str | None = None
    """The hypothesis of the only candidate, if the file has it."""
    split: str | None = None
    """The split that the file assigns."""

    @property
    def premise(self) -> str:
        """The whole text."""
        return join_phrases(self.before, self.pronoun, self.after)


def normalize_spaces(text: str) -> str:
    """Replace all white space, with line feeds, by single spaces."""
    return " ".join(text.split())


def join_phrases(*parts: str) -> str:
    """Join the parts by spaces, with none before punctuation and clitics ('s, n't)."""
    text = normalize_spaces(" ".join(part for part in parts if part))
    return re.sub(r" (?=[.,;:!?](?!\w)|'(?:s|t|d|m|ll|re|ve)\b|n't\b)", "", text)


def read_winograd(path: Path, problems: Problems) -> list[Schema]:
    """The schemas of one file; errors are added to `problems`, with file and line."""
    try:
        data = path.read_bytes()
    except OSError as error:
        problems.append(f"{path}: {error.strerror or 'cannot be read'}; expected a file of Winograd schemas")
        return []
    if path.suffix.lower() == ".xml":
        return read_xml(path, data, problems)
    reader = {".jsonl": _read_jsonl, ".txt": _read_blocks}.get(path.suffix.lower())
    if reader is None:
        problems.append(f'{path}: the name ends in "{path.suffix}"; expected .xml, .jsonl or .txt')
        return []
    try:
        lines = text_lines(path, data)
    except DataError as error:
        problems += error.problems
        return []
    schemas = reader(path, lines, problems)
    if not schemas and not any(problem.startswith(str(path)) for problem in problems):
        problems.append(f"{path}: no schema in it")
    return schemas


def _read_jsonl(path: Path, lines: list[str], problems: Problems) -> list[Schema]:
    """Merge the lines on one pronoun of one text into one schema."""
    schemas: dict[tuple[str, str, str], Schema] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            schema = _from_line(f"{path.name}:{number}", json.loads(line))
        except (_LineError, json.JSONDecodeError, RecursionError) as error:
            problems.append(f"{path}:{number}: {error}")
            continue
        key = (schema.before, schema.pronoun, schema.after)
        if key not in schemas:
            schemas[key] = schema
        elif schema.candidates[0] not in schemas[key].candidates:
            candidates = schemas[key].candidates + schema.candidates
            schemas[key] = schemas[key]._replace(candidates=candidates)
    return list(schemas.values())


class _LineError(ValueError):
    """A line that is not a schema; the message says why."""


def _from_line(place: str, record: object) -> Schema:
    if not isinstance(record, dict):
        raise _LineError("expected a JSON object with text, span1_text and span2_text")
    fields = record
    if isinstance(record.get("target"), dict):
        fields = record | record["target"]
    texts = []
    for name in ("text", "span1_text", "span2_text"):
        value = fields.get(name)
        if not isinstance(value, str) or not value.strip():
            raise _LineError(f'no text in "{name}"; expected text, span1_text and span2_text')
        texts.append(normalize_spaces(value))
    text, candidate, pronoun = texts
    label = fields.get("label")
    if label not in (None, -1, 0, 1):
        raise _LineError(f'the label is "{label}"; expected true or false (1 or 0), or none at all')
    words = text.split()
    position = _pronoun_position(words, pronoun, fields.get("span2_index"))
    before = " ".join(words[:position])
    after = " ".join(words[position:])
    lead = ""  # marks before the pronoun, as a quotation mark, which belong to the text before it
    match = re.search(rf"(?<!\w){re.escape(pronoun)}(?!\w)", after)
    if match is not None:
        lead = after[: match.start()]
        after = after[match.end() :]
    right = None if label in (None, -1) else bool(label)
    # Remove punctuation after the last word, but not the stop of "D.C.".
    candidates = (Candidate(re.sub(r"(?<=\w\w)[.,;:!?]+$", "", candidate), right),)
    return Schema(place, join_phrases(before, lead), pronoun, join_phrases(after), candidates)


def _pronoun_position(words: Sequence[str], pronoun: str, index: object) -> int:
    """The position of the pronoun in words; the index decides if it occurs more than once."""
    length = len(pronoun.split())
    pattern = re.compile(rf"\W*{re.escape(pronoun)}(?!\w)")
    positions = []
    for position in range(len(words)):
        if pattern.match(" ".join(words[position : position + length])):
            positions.append(position)
    if not positions:
        raise _LineError(f'the pronoun "{pronoun}" does not occur in the text')
    if len(positions) == 1:
        return positions[0]
    if isinstance(index, int) and index in positions:
        return index
    reason = "no span2_index says which" if index is None else f"span2_index is {index}"
    stands = f"stands at word {', '.join(map(str, positions))}"
    raise _LineError(f'the pronoun "{pronoun}" {stands}, but {reason}')


def _read_blocks(path: Path, lines: list[str], problems: Problems) -> list[Schema]:
    schemas = []
    first = 0
    fields: dict[str, str] = {}
    for number, line in enumerate(lines + [""], 1):  # an empty line ends the last block too
        if line.strip():
            if not fields:
                first = number
            name, _, value = line.partition(":")
            fields[name.strip()] = normalize_spaces(value)
        elif fields:
            schemas += _from_block(path, first, fields, problems)
            fields = {}
    return schemas


def _from_block(path: Path, first: int, fields: dict[str, str], problems: Problems) -> list[Schema]:
    """The schema of a block that begins at line `first`; [] and a problem if it is invalid."""
    entailed = fields.get("entailed")
    lacking = [name for name in ("text", "hypothesis") if not fields.get(name)]
    if lacking:
        problems.append(f"{path}:{first}: a block without {' and '.join(lacking)}")
        return []
    if entailed not in ("entailed", "not-entailed", None):
        problems.append(f'{path}:{first}: entailed is "{entailed}"; expected entailed or not-entailed')
        return []
    schema = Schema(
        f"{path.name}:{first}",
        before=join_phrases(fields["text"]),
        pronoun="",
        after="",
        candidates=(Candidate("", None if entailed is None else entailed == "entailed"),),
        hypothesis=join_phrases(fields["hypothesis"]),
        split=fields.get("partof") or None,
    )
    return [schema]


_LETTERS = "ABCDEFGHIJ"


def read_xml(path: Path, data: bytes, problems: Problems) -> list[Schema]:
    """The schemas of `<collection><schema>...`, white space normalized; errors are added to `problems`."""
    try:
        elements = records(path, data, "schema")
    except DataError as error:
        problems += error.problems
        return []
    if not elements:
        problems.append(f"{path}: no <schema> in it; expected the XML of a Winograd schema collection")
    schemas = []
    for number, element in enumerate(elements, 1):
        before = normalize_spaces(element.text("text/txt1"))
        pronoun = normalize_spaces(element.text("text/pron"))
        after = normalize_spaces(element.text("text/txt2"))
        quote = normalize_spaces(element.text("quote/quote1"))
        has_quote = bool(normalize_spaces(element.text("quote/pron")))
        correct = normalize_spaces(element.text("correctAnswer"))
        answers = [normalize_spaces(answer) for answer in element.texts.get("answers/answer", ())]
        right = _LETTERS.find(correct.rstrip(".").strip().upper() or "?")
        faults = []
        if not pronoun:
            shape = "<text><txt1>...</txt1><pron>...</pron><txt2>...</txt2></text>"
            faults.append(f"has no pronoun; expected {shape}")
        elif not (before or after):
            faults.append("has no text around its pronoun; expected <txt1> or <txt2>")
        if len(answers) < 2 or not all(answers):
            count = sum(map(bool, answers))
            faults.append(f"has {count} answers; expected two or more <answer>, none empty")
        elif not 0 <= right < len(answers):
            expected = ", ".join(_LETTERS[: len(answers)])
            faults.append(f'has "{correct}" as its correctAnswer; expected one of {expected}')
        problems += [f"{path}:{element.line}: schema {number} {fault}" for fault in faults]
        if not faults:
            candidates = tuple(Candidate(answer, at == right) for at, answer in enumerate(answers))
            schema = Schema(f"{path.name}:{number}", before, pronoun, after, candidates)
            if has_quote:
                schema = schema._replace(quote=quote)
            schemas.append(schema)
    return schemas
