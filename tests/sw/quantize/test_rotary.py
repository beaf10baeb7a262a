"""Tables of rotary embeddings against angles that are known."""

import numpy as np

from celosia.sw.quantize.rotary import rotary_table


def test_angles_are_positions_times_frequencies():
    table = rotary_table(np.array([0, 1, 3]), 4)
    assert table.dtype == np.int16
    assert table[0].tolist() == [32767, 32767, 0, 0]
    real = [[np.cos(p), np.cos(p / 100), np.sin(p), np.sin(p / 100)] for p in (1, 3)]
    assert np.abs(table[1:] / 2**15 - real).max() <= 2.0**-16
