"""The program `gluebench`, also as `python -m gluebench`."""

import atexit
import gc

# Before anything else is imported: a command ends before cyclic garbage matters, and looking for it was a
# tenth of its time, half of that at the exit. What runs for long turns it on again.
gc.disable()
atexit.register(gc.freeze)

from gluebench.cli import main  # noqa: E402

__all__ = ["main"]

if __name__ == "__main__":
    main(prog_name="gluebench")
