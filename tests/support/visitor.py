"""What a first visitor does on the page, one action after the other: a table that grows with it."""

import json
from collections.abc import Callable, Mapping
from typing import Final

from tests.support.chromium import Page

__all__ = ["ACTIONS", "Action", "run", "texts", "type_in", "write"]

Action = Callable[[Page], None]
"""Does something, and looks at what the page shows then."""


def type_in(page: Page, **values: str) -> None:
    """Give fields these values; an underscore stands for a hyphen of their names."""
    for name, value in values.items():
        place = json.dumps(name.replace("_", "-"))
        page.tell(f"void (document.getElementById({place}).value = {json.dumps(value)})")


def texts(page: Page, selector: str) -> list[str]:
    """The texts of the elements that a selector finds."""
    return page.tell(
        f"[...document.querySelectorAll({json.dumps(selector)})].map((each) => each.textContent)"
    )


def run(page: Page, button: str = "run", **values: str) -> list[str]:
    """Run with these values; the numbers that the page shows then."""
    type_in(page, **values)
    runs = int(page.tell("document.body.dataset.runs || 0"))
    page.tell(f"document.getElementById('{button}').click()")
    page.until(f"document.body.dataset.runs === '{runs + 1}'")
    return texts(page, "#tiles b")


def write(page: Page, **values: str) -> str:
    """Write a text with these values to its end; what the page says then."""
    type_in(page, **{f"text_{name}": value for name, value in values.items()})
    written = int(page.tell("document.body.dataset.texts || 0"))
    page.tell("document.getElementById('text-write').click()")
    page.until(
        f"document.body.dataset.texts === '{written + 1}' || "
        "document.getElementById('text-status').className.includes('wrong')"
    )
    return texts(page, "#text-status")[0]


def _opens(page: Page) -> None:
    page.until("document.body.dataset.runs === '1'")
    assert texts(page, "#tiles b")[2] == "equal"


def _runs_another_program(page: Page) -> None:
    assert run(page, program="softmax")[2] == "equal"


def _asks_what_a_slow_memory_costs(page: Page) -> None:
    assert run(page, latency="400", rate="1")[2] == "equal"
    assert "times as many" in texts(page, "#history tbody tr")[0]


def _chooses_a_larger_array(page: Page) -> None:
    before = run(page, latency="40", rate="16", preset="tiny", program="product")
    after = run(page, preset="base")
    assert after[2] == "equal"
    assert int(after[0].replace(",", "")) < int(before[0].replace(",", ""))


def _allows_few_cycles(page: Page) -> None:
    run(page, budget="100")
    assert texts(page, "#status")[0].startswith("it was stopped after 100 cycles")
    type_in(page, budget="5000000")


def _looks_whose_cycles_were(page: Page) -> None:
    run(page)
    page.tell("document.querySelector('.unit details').open = true")
    assert len(texts(page, ".unit details[open] tr")) > 2


def _runs_the_assembly(page: Page) -> None:
    page.tell("document.getElementById('editor').open = true")
    run(page, button="assemble")
    assert texts(page, "#checked pre")[0].startswith("0x")


def _makes_a_mistake(page: Page) -> None:
    type_in(page, source="fence\nmvim dram=1\n")
    page.tell("document.getElementById('assemble').click()")
    assert texts(page, "#errors li")[0].startswith("line 2: there is no instruction 'mvim'")
    page.tell("document.getElementById('editor').open = false")


def _writes_a_text(page: Page) -> None:
    assert write(page).startswith("Done")
    assert texts(page, "#text-tiles b")[-1] == "equal"


def _looks_what_else_a_token_could_be(page: Page) -> None:
    page.tell("document.querySelectorAll('#text-written button')[1].click()")
    assert texts(page, "#text-choice")[0] == "What could stand at token 2"
    assert len(texts(page, "#text-alternatives li")) == 10
    assert len(texts(page, "#text-alternatives li.chosen")) == 1


def _has_tokens_foretold(page: Page) -> None:
    assert write(page, prompt="Return the", temperature="0", drafted="7", tokens="8") == "Done."
    assert len(texts(page, "#text-written button")) == 8
    assert len(texts(page, "#text-steps tbody tr")) < 8


def _stops_a_text(page: Page) -> None:
    type_in(page, text_tokens="200")
    page.tell("document.getElementById('text-write').click()")
    page.until("document.querySelectorAll('#text-written button').length === 1")
    page.tell("document.getElementById('text-stop').click()")
    assert texts(page, "#text-status")[0] == "Stopped."


def _writes_nothing(page: Page) -> None:
    assert write(page, prompt="", tokens="8").startswith("The prompt is empty")
    assert write(page, prompt="Return the", seed="many").startswith("Seed: 'many' is not a")


def _cycle(page: Page) -> int:
    return int(page.tell("document.getElementById('array').dataset.cycle"))


def _press(page: Page, name: str) -> None:
    page.tell(f"document.getElementById('{name}').click()")


def _steps_through_the_array(page: Page) -> None:
    page.until("document.getElementById('array').dataset.opened === '1'")
    begin = _cycle(page)
    for button, where in (("step", begin + 1), ("step", begin + 2), ("back", begin + 1)):
        _press(page, button)
        page.until(f"document.getElementById('array').dataset.cycle === '{where}'")


def _plays_and_pauses(page: Page) -> None:
    begin = _cycle(page)
    _press(page, "play")
    page.until(f"document.getElementById('array').dataset.cycle > {begin + 3}")
    _press(page, "play")
    assert texts(page, "#play") == ["Play"]


def _goes_to_a_command(page: Page) -> None:
    page.tell("document.querySelectorAll('#commands > li')[0].querySelector('button').click()")
    page.until("document.querySelector('#commands > li').getAttribute('aria-current') === 'step'")


def _asks_how_a_sum_has_come_about(page: Page) -> None:
    page.tell("document.querySelectorAll('.cell')[5].click()")
    assert texts(page, "#cell-says")[0].startswith("Row 1, column 1: ")


def _asks_what_a_block_is(page: Page) -> None:
    page.tell("document.querySelector('.block[data-name=scratchpad]').click()")
    assert "hw/memory/scratchpad.py" in texts(page, "#block-says")[0]


def _takes_up_a_challenge(page: Page) -> None:
    page.tell(
        "void (document.getElementById('challenge-source').value ="
        " document.getElementById('answer').textContent)"
    )
    _press(page, "try")
    page.until("document.getElementById('challenges').dataset.tries === '1'")
    assert texts(page, "#challenge-status")[0].endswith("as fast as the compiler. Done!")


ACTIONS: Final[Mapping[str, Action]] = {
    "opens it": _opens,
    "steps through the array": _steps_through_the_array,
    "plays and pauses": _plays_and_pauses,
    "goes to a command": _goes_to_a_command,
    "asks how a sum has come about": _asks_how_a_sum_has_come_about,
    "asks what a block is": _asks_what_a_block_is,
    "takes up a challenge": _takes_up_a_challenge,
    "runs another program": _runs_another_program,
    "asks what a slow memory costs": _asks_what_a_slow_memory_costs,
    "chooses a larger array": _chooses_a_larger_array,
    "allows few cycles": _allows_few_cycles,
    "looks whose the cycles were": _looks_whose_cycles_were,
    "runs the assembly": _runs_the_assembly,
    "makes a mistake": _makes_a_mistake,
    "writes a text": _writes_a_text,
    "looks what else a token could be": _looks_what_else_a_token_could_be,
    "has tokens foretold": _has_tokens_foretold,
    "stops a text": _stops_a_text,
    "asks for what cannot be": _writes_nothing,
}
"""In this order."""
