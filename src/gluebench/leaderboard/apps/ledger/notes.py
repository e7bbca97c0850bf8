"""Signed notes (c2sp.org/signed-note) with Ed25519 keys, and checkpoints of a log. Without Django."""

from base64 import b64decode, b64encode
from hashlib import sha256
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_TYPE = b"\1"
"""What says in keys and their identifiers that they are for Ed25519."""


class NoteError(ValueError):
    """A note or a key that is not as it must be."""


class Key(NamedTuple):
    """A public key with its name."""

    name: str
    public: bytes

    @property
    def id(self) -> bytes:
        """The four bytes that name it in signatures."""
        return sha256(self.name.encode() + b"\n" + _TYPE + self.public).digest()[:4]

    def __str__(self) -> str:
        """The key as people pass it on: name, identifier and the key itself, joined by plus signs."""
        return f"{self.name}+{self.id.hex()}+{b64encode(_TYPE + self.public).decode()}"


class Signer(NamedTuple):
    """A private key with its name."""

    name: str
    seed: bytes
    """32 bytes."""

    @property
    def key(self) -> Key:
        """Its public key."""
        return Key(self.name, Ed25519PrivateKey.from_private_bytes(self.seed).public_key().public_bytes_raw())

    def sign(self, text: str) -> str:
        """A note of this text, whose last character must be a line end."""
        signature = Ed25519PrivateKey.from_private_bytes(self.seed).sign(text.encode())
        return f"{text}\n— {self.name} {b64encode(self.key.id + signature).decode()}\n"


def read_key(text: str) -> Key:
    """The key that `str` of it wrote. Raises NoteError."""
    try:
        name, identifier, encoded = text.strip().split("+", 2)
        data = b64decode(encoded, validate=True)
    except ValueError:
        raise NoteError(f"{text.strip()!r} is not a public key; expected NAME+IDENTIFIER+BASE64") from None
    key = Key(name, data[1:])
    if data[:1] != _TYPE or len(key.public) != 32 or key.id.hex() != identifier:
        raise NoteError(f"{text.strip()!r} is not an Ed25519 key, or was mistyped")
    return key


def open_note(note: str, key: Key) -> str:
    """The text of a note that this key signed. Raises NoteError."""
    text, separator, signatures = note.rpartition("\n\n")
    if not separator or not signatures.endswith("\n"):
        raise NoteError("it is not a signed note")
    for line in signatures.splitlines():
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.partition(" ")
        try:
            signature = b64decode(encoded, validate=True)
        except ValueError:
            raise NoteError("a signature of the note is not in base64") from None
        if dash == "—" and name == key.name and signature[:4] == key.id:
            try:
                Ed25519PublicKey.from_public_bytes(key.public).verify(signature[4:], f"{text}\n".encode())
            except InvalidSignature:
                raise NoteError(f"the signature of {key.name} does not match the text") from None
            return f"{text}\n"
    raise NoteError(f"it is not signed by {key}")


def read_sums(note: str, key: Key) -> dict[str, str]:
    """The SHA-256 of each file of a signed list, whose lines follow its form and date. Raises NoteError."""
    sums = {}
    for line in open_note(note, key).splitlines()[2:]:
        digest, _, name = line.partition("  ")
        sums[name] = digest
    return sums


class Checkpoint(NamedTuple):
    """The size of a log and the root of its tree."""

    origin: str
    size: int
    root: bytes

    def __str__(self) -> str:
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n"


def read_checkpoint(note: str, key: Key) -> Checkpoint:
    """The checkpoint that this key signed. Raises NoteError."""
    lines = open_note(note, key).split("\n")
    try:
        origin, size, root, *_ = lines
        return Checkpoint(origin, int(size), b64decode(root, validate=True))
    except ValueError:
        raise NoteError("it is not a checkpoint") from None
