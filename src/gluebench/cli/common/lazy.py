"""A command group that imports commands on use, and shows user errors without traceback."""

from collections.abc import Mapping
from importlib import import_module

import click

from gluebench.cli.common.errors import as_click


class LazyGroup(click.Group):
    """A group of commands at "module:name" addresses, each imported on use.

    `sections` has the addresses under headings instead; help and lists have this order. Without them,
    commands are in alphabetical order.
    """

    def __init__(
        self,
        *args: object,
        commands_at: Mapping[str, str] | None = None,
        sections: Mapping[str, Mapping[str, str]] | None = None,
        **kwargs: object,
    ) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self._addresses = dict(commands_at or {})
        self._sections = dict(sections or {})
        for section in self._sections.values():
            self._addresses |= section

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order of the help; nothing is imported."""
        if self._sections:
            return list(self._addresses)
        return sorted(set(super().list_commands(ctx)) | set(self._addresses))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings, all with the same margin."""
        if not self._sections:
            super().format_commands(ctx, formatter)
            return
        longest = max(map(len, self._addresses))
        for heading, section in self._sections.items():
            rows = []
            for name in section:
                command = self.get_command(ctx, name)
                if command is not None:
                    room = formatter.width - 6 - longest
                    rows.append((name.ljust(longest), command.get_short_help_str(room)))
            with formatter.section(heading):
                formatter.write_dl(rows)

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
