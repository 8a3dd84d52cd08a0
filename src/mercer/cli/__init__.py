"""The command line: `mercer tour`. One file a command."""

from __future__ import annotations

import typer

from mercer.cli.tour import tour
from mercer.errors import MercerError

app = typer.Typer(
    help="Learning with positive definite kernels.", no_args_is_help=True, add_completion=False
)
app.command()(tour)


@app.callback()
def _commands() -> None:
    """Keep `mercer tour` a command, also while it is the only one."""


def main() -> None:
    """Run the command line; a deliberate error is a message, not a traceback."""
    try:
        app()
    except MercerError as error:
        typer.echo(f"mercer: {error}", err=True)
        raise SystemExit(1) from None
