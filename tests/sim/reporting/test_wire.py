"""The wire format of protocol buffers, beside the library's own encoder."""

import pytest
from google.protobuf import descriptor_pb2 as descriptors
from google.protobuf.internal import encoder

from celosia.sim.reporting.wire import fixed64, message, text, varint


def encoded(make, field: int, value) -> bytes:
    """What the library writes for a field that is neither repeated nor packed."""
    parts: list[bytes] = []
    make(field, False, False)(parts.append, value, False)
    return b"".join(parts)


@pytest.mark.parametrize("field", [1, 15, 16, 2047, 2048])
@pytest.mark.parametrize("value", [0, 1, 127, 128, 129, 255, 16383, 16384, (1 << 64) - 1])
def test_whole_numbers_are_those_of_the_library(field, value):
    assert varint(field, value) == encoded(encoder.UInt64Encoder, field, value)
    assert fixed64(field, value) == encoded(encoder.Fixed64Encoder, field, value)


@pytest.mark.parametrize("value", ["", "abc", "é" * 64, "x" * 127, "x" * 128])
def test_a_text_has_its_length_in_bytes(value):
    assert text(3, value) == encoded(encoder.StringEncoder, 3, value)


def test_a_message_is_read_back_with_all_of_its_parts():
    field = message(2, text(1, "x" * 200), varint(3, 7))
    found = descriptors.DescriptorProto.FromString(text(1, "name") + field + field)
    assert found.name == "name"
    assert [(each.name, each.number) for each in found.field] == [("x" * 200, 7)] * 2
