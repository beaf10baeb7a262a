#include "text.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace celosia {

namespace {

std::string print(const char* format, uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, format, value);
  return text;
}

std::string format_local(uint64_t word) {
  if (word == kGarbage) return "none";
  std::string text = (word & kAccumulatorBit ? "acc[" : "sp[") + print("%" PRIu64, word & kRowMask);
  text += "]";
  if (word & kAccumulateBit) text += "+accumulate";
  if (word & kFullBit) text += "+full";
  uint64_t norm = word >> kNormLow & kNormMask;
  return norm ? text + "+norm=" + print("%" PRIu64, norm) : text;
}

std::string format_float(uint64_t bits) {
  uint32_t word = uint32_t(bits);
  float value;
  memcpy(&value, &word, sizeof value);
  char text[32];
  snprintf(text, sizeof text, "%.9g", double(value));
  return text;
}

std::string format_value(const Field& field, uint64_t value) {
  switch (field.kind) {
    case kDram:
      return print("0x%" PRIx64, value);
    case kLocal:
      return format_local(value);
    case kFloat:
      return format_float(value);
    case kSigned:
      return print("%" PRId64, uint64_t(int64_t(value << (64 - field.bits)) >> (64 - field.bits)));
    default:
      return print("%" PRIu64, value);
  }
}

uint64_t value_of(const Field& field, const Command& command) {
  uint64_t word = field.second ? command.rs2 : command.rs1;
  return word >> field.low & ~uint64_t(0) >> (64 - field.bits);
}

bool is(const Instruction& instruction, const Command& command) {
  if (instruction.funct != command.funct) return false;
  for (uint32_t i = 0; i < instruction.count; i++) {
    const Field& field = instruction.fields[i];
    if (field.fixed && value_of(field, command) != field.value) return false;
  }
  return true;
}

}  // namespace

std::string format_command(const Command& command) {
  for (const Instruction& instruction : kInstructions) {
    if (!is(instruction, command)) continue;
    std::string text = instruction.name;
    for (uint32_t i = 0; i < instruction.count; i++) {
      const Field& field = instruction.fields[i];
      uint64_t value = value_of(field, command);
      bool shown = value != field.value || field.kind == kDram || field.kind == kLocal;
      if (field.fixed || !shown) continue;
      text += std::string(" ") + field.name + "=" + format_value(field, value);
    }
    return text;
  }
  return ".word " + print("0x%" PRIx64, command.funct) + print(" 0x%" PRIx64, command.rs1) +
         print(" 0x%" PRIx64, command.rs2);
}

}  // namespace celosia
