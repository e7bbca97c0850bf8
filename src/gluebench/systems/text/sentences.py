"""Where sentences end within a text that stands alone: the recipes' splitter without a corpus."""

from __future__ import annotations

from gluebench.data.recipes.sentences import ENGLISH, Splitter

OTHERS = "adm apr aug blvd cpl etc feb fig ft ie jan mar mt nov oct pfc ph pvt sep sept tel"
"""Abbreviations of news and addresses beside the splitter's own."""
BEGINNINGS = """
A After All Also Although An And As At Both But By During Each For From He Her His However I If In It Its
Many Most No On One Our She Since So Some That The Their Then There These They This Those Though To Two We
What When While With You
"""
"""Words that begin a sentence, rather than belong to a name, where an abbreviation stands before them."""

_SPLITTER = Splitter((), abbreviations=ENGLISH | frozenset(OTHERS.split()))
_SPLITTER.openings = set(BEGINNINGS.split())


def sentences(text: str) -> list[str]:
    """The sentences of a text, white space around them left out."""
    return [text[span.start : span.end] for span in _SPLITTER.spans(text)]
