"""A command group that imports commands on use, and shows user errors without traceback."""

from collections.abc import Mapping
from importlib import import_module

import click

from gluebench.cli.common.errors import as_click


class LazyGroup(click.Group):
    """A group of commands at "module:name" addresses, each imported on use."""

    def __init__(self, *args: object, commands_at: Mapping[str, str] | None = None, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self._addresses = dict(commands_at or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in alphabetical order; nothing is imported."""
        return sorted(set(super().list_commands(ctx)) | set(self._addresses))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        address = self._addresses.get(cmd_name)
        if address is None:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = address.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command as click does, and suggest the closest name for a mistyped one."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            from gluebench.benchmark.lookup import did_you_mean

            ctx.fail(f"No such command {name!r}.{did_you_mean(name, self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; show errors that a user can cause without a traceback."""
        try:
            return super().invoke(ctx)
        except Exception as error:  # bugs are raised again
            shown = as_click(error)
            if shown is None:
                raise
            raise shown from error
