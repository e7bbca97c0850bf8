"""Table 5 of the paper, as printed: R3 times 100. One entry is printed "-09"."""

from __future__ import annotations

COLUMNS = (
    "All",
    "Lexical Semantics",
    "Predicate-Argument Structure",
    "Logic",
    "Knowledge",
    "Universal",
    "Morphological Negation",
    "Double Negation",
    "Anaphora/Coreference",
    "Restrictivity",
    "Downward Monotone",
)
TABLE_5 = """
21 25 24 16 16 70 53 4 21 -15 12
20 20 21 14 17 70 20 42 33 -26 -3
21 19 23 20 18 71 47 -1 33 -15 8
25 24 30 20 14 50 47 21 38 -8 -3
28 30 35 23 14 85 20 42 33 -26 -3
24 29 29 18 12 77 50 1 18 -1 12
20 13 24 14 22 71 17 -8 31 -15 8
21 20 21 19 21 71 60 2 22 0 12
18 15 11 18 27 71 40 7 40 0 8
18 13 24 11 16 71 1 -12 31 -15 8
22 18 26 13 19 70 27 5 31 -26 -3
18 16 25 16 13 71 26 -8 33 9 8
9 6 13 5 10 3 0 13 28 -15 -11
12 2 23 11 9 61 6 -2 30 -15 0
18 20 20 15 14 77 50 -20 15 -15 -9
16 16 19 13 15 70 43 -11 20 -36 -09
20 28 26 14 12 78 57 2 21 -15 12
"""
ROWS = [tuple(map(int, line.split())) for line in TABLE_5.strip().splitlines()]
