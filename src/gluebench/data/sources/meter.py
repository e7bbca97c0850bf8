"""How a download tells what it is doing; a command draws it, a program may be silent."""

from __future__ import annotations

from typing import Protocol


class Meter(Protocol):
    """Takes what a reader may be told while data are fetched."""

    def say(self, line: str) -> None:
        """A line to be read now."""
        ...

    def start(self, name: str, total: int | None) -> None:
        """Something of so many bytes begins; None where the number is not known."""
        ...

    def expect(self, total: int) -> None:
        """It has so many bytes in all, as is known only now."""
        ...

    def advance(self, number: int) -> None:
        """So many bytes more are there; less, where a file had to be begun anew."""
        ...

    def stop(self) -> None:
        """It has ended, well or not."""
        ...


class Silent:
    """Tells nothing."""

    def say(self, line: str) -> None:
        """Nothing."""

    def start(self, name: str, total: int | None) -> None:
        """Nothing."""

    def expect(self, total: int) -> None:
        """Nothing."""

    def advance(self, number: int) -> None:
        """Nothing."""

    def stop(self) -> None:
        """Nothing."""


def size(number: float) -> str:
    """Bytes as they are read: 326 kB, 54.1 MB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            break
        number /= 1000
    return f"{number:.0f} {unit}" if unit in ("bytes", "kB") else f"{number:.1f} {unit}"
