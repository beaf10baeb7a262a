"""`celosia doctor` and `celosia docs`: what this machine has, and what a checkout holds."""

from typing import Annotated

import typer

from celosia.sim.command.document import write_documents
from celosia.sim.command.options.common import JsonOption
from celosia.sim.command.outputs.tables import doctor_table
from celosia.sim.run.origin import write_document
from celosia.sim.support.checkout import checkout_root
from celosia.sim.support.display import table_console
from celosia.sim.support.guard import BAD_INPUT, WRONG
from celosia.sim.support.output import check_destination
from celosia.sim.verilator.doctor import Findings, examine

__all__ = ["docs", "doctor"]


def doctor(*, json: JsonOption = None) -> None:
    """Show which tools this machine has, and which package has the rest.

    CELOSIA_REQUIRE=NAME,NAME makes the absence of these tools a failure.
    """
    check_destination(json)
    findings = examine()
    table_console(json).print(doctor_table(findings))
    write_document(json, Findings(findings))
    if any(finding.failed for finding in findings):
        raise typer.Exit(BAD_INPUT)


def docs(
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; 1 if any is old.")
    ] = False,
) -> None:
    """Write the documents that are generated from the contract (in a checkout)."""
    stale = write_documents(checkout_root(), check)
    for name in stale:
        typer.echo(f"{name}: {'out of date, run celosia docs' if check else 'written'}")
    raise typer.Exit(WRONG if check and stale else 0)
