"""`python -m gluebench` is the `gluebench` command."""

from gluebench.cli import main

main(prog_name="gluebench")
