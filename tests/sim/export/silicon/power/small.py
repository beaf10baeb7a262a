"""A library with round numbers."""

_TABLE = """\
      {edge}_power(energy_2x2) {{
        index_1 ("0.0, 0.1");
        index_2 ("0.08, 0.28");
        values ("{low}", "{high}");
      }}
"""


def _power(pin: str, low: str, high: str) -> str:
    rise = _TABLE.format(edge="rise", low=low, high=high)
    fall = _TABLE.format(edge="fall", low="1, 1", high="1, 1")
    return f'    internal_power() {{\n      related_pin : "{pin}";\n{rise}{fall}    }}\n'


_GATE = """\
cell ({name}) {{
  area : 4;
  cell_leakage_power : 0.5;
  {inputs}
  pin(Y) {{ direction : output; function : "{function}";
{power}  }}
}}
"""
_A = "pin(A) { direction : input; capacitance : 0.01; }"
_B = "pin(B) { direction : input; capacitance : 0.02; }"

LIBERTY = (
    """\
library(small) {
  time_unit : "1ns";
  voltage_unit : "1V";
  leakage_power_unit : "1nW";
  capacitive_load_unit (1,pf);
  nom_voltage : 2.0;
  power_lut_template(energy_2x2) {
    variable_1 : total_output_net_capacitance;
    variable_2 : input_transition_time;
  }
  power_lut_template(passive_2x1) { variable_1 : input_transition_time; }
"""
    + _GATE.format(
        name="NAND2X1",
        inputs=_A + _B,
        function="(!(A B))",
        power=_power("A", "2, 4", "12, 14") + _power("B", "4, 6", "4, 6"),
    )
    + _GATE.format(name="INVX2", inputs=_A, function="(!A)", power=_power("A", "0, 0", "0, 0"))
    + """\
cell (DFFPOSX1) {
  area : 16;
  ff (IQ, IQN) { next_state : "D"; clocked_on : "CLK"; }
  pin(CLK) { direction : input; capacitance : 0.04; clock : true;
    internal_power() {
      rise_power(passive_2x1) { index_1 ("0.08, 0.28"); values ("0.0, 0.5"); }
      fall_power(passive_2x1) { index_1 ("0.08, 0.28"); values ("0.5, 0.5"); }
    }
  }
  pin(D) { direction : input; capacitance : 0.01; }
  pin(Q) { direction : output; function : "IQ"; }
}
cell (LATCH) { latch (IQ, IQN) { enable : "G"; }
  pin(G) { direction : input; capacitance : 0.01; }
  pin(Q) { direction : output; function : "IQ"; }
}
}
"""
)
