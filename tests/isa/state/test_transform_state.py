"""What CONFIG_TRANSFORM commands leave behind: strides are dim at first; each sets its own."""

from celosia.isa import encoding
from celosia.isa.presets import PRESETS
from celosia.isa.state.state import ArchState
from celosia.isa.state.transform_state import TRANSFORM_CONFIGS, TransformState

STRIDES = {"source_stride", "target_stride", "residual_stride", "target2_stride"}


def test_after_a_reset_strides_are_the_arrays_and_all_else_its_default():
    for preset in ("tiny", "base"):
        state, seen = TransformState.reset(PRESETS[preset]), set()
        for instruction in TRANSFORM_CONFIGS:
            for field in instruction.operands:
                stride = field.name in STRIDES
                seen |= {field.name} if stride else set()
                wanted = PRESETS[preset].dim if stride else field.default
                assert state.get(instruction, field.name) == wanted
        assert seen == STRIDES


def test_a_command_sets_its_own_fields():
    before = ArchState.reset(PRESETS["tiny"])
    values = {field.name: 1 for field in encoding.CONFIG_NORM.operands}
    after = before.config_transform(encoding.CONFIG_NORM, values)
    for instruction in TRANSFORM_CONFIGS:
        for field in instruction.operands:
            old = before.transform.get(instruction, field.name)
            wanted = 1 if instruction is encoding.CONFIG_NORM else old
            assert after.transform.get(instruction, field.name) == wanted
    assert before == ArchState.reset(PRESETS["tiny"])
