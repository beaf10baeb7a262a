"""What a command was given becomes options of a workload."""

from celosia.sim.command.options.common import OutType
from celosia.sim.workloads.workload_options import WorkloadOptions, workload_options


def test_arguments_of_other_names_and_those_not_given_are_left_out():
    arguments = {
        "workload": "matmul", "shape": "2x3x4", "relu": False, "out_type": OutType.INT16,
        "text": ["one", "two"], "keys": None, "preset": "tiny",
    }  # fmt: skip
    options = workload_options(arguments)
    assert options == WorkloadOptions(shape="2x3x4", out_type="int16", text=("one", "two"))
    assert options.given() == ("shape", "out_type", "text")


def test_an_empty_list_is_not_given():
    assert workload_options({"text": None}) == workload_options({"text": []}) == WorkloadOptions()
