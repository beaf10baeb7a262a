"""What the black boxes of memories do, in Verilog that simulates and synthesizes."""

from collections.abc import Iterable

from celosia.sim.export.rams import Ram

__all__ = ["ram_models"]

_HEAD = """\
// Models of the memories: what each black box must do.  Replace a module by one of the same name
// around your own macro, or synthesize this one.
//
// - read_data carries the row of `read_en` from the next rising edge on, and holds it until the
//   next one with `read_en`.
// - Bit k of `write_en` writes the k-th element of a row.
// - 1r1w, 2r1w ...: a row may be read while elements of it are written.  The others are read as
//   they are; what is read of those that are written does not matter.
// - Of several read ports, port k has bit k of `read_en`, and the k-th part of `read_addr` and of
//   `read_data` from the low end.  Ports do not know each other: n copies with a port each will do.
// - 1rw: never a read and a write in one cycle.
// - Contents at power-on do not matter.
//
// For simulation only: CELOSIA_PESSIMISTIC_RAMS returns what does not matter inverted, and
// CELOSIA_ASSERTIONS stops where a 1rw memory is read and written in one cycle.
"""

_WRITE = """\
    for (element = 0; element < {elements}; element = element + 1)
      if (write_en[element])
        contents[{write_addr}][{element_bits}*element +: {element_bits}]
          <= write_data[{element_bits}*element +: {element_bits}];
"""

_SINGLE = """
module {name} (
  input clk,
  input [{high_address}:0] addr,
  input read_en,
  output reg [{high_bit}:0] read_data,
  input [{high_element}:0] write_en,
  input [{high_bit}:0] write_data
);
  reg [{high_bit}:0] contents [0:{high_row}];
  integer element;
  always @(posedge clk) begin
    if (read_en)
      read_data <= contents[addr];
{write}`ifdef CELOSIA_ASSERTIONS
    if (read_en && |write_en) begin
      $display("%m: read and written in one cycle");
      $stop;
    end
`endif
  end
endmodule
"""

_DOUBLE = """
module {name} (
  input clk,
  input [{high_read}:0] read_en,
  input [{high_read_address}:0] read_addr,
  output reg [{high_read_bit}:0] read_data,
  input [{high_element}:0] write_en,
  input [{high_address}:0] write_addr,
  input [{high_bit}:0] write_data
);
  reg [{high_bit}:0] contents [0:{high_row}];
  integer element;
  always @(posedge clk) begin
{reads}{write}`ifdef CELOSIA_PESSIMISTIC_RAMS
    for (element = 0; element < {elements}; element = element + 1) begin
{collisions}    end
`endif
  end
endmodule
"""

_READ = """\
    if (read_en[{port}])
      read_data[{low_bit} +: {bits}] <= contents[read_addr[{low_address} +: {address_bits}]];
"""

_COLLISION = """\
      if (read_en[{port}] && write_en[element]
          && read_addr[{low_address} +: {address_bits}] == write_addr)
        read_data[{low_bit} + {element_bits}*element +: {element_bits}]
          <= ~write_data[{element_bits}*element +: {element_bits}];
"""


def ram_models(rams: Iterable[Ram]) -> str:
    """A module for each of `rams`, in their order."""
    return _HEAD + "".join(_model(ram) for ram in rams)


def _model(ram: Ram) -> str:
    write = _WRITE.format(
        elements=ram.elements,
        element_bits=ram.element_bits,
        write_addr="addr" if ram.single_port else "write_addr",
    )
    return (_SINGLE if ram.single_port else _DOUBLE).format(
        name=ram.name,
        write=write,
        reads=_for_each_read(_READ, ram),
        collisions=_for_each_read(_COLLISION, ram),
        elements=ram.elements,
        high_address=ram.address_bits - 1,
        high_bit=ram.bits - 1,
        high_element=ram.elements - 1,
        high_row=ram.rows - 1,
        high_read=ram.reads - 1,
        high_read_address=ram.reads * ram.address_bits - 1,
        high_read_bit=ram.reads * ram.bits - 1,
    )


def _for_each_read(statement: str, ram: Ram) -> str:
    return "".join(
        statement.format(
            port=port,
            bits=ram.bits,
            low_bit=port * ram.bits,
            address_bits=ram.address_bits,
            low_address=port * ram.address_bits,
            element_bits=ram.element_bits,
        )
        for port in range(ram.reads)
    )
