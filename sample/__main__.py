"""Make the file of the sample benchmark that the package ships: `python -m sample`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from gluebench.data.sample import ARCHIVE, SEED
from sample.archive import pack, tables

_SHIPPED = Path(str(files("gluebench.data.sample"))) / ARCHIVE


@click.command()
@click.option("--seed", default=SEED, show_default=True, help="What all draws start from.")
@click.option("--out", default=_SHIPPED, type=click.Path(path_type=Path), help="The file to write.")
def main(seed: int, out: Path) -> None:
    """Write the sample benchmark as one compressed file."""
    content = pack(tables(seed))
    out.write_bytes(content)
    click.echo(f"{out}: {len(content)} bytes")


if __name__ == "__main__":
    main()
