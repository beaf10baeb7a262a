"""Operations of ours to xDSL's and back, one to one: names, operands, attributes, regions, types.

Graphs become our operations as they are printed, and are read back from these: what a graph is
stands in `celosia.sw.mlir.print_graph` and `celosia.sw.frontend.nn.text` alone.
"""

from collections.abc import Callable, Mapping
from itertools import count

from xdsl.context import Context
from xdsl.ir import Attribute as Foreign
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir import Operation as ForeignOperation
from xdsl.parser import Parser

from celosia.sw.frontend.dialects.attributes import from_foreign, to_foreign
from celosia.sw.mlir.operation import NOWHERE, Operation, Place

__all__ = ["from_xdsl", "to_xdsl"]


def to_xdsl(operation: Operation, context: Context) -> ForeignOperation:
    """The operation in xDSL, of the class that its dialect in `context` has for it.

    Raises `ValueError` for an operation that no dialect has.
    """
    types: dict[str, Foreign] = {}

    def typed(text: str) -> Foreign:
        if text not in types:
            types[text] = Parser(context, text).parse_type()
        return types[text]

    return _to(operation, context, typed, {})


def _to(
    operation: Operation,
    context: Context,
    typed: Callable[[str], Foreign],
    values: dict[str, SSAValue],
) -> ForeignOperation:
    regions = []
    for region in operation.regions:
        inner = dict(values)
        regions.append(Region(Block([_to(each, context, typed, inner) for each in region])))
    kind = context.get_optional_op(operation.name)
    if kind is None:
        raise ValueError(f"{operation.place}: there is no operation {operation.name}")
    made = kind.create(
        operands=[values[name] for name in operation.operands],
        result_types=[typed(text) for text in operation.result_types],
        attributes={name: to_foreign(each) for name, each in operation.attributes.items()},
        regions=regions,
    )
    for name, result in zip(operation.results, made.results, strict=True):
        values[name] = result
        if SSAValue.is_valid_name(name):
            result.name_hint = name
    return made


def from_xdsl(
    operation: ForeignOperation, places: Mapping[ForeignOperation, Place] | None = None
) -> Operation:
    """The operation as ours; values have numbers for names.

    `places` says where the text of operations stands.  Raises `ValueError` that names the place of
    what graphs have no use for: blocks with labels, and other kinds of attributes.
    """
    names: dict[SSAValue, str] = {}
    numbers = count()
    known = places or {}

    def read(foreign: ForeignOperation) -> Operation:
        place = known.get(foreign, NOWHERE)
        regions = tuple(tuple(map(read, _block(region, place))) for region in foreign.regions)
        for result in foreign.results:
            names[result] = str(next(numbers))
        try:
            items = {**foreign.properties, **foreign.attributes}
            attributes = {name: from_foreign(each) for name, each in items.items()}
        except ValueError as error:
            raise ValueError(f"{place}: {foreign.name}: {error}") from None
        return Operation(
            name=foreign.name,
            results=tuple(names[each] for each in foreign.results),
            result_types=tuple(str(each.type) for each in foreign.results),
            operands=tuple(names.get(each, "undefined") for each in foreign.operands),
            operand_types=tuple(str(each.type) for each in foreign.operands),
            attributes=attributes,
            regions=regions,
            place=place,
        )

    return read(operation)


def _block(region: Region, place: Place) -> list[ForeignOperation]:
    """The operations of a region of one block without arguments, or of none."""
    blocks = list(region.blocks)
    if len(blocks) > 1 or any(block.args for block in blocks):
        raise ValueError(f"{place}: a region of a graph is one block without arguments")
    return [operation for block in blocks for operation in block.ops]
