"""Signals of waveforms, cycle by cycle."""

from celosia.sim.export.silicon.power.waves import read_wave

WAVE = """\
$timescale 100ps $end
 $scope module $rootio $end
 $upscope $end
 $scope module top $end
  $var wire 1 ! clk $end
  $scope module part $end
   $var wire 1 ! clk $end
   $var wire 4 # port$7$0 [3:0] $end
   $var wire 1 $ valid $end
  $upscope $end
 $upscope $end
$enddefinitions $end


#70
1!
b0011 #
0$
#75
0!
1$
#80
1!
#85
0!
#100
1!
b1000 #
"""


def test_a_scope(tmp_path):
    path = tmp_path / "w.vcd"
    path.write_text(WAVE)
    (found,) = read_wave(path, ["top.part", "top.none"])
    signals = found["top.part"].signals
    assert found["top.none"].signals == {}
    assert signals.keys() == {"clk", "port$7$0", "valid"}
    # Cycles 7, 8, 9 and 10: what a signal has at the end of each.
    assert signals["port$7$0"].tolist() == [[1, 1, 0, 0]] * 3 + [[0, 0, 0, 1]]
    assert signals["valid"].tolist() == [[1]] * 4
    assert signals["clk"].tolist() == [[0], [0], [0], [1]]


def test_spans_are_apart(tmp_path):
    """What stands between them is in none; what does not change keeps its value in all."""
    path = tmp_path / "w.vcd"
    path.write_text(WAVE)
    first, second = read_wave(path, ["top.part"], [(7, 9), (10, 11)])
    assert first["top.part"].signals["port$7$0"].tolist() == [[1, 1, 0, 0]] * 2
    assert first["top.part"].signals["clk"].tolist() == [[0], [0]]
    assert second["top.part"].signals["port$7$0"].tolist() == [[0, 0, 0, 1]]
    assert second["top.part"].signals["valid"].tolist() == [[1]]
