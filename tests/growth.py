"""Whether a regular expression may take quadratic time: a property of the expression, found without a clock.

A backtracking engine takes more than linear time if it can divide a text between two loops in many ways: if
there are loops p and q and a word w such that reading w leads from p back to p, from p to q, and from q back
to q (Weber and Seidl 1991, criterion IDA). On w repeated n times, followed by a letter at which all of this
fails, the engine tries each of the n places where p may hand over to q, and q reads to the end from each.
With `search` and its like, the engine's own walk over the starting places is such a loop p.

Guards (`^`, `$`, `\\b`, lookarounds of one letter, possessive loops of one letter) are followed exactly.
Longer lookaheads are searched for loops, and taken to succeed. Bounded repetitions count as at most three
copies, since their cost is bounded.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

Letter = str
"""One character, or START before the text, or END behind it."""
START, END = "start", "end"
Guard = Callable[[Letter, Letter], bool]
"""Whether one may pass between the letter before and the letter after."""
SEARCHING = frozenset(("search", "sub", "subn", "split", "findall", "finditer"))
SAMPLES = [chr(code) for code in range(128)] + list(
    "éßıſ中。！“”‘’«»–—…\x85\u2028\u00a0\u200b\ufeff\ufffd\ud800"
)
MOST_COPIES = 3


class Edge(NamedTuple):
    """A place in the expression that reads a letter."""

    source: int
    target: int
    reads: Callable[[Letter], bool]


class Automaton:
    """The expression as nodes, edges that read a letter, and guarded links that read none."""

    def __init__(self, pattern: str, flags: int, *, whole: bool, searches: bool) -> None:
        self.edges: list[Edge] = []
        self.links: dict[int, list[tuple[int, Guard | None]]] = defaultdict(list)
        self.atomic: list[range] = []
        """The nodes within each atomic group. Behind one, the engine tries no other way through it."""
        self.repeated: list[range] = []
        """The nodes within each unbounded repetition, behind its first letter."""
        self._nodes = 0
        self._groups: dict[int, Any] = {}
        tree = parser.parse(pattern, flags)
        self._flags = tree.state.flags
        self.begin, self.accept = self._node(), self._node()
        end = self._sequence(self.begin, tree)
        self._link(end, self.accept, _at_end if whole else None)
        self.start: Edge | None = None
        if searches:
            self.start = self._edge(self.begin, self.begin, lambda letter: True)

    def _node(self) -> int:
        self._nodes += 1
        return self._nodes

    def _link(self, source: int, target: int, guard: Guard | None = None) -> None:
        self.links[source].append((target, guard))

    def _edge(self, source: int, target: int, reads: Callable[[Letter], bool]) -> Edge:
        edge = Edge(source, target, reads)
        self.edges.append(edge)
        return edge

    def _sequence(self, node: int, items: Iterable[Any]) -> int:
        """Add the items after a node; return the node behind them."""
        for op, value in items:
            node = self._item(node, op, value)
        return node

    def _item(self, node: int, op: Any, value: Any) -> int:  # noqa: C901 -- one case for each kind
        after = self._node()
        reads = self._letters(op, value)
        if reads is not None:
            self._edge(node, after, reads)
        elif op is ops.BRANCH:
            for branch in value[1]:
                self._link(self._sequence(node, branch), after)
        elif op is ops.SUBPATTERN:
            group, _, _, body = value
            self._groups[group] = body
            self._link(self._sequence(node, body), after)
        elif op in (ops.ATOMIC_GROUP, ops.POSSESSIVE_REPEAT):
            first = self._nodes
            if op is ops.ATOMIC_GROUP:
                end, leaves = self._sequence(node, value), None
            else:
                end, leaves = self._node(), self._leaves(value)
                self._repeat(node, end, value)
            self.atomic.append(range(first + 1, self._nodes + 1))
            self._link(end, after, leaves)
        elif op in (ops.MAX_REPEAT, ops.MIN_REPEAT):
            self._repeat(node, after, value)
        elif op is ops.GROUPREF:
            self._link(self._sequence(node, self._groups[value]), after)
        elif op is ops.AT:
            self._link(node, after, self._boundary(value))
        elif op in (ops.ASSERT, ops.ASSERT_NOT):
            self._lookaround(node, after, value, positive=op is ops.ASSERT)
        else:
            raise NotImplementedError(f"{op} of a regular expression")
        return after

    def _leaves(self, value: Any) -> Guard | None:
        """When a possessive loop of one letter ends: once there is no other such letter."""
        _, most, body = value
        reads = self._letters(*body[0]) if len(body) == 1 and most is parser.MAXREPEAT else None
        if reads is None:
            return None
        loop_reads = reads
        return lambda before, behind: behind == END or not loop_reads(behind)

    def _repeat(self, node: int, after: int, value: Any) -> None:
        least, most, body = value
        copies = min(least, MOST_COPIES)
        for _ in range(copies):
            node = self._sequence(node, body)
        if most is parser.MAXREPEAT:
            entry = self._node()
            self._link(node, entry)
            self._link(self._sequence(entry, body), entry)
            self.repeated.append(range(entry + 1, self._nodes + 1))
            self._link(entry, after)
            return
        self._link(node, after)
        for _ in range(min(most, MOST_COPIES) - copies):
            node = self._sequence(node, body)
            self._link(node, after)

    def _lookaround(self, node: int, after: int, value: Any, *, positive: bool) -> None:
        direction, body = value
        reads = self._letters(*body[0]) if len(body) == 1 else None
        if reads is None and len(body) == 1 and body[0][0] is ops.AT:
            inner = self._boundary(body[0][1])
            self._link(node, after, lambda before, behind: inner(before, behind) == positive)
        elif reads is None:
            last = self._letters(*body[-1]) if direction < 0 and positive and len(body) else None
            if direction > 0:
                self._sequence(node, body)  # its loops cost time; whether it fits is not followed
            if last is None:
                self._link(node, after, _unknown)
            else:
                letter_reads = last
                self._link(node, after, lambda before, behind: before != START and letter_reads(before))
        elif direction > 0:
            seen = reads
            self._link(node, after, lambda before, behind: (behind != END and seen(behind)) == positive)
        else:
            seen = reads
            self._link(node, after, lambda before, behind: (before != START and seen(before)) == positive)

    def _letters(self, op: Any, value: Any) -> Callable[[Letter], bool] | None:
        """Which letters an item reads, if it reads exactly one."""
        if op not in (ops.LITERAL, ops.NOT_LITERAL, ops.IN, ops.ANY, ops.RANGE, ops.CATEGORY):
            return None
        if op is ops.ANY:
            dot_all = bool(self._flags & re.DOTALL)
            return lambda letter: dot_all or letter != "\n"
        ignores_case = bool(self._flags & re.IGNORECASE)

        @cache
        def reads(letter: Letter) -> bool:
            forms = {letter, letter.lower(), letter.upper()} if ignores_case else {letter}
            return any(self._holds(op, value, form) for form in forms if len(form) == 1)

        return reads

    def _holds(self, op: Any, value: Any, letter: Letter) -> bool:
        code = ord(letter)
        if op is ops.LITERAL:
            return bool(code == value)
        if op is ops.NOT_LITERAL:
            return bool(code != value)
        if op is ops.RANGE:
            return bool(value[0] <= code <= value[1])
        if op is ops.CATEGORY:
            return self._category(value, letter)
        negated = value[0][0] is ops.NEGATE
        return negated != any(self._holds(*part, letter) for part in value if part[0] is not ops.NEGATE)

    def _category(self, value: Any, letter: Letter) -> bool:
        shorthand = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}
        words = str(value).split("_")
        flags = re.ASCII if self._flags & re.ASCII or not self._flags & re.UNICODE else 0
        return bool(re.fullmatch(shorthand[words[-1]], letter, flags)) != ("NOT" in words)

    def _boundary(self, value: Any) -> Guard:
        lines = bool(self._flags & re.MULTILINE)
        if value is ops.AT_BEGINNING:
            return lambda before, behind: before == START or (lines and before == "\n")
        if value is ops.AT_BEGINNING_STRING:
            return lambda before, behind: before == START
        if value is ops.AT_END:
            return lambda before, behind: behind in (END, "\n") if lines else behind == END
        if value is ops.AT_END_STRING:
            return _at_end

        def is_word(letter: Letter) -> bool:
            return len(letter) == 1 and self._category("CATEGORY_WORD", letter)

        wanted = value is ops.AT_BOUNDARY
        return lambda before, behind: (is_word(before) != is_word(behind)) == wanted

    def passed(self, node: int, before: Letter, behind: Letter, within: range | None = None) -> set[int]:
        """The nodes that links lead to between two letters, with the node itself; only those `within`."""
        found, waiting = {node}, [node]
        while waiting:
            for target, guard in self.links[waiting.pop()]:
                is_inside = within is None or target in within
                if is_inside and target not in found and (guard is None or guard(before, behind)):
                    found.add(target)
                    waiting.append(target)
        return found

    def always_accepts(self, node: int) -> bool:
        """Whether links without a guard lead to the end: an engine that gets here does not fail any more."""
        found, waiting = {node}, [node]
        while waiting:
            for target, guard in self.links[waiting.pop()]:
                if guard is None and target not in found:
                    found.add(target)
                    waiting.append(target)
        return self.accept in found

    def doubled(self, node: int) -> set[int]:
        """The nodes that links lead to in more than one way: both are tried for one text.

        A way may pass a node twice: once in the current repetition of a loop, and once in its next.
        """
        ways: dict[int, int] = defaultdict(int)

        def walk(at: int, path: tuple[int, ...]) -> None:
            ways[at] += 1
            for target, _ in self.links[at]:
                if path.count(target) < 2 and ways[target] < 2:
                    walk(target, (*path, target))

        walk(node, (node,))
        return {at for at, number in ways.items() if number > 1}


def _at_end(before: Letter, behind: Letter) -> bool:
    return behind == END


def _unknown(before: Letter, behind: Letter) -> bool:
    """Of a lookahead: it may hold or not, and costs time before what follows it."""
    return True


class Superlinear(NamedTuple):
    """Why an expression is slow: on this word, repeated, the engine backtracks into every repetition."""

    word: str
    exponential: bool = False


def superlinear(pattern: str | bytes, flags: int = 0, method: str = "search") -> Superlinear | None:
    """A word on whose repetitions the expression takes more than linear time by this method; None if none."""
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    flags |= 0 if isinstance(pattern, bytes) else re.UNICODE * (not flags & re.ASCII)
    automaton = Automaton(text, flags, whole=method == "fullmatch", searches=method in SEARCHING)
    return _Ambiguity(automaton, text).find()


class _Ambiguity:
    """The search for two loops that share a word."""

    def __init__(self, automaton: Automaton, pattern: str) -> None:
        self._automaton = automaton
        letters = _alphabet(automaton, pattern)
        self._steps: dict[tuple[int, Letter, Letter, range | None], list[int]] = {}
        self._unfinished_steps: dict[tuple[int, Letter, Letter, range | None], list[int]] = {}
        self._onward_of: dict[int, set[int]] = {}
        self._letters = letters
        self._reads = [{letter for letter in letters if edge.reads(letter)} for edge in automaton.edges]
        self._from: dict[int, list[int]] = defaultdict(list)
        for number, edge in enumerate(automaton.edges):
            self._from[edge.source].append(number)
        self._free = [automaton.always_accepts(edge.target) for edge in automaton.edges]

    def find(self) -> Superlinear | None:
        loops = [place for place in sorted(self._reachable()) if self._is_repeated(place)]
        for place in loops:
            edge = self._automaton.edges[place]
            for target in self._automaton.doubled(edge.target):
                nexts = [n for n, other in enumerate(self._automaton.edges) if other.source == target]
                if any(n in loops and place in self._onward(n) for n in nexts) and not self._accepts(place):
                    return Superlinear(self._letter_of(place), exponential=True)
        for p in loops:
            for q in loops:
                if p != q and not self._accepts(q) and q in self._onward(p):
                    word = self._shared_word(p, q)
                    if word is not None:
                        return Superlinear(word)
        return None

    def _letter_of(self, place: int) -> Letter:
        return min(self._reads[place])

    def _accepts(self, place: int) -> bool:
        return self._free[place]

    def _after(self, place: int, before: Letter, letter: Letter, within: range | None = None) -> list[int]:
        """The places that read this letter next, without leaving the nodes `within`."""
        key = (place, before, letter, within)
        if key not in self._steps:
            target = self._automaton.edges[place].target
            nodes = self._automaton.passed(target, before, letter, within)
            numbers = [number for node in nodes for number in self._from[node]]
            self._steps[key] = [number for number in numbers if letter in self._reads[number]]
        return self._steps[key]

    def _unfinished_after(
        self, place: int, before: Letter, letter: Letter, within: range | None = None
    ) -> list[int]:
        """The places of `_after` from where an attempt may still fail.

        The walk over starting places never ends by itself.
        """
        key = (place, before, letter, within)
        if key not in self._unfinished_steps:
            start = self._automaton.start
            self._unfinished_steps[key] = [
                number
                for number in self._after(place, before, letter, within)
                if self._automaton.edges[number] is start or not self._accepts(number)
            ]
        return self._unfinished_steps[key]

    def _reachable(self) -> set[int]:
        found: set[tuple[int, Letter]] = set()
        for letter in self._letters:
            nodes = self._automaton.passed(self._automaton.begin, START, letter)
            for number, edge in enumerate(self._automaton.edges):
                if edge.source in nodes and letter in self._reads[number]:
                    found.add((number, letter))
        waiting = list(found)
        while waiting:
            place, before = waiting.pop()
            for letter in self._letters:
                for number in self._after(place, before, letter):
                    if (number, letter) not in found:
                        found.add((number, letter))
                        waiting.append((number, letter))
        return {place for place, _ in found}

    def _onward(self, place: int) -> set[int]:
        """The places that some text leads to from here."""
        if place in self._onward_of:
            return self._onward_of[place]
        found: set[tuple[int, Letter]] = set()
        waiting = [(place, letter) for letter in self._reads[place]]
        while waiting:
            at, before = waiting.pop()
            for letter in self._letters:
                for number in self._after(at, before, letter):
                    if (number, letter) not in found:
                        found.add((number, letter))
                        waiting.append((number, letter))
        self._onward_of[place] = {number for number, _ in found}
        return self._onward_of[place]

    def _is_repeated(self, place: int) -> bool:
        edge = self._automaton.edges[place]
        if edge is not self._automaton.start and not any(edge.target in n for n in self._automaton.repeated):
            return False
        return place in self._onward(place)

    def _shared_word(self, p: int, q: int) -> str | None:
        """A word that leads from p to p, from p to q and from q to q.

        An attempt that passes a place from where the end is free does not fail. An engine that has left an
        atomic group does not try the other ways through it.
        """
        target = self._automaton.edges[p].target
        atomic = next((nodes for nodes in self._automaton.atomic if target in nodes), None)
        for first in self._letters:
            if first not in self._reads[p] or first not in self._reads[q]:
                continue
            begin, end = (p, p, q, first), (p, q, q, first)
            words = {begin: ""}
            waiting = deque([begin])
            while waiting:
                state = waiting.popleft()
                for letter, following in self._moves(state, atomic):
                    if following == end:
                        return words[state] + letter
                    if following not in words:
                        words[following] = words[state] + letter
                        waiting.append(following)
        return None

    def _moves(
        self, state: tuple[int, int, int, Letter], atomic: range | None
    ) -> Iterator[tuple[Letter, tuple[int, int, int, Letter]]]:
        one, two, three, before = state
        for letter in self._letters:
            firsts = self._unfinished_after(one, before, letter)
            if not firsts:
                continue
            thirds = self._unfinished_after(three, before, letter, atomic)
            if not thirds:
                continue
            for second in self._unfinished_after(two, before, letter, atomic):
                for first in firsts:
                    for third in thirds:
                        yield letter, (first, second, third, letter)


def _alphabet(automaton: Automaton, pattern: str) -> list[Letter]:
    """One letter of each kind that the expression tells apart, and the line break."""
    kinds: dict[tuple[bool, ...], Letter] = {}
    for letter in dict.fromkeys("\n a0-" + pattern + "".join(SAMPLES)):
        kind = tuple(edge.reads(letter) for edge in automaton.edges)
        is_word = letter.isalnum() or letter == "_"
        kinds.setdefault((*kind, is_word, letter == "\n"), letter)
    return list(kinds.values())
