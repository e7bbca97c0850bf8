"""What a download begins with: pages in place of files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluebench.data.sources.http import wrong_content


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"<!DOCTYPE html><html><title>Not  found\n here</title><body>x", ': "Not found here"'),
        (b"\xef\xbb\xbf \n<HTML><HEAD><TITLE>R&amp;D</TITLE>", ': "R&D"'),
        (
            b"<!-- made by hand --><html><body><script>var a = 1;</script><h1>Sign in</h1> please",
            ': "Sign in please"',
        ),
        (b"<html><body></body></html>", ""),
        (b"<html><title>\x1b[31mred</title>", ': "?[31mred"'),
    ],
)
def test_a_page_is_known_and_its_title_shown(head: bytes, words: str) -> None:
    assert wrong_content(head) == f"a web page, not the file{words}"


def test_a_long_page_is_shown_by_its_first_words() -> None:
    told = wrong_content(b"<html><body>" + b"word " * 400)
    assert told.startswith('a web page, not the file: "word word')
    assert len(told) < 130


def test_a_pointer_is_not_taken_for_the_file_it_stands_for() -> None:
    head = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"
    assert wrong_content(head) == "a Git LFS pointer, not the file it stands for"


@pytest.mark.parametrize(
    "head",
    [
        b"PK\3\4<html>",
        b"PAR1",
        b"",
        b"index\tsentence\n0\t<html> is a word.",
        b"<b>bold</b>\t1",
        b"<htmlish>\t1",
    ],
)
def test_a_file_is_no_page(head: bytes) -> None:
    assert wrong_content(head) == ""


@given(st.binary(max_size=300))
def test_whatever_comes_after_a_pages_beginning_can_be_shown(rest: bytes) -> None:
    told = wrong_content(b"<html>" + rest)
    assert told.startswith("a web page")
    assert told.isprintable()


def test_many_comments_before_no_page_are_read_once() -> None:
    """Each could end at any later arrow: an engine that tries all of these never ends."""
    assert wrong_content(b"<!---->" * 500) == ""
    assert wrong_content(b"<!-- a -->" * 300 + b"<html><title>Not here</title>").endswith('"Not here"')
