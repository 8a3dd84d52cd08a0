"""The command line: fit, predict, show, check and tour. One file a command."""

from __future__ import annotations

import typer

from mercer.cli.check import HELP, CheckCommand, check
from mercer.cli.fit import HELP as FIT
from mercer.cli.fit import fit
from mercer.cli.predict import HELP as PREDICT
from mercer.cli.predict import predict
from mercer.cli.show import HELP as SHOW
from mercer.cli.show import show
from mercer.cli.tour import tour
from mercer.errors import MercerError

app = typer.Typer(
    help="Learning with positive definite kernels.", no_args_is_help=True, add_completion=False
)
app.command(help=FIT)(fit)
app.command(help=PREDICT)(predict)
app.command(help=SHOW)(show)
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
