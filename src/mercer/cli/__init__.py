"""The command line: `mercer check` and `mercer tour`. One file a command."""

from __future__ import annotations

import typer

from mercer.cli.check import HELP, CheckCommand, check
from mercer.cli.tour import tour
from mercer.errors import MercerError

app = typer.Typer(
    help="Learning with positive definite kernels.", no_args_is_help=True, add_completion=False
)
# A formula may begin with a minus sign: what is no option is an argument.
app.command(cls=CheckCommand, help=HELP, context_settings={"ignore_unknown_options": True})(
    check
)
app.command()(tour)


def main() -> None:
    """Run the command line; a deliberate error is a message, not a traceback."""
    try:
        app()
    except MercerError as error:
        typer.echo(f"mercer: {error}", err=True)
        raise SystemExit(1) from None
