"""Operands from files and from seeds."""

import io
from dataclasses import replace

import numpy as np
import pytest

from celosia.sim.support.problems import InputError
from celosia.sim.workloads.operands import (
    fitting_scale,
    load_array,
    load_operands,
    parse_shape,
    random_operands,
)
from celosia.sw.ir.matmul import MatMul
from celosia.sw.reference.matmul import matmul_reference

FORM = MatMul(m=1, n=1, k=1, scale=1.0)


def save(folder, **arrays):
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return [folder / f"{name}.npy" for name in arrays]


def test_a_shape_is_three_numbers():
    assert parse_shape("512x768x64") == (512, 768, 64)


@pytest.mark.parametrize(
    "text",
    ["", "4x4", "4x4x4x4", "4x4x", "axbxc", "-4x4x4", "4 x4x4", "4.0x4x4", "٤x٤x٤", "9" * 99],
)
def test_anything_else_is_not(text):
    with pytest.raises(InputError, match="write it as MxNxK"):
        parse_shape(text)


def test_random_operands_are_those_of_their_seed():
    problem = MatMul(m=5, n=6, k=7, bias=True, scale=1.0)
    first, again, other = (random_operands(problem, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.a, again.a)
    assert np.array_equal(first.b, again.b)
    assert first.bias is not None
    assert again.bias is not None
    assert np.array_equal(first.bias, again.bias)
    assert not np.array_equal(first.a, other.a)


def test_random_operands_use_all_of_their_types():
    problem = MatMul(m=100, n=100, k=100, a_unsigned=True, b_transposed=True)
    operands = random_operands(problem, 0)
    assert (operands.a.dtype, operands.b.dtype) == (np.uint8, np.int8)
    assert (operands.a.min(), operands.a.max()) == (0, 255)
    assert (operands.b.min(), operands.b.max()) == (-128, 127)
    assert operands.bias is None


@pytest.mark.parametrize("k", [1, 64, 3072])
def test_random_results_fill_int8_but_seldom_saturate(k):
    problem = MatMul(m=50, n=50, k=k, bias=True, scale=fitting_scale(k))
    operands = random_operands(problem, 3)
    c = matmul_reference(operands.a, operands.b, operands.bias, scale=problem.scale)
    assert c.std() > 25
    assert np.isin(c, (-128, 127)).mean() < 0.2


@pytest.mark.parametrize("transposed", [False, True])
def test_files_have_their_shape_and_types(tmp_path, transposed):
    a, b = np.ones((5, 7), np.uint8), np.ones((7, 3), np.int8)
    paths = save(tmp_path, a=a, b=b.T if transposed else b, d=np.zeros(3, np.int32))
    operands = load_operands(replace(FORM, b_transposed=transposed), *paths)
    assert operands.problem == MatMul(
        m=5, n=3, k=7, a_unsigned=True, b_transposed=transposed, bias=True, scale=1.0
    )
    assert operands.a.flags.c_contiguous


def test_byte_order_and_layout_of_files_do_not_matter(tmp_path):
    (path,) = save(tmp_path, d=np.arange(3, dtype=">i4"))
    array = load_array("--bias", path, (np.int32,), 1)
    assert array.dtype == np.dtype(np.int32)
    assert array.tolist() == [0, 1, 2]
    (path,) = save(tmp_path, a=np.asfortranarray(np.arange(6, dtype=np.int8).reshape(2, 3)))
    array = load_array("--a", path, (np.int8,), 2)
    assert array.flags.c_contiguous
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("b", "bias", "message"),
    [
        (np.ones((6, 3), np.int8), None, r"--b .*: 6x3 does not match A's 5x7 .*6 is not 7"),
        (np.ones((8, 3), np.int8), None, r"--b .*: 8x3 does not match A's 5x7 .*8 is not 7"),
        (np.ones((7, 3), np.uint8), None, r"--b .*: elements are uint8, must be int8"),
        (np.ones(7, np.int8), None, r"--b .*: shape \(7,\), must have 2 dimensions"),
        (np.ones((7, 0), np.int8), None, r"--b .*: every size must be at least 1"),
        (np.ones((7, 3), np.int8), np.ones(4, np.int32), r"--bias .*: 4 elements.* 3 columns"),
        (np.ones((7, 3), np.int8), np.ones(3, np.int64), r"--bias .*: elements are int64"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path, b, bias, message):
    a_path, b_path = save(tmp_path, a=np.ones((5, 7), np.int8), b=b)
    bias_path = None if bias is None else save(tmp_path, d=bias)[0]
    with pytest.raises(InputError, match=message):
        load_operands(FORM, a_path, b_path, bias_path)


def test_signed_files_are_not_unsigned(tmp_path):
    a_path, b_path = save(tmp_path, a=np.ones((5, 7), np.int8), b=np.ones((7, 3), np.int8))
    with pytest.raises(InputError, match="int8, but --unsigned-a says uint8"):
        load_operands(replace(FORM, a_unsigned=True), a_path, b_path, None)


def array_file(array, cut=None):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()[:cut]


def with_header(text):
    raw = text.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(raw).to_bytes(2, "little") + raw


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"\x93NUMPY",
        array_file(np.ones((50, 50), np.int8), cut=-1),
        array_file(np.ones((50, 50), np.int8), cut=60),
        array_file(np.array([{}], dtype=object)),
        with_header("{'descr': '|i1', 'fortran_order': False, 'shape': (1 << 62, 1)}"),
        with_header("{'descr': '|i1', 'fortran_order': False, 'shape': (4611686018427387904, 8)}"),
        with_header("{'descr': '|i1', 'fortran_order': False, 'shape': (-1, 1)}"),
        with_header("{'descr': 'what', 'fortran_order': False, 'shape': (1, 1)}"),
        with_header("(" * 90),
        b"\x93NUMPY\x03\x00" + with_header("{}")[8:],
    ],
)
def test_a_file_that_is_broken_or_hostile_is_refused(tmp_path, data):
    path = tmp_path / "a.npy"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"--a .*a\.npy: (not a|elements|shape)"):
        load_array("--a", path, (np.int8,), 2)


def test_an_archive_is_not_an_array(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.ones(3, np.int8))
    with pytest.raises(InputError, match=r"not a \.npy file"):
        load_array("--a", tmp_path / "a.npz", (np.int8,), 1)


@pytest.mark.parametrize("name", ["missing.npy", "."])
def test_a_file_that_cannot_be_opened_is_named(tmp_path, name):
    with pytest.raises(
        InputError, match=f"--a .*{name}: (No such file|is a directory, not a regular file)"
    ):
        load_array("--a", tmp_path / name, (np.int8,), 1)


@pytest.mark.parametrize(("form", "count"), [("MxNxK", "three"), ("RxC", "two")])
def test_a_shape_of_another_form_is_told_how_many_numbers_it_has(form, count):
    with pytest.raises(InputError, match=f"write it as {form}, {count} whole numbers"):
        parse_shape("8", form)


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_both_lengths_of_headers_are_read(version, tmp_path):
    array, path = np.array([[1, -2], [3, 4]], np.int8), tmp_path / "a.npy"
    with path.open("wb") as file:
        np.lib.format.write_array(file, array, version)
    assert (load_array("--a", path, (np.int8,), 2) == array).all()
