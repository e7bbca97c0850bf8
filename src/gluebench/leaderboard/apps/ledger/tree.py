"""The Merkle tree of RFC 6962 in the tiles of c2sp.org/tlog-tiles. Independent of Django."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from hashlib import sha256

WIDTH = 256
"""Hashes or entries of a full tile."""
ENTRIES = "entries"
"""The level whose tiles hold the entries themselves."""
_NUMBER = re.compile(r"((?:x\d{3}/)*)(\d{3})(?:\.p/([1-9]\d{0,2}))?")


def leaf_hash(data: bytes) -> bytes:
    """The hash of an entry."""
    return sha256(b"\0" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of a node above two others."""
    return sha256(b"\1" + left + right).digest()


def perfect_root(hashes: Sequence[bytes]) -> bytes:
    """The root over a power of two of hashes."""
    while len(hashes) > 1:
        hashes = [node_hash(*hashes[at : at + 2]) for at in range(0, len(hashes), 2)]
    return hashes[0]


def root_of(edge: Iterable[Sequence[bytes]]) -> bytes:
    """The root of a tree, from the partial tile of each of its levels, the highest level first."""
    tops: list[bytes] = []
    for hashes in edge:
        tops += _tops(hashes)
    if not tops:
        return sha256().digest()
    # From the smallest tree on: each root becomes the right side of a node with the next larger one.
    return reduce(lambda right, left: node_hash(left, right), reversed(tops))


def _tops(hashes: Sequence[bytes]) -> Iterator[bytes]:
    """The roots of the perfect trees that cover these hashes, the largest first."""
    at = 0
    while at < len(hashes):
        size = 1 << (len(hashes) - at).bit_length() - 1
        yield perfect_root(hashes[at : at + size])
        at += size


def above(hashes: Sequence[bytes]) -> list[bytes]:
    """The hashes of the next level of tiles: one for each full tile of these."""
    return [perfect_root(hashes[at : at + WIDTH]) for at in range(0, len(hashes) - WIDTH + 1, WIDTH)]


def levels_of(hashes: Sequence[bytes]) -> list[Sequence[bytes]]:
    """All hashes of each level of tiles, from those of the entries on."""
    levels = []
    while hashes:
        levels.append(hashes)
        hashes = above(hashes)
    return levels


def root_of_all(hashes: Sequence[bytes]) -> bytes:
    """The root of the tree over these hashes of entries."""
    return root_of(level[len(level) // WIDTH * WIDTH :] for level in reversed(levels_of(hashes)))


def tile_path(level: int | str, number: int, width: int = WIDTH) -> str:
    """The path of a tile: "tile/0/x001/234.p/7"."""
    # In groups of three digits: all but the last begin with an x.
    number, last = divmod(number, 1000)
    path = f"{last:03}"
    while number:
        number, group = divmod(number, 1000)
        path = f"x{group:03}/{path}"
    if width < WIDTH:
        path += f".p/{width}"
    return f"tile/{level}/{path}"


def read_number(path: str) -> tuple[int, int] | None:
    """The number and the width of a tile, from what follows its level in its path; None if it is no path."""
    parts = _NUMBER.fullmatch(path)
    if parts is None:
        return None
    number = int(parts[1].replace("x", "").replace("/", "") + parts[2])
    width = int(parts[3] or WIDTH)
    if tile_path("", number, width) != f"tile//{path}":  # another way to write it, such as with zeros before
        return None
    return number, width


def tiles_of(size: int) -> Iterator[tuple[int, int]]:
    """The number and width of each tile of a level that has `size` hashes."""
    for at in range(0, size, WIDTH):
        yield at // WIDTH, min(WIDTH, size - at)


def bundle(entries: Iterable[bytes]) -> bytes:
    """Entries, each after its length in two bytes."""
    return b"".join(len(entry).to_bytes(2, "big") + entry for entry in entries)


def unbundle(data: bytes) -> list[bytes]:
    """The entries of a bundle. Raises ValueError where it does not end with one."""
    entries = []
    at = 0
    while at < len(data):
        end = at + 2 + int.from_bytes(data[at : at + 2], "big")
        if end > len(data):
            raise ValueError("the bundle ends within an entry")
        entries.append(data[at + 2 : end])
        at = end
    return entries
