"""Headers that take the place of those which Gemmini's generator and toolchain provide."""

from pathlib import Path
from typing import Final

from celosia.isa.bert import STATISTICS
from celosia.isa.config import MAX_REQUEST_BYTES, AcceleratorConfig

__all__ = ["gemmini_headers"]

_PARAMETERS: Final = Path("include", "gemmini_params.h")
_CUSTOM: Final = Path("rocc-software", "src", "xcustom.h")


def gemmini_headers(config: AcceleratorConfig) -> dict[Path, str]:
    """Texts by their path in a directory that precedes Gemmini's own on the include path."""
    return {_PARAMETERS: _parameters(config), _CUSTOM: _CUSTOM_TEXT}


def _parameters(config: AcceleratorConfig) -> str:
    values = {
        "DIM": config.dim,
        "BANK_NUM": config.scratchpad_banks,
        "BANK_ROWS": config.scratchpad_bank_rows,
        "ACC_ROWS": config.accumulator_rows,
        "MAX_BYTES": MAX_REQUEST_BYTES,
        "MAX_BLOCK_LEN": config.max_blocks,
        "MAX_BLOCK_LEN_ACC": config.max_accumulator_blocks,
    }
    sizes = "\n".join(f"#define {name} {value}" for name, value in values.items())
    abilities = "".join(
        f"#define {name}\n"
        for name, built in (
            ("HAS_FIRST_LAYER_OPTIMIZATIONS", getattr(config, "convolution", False)),
            ("HAS_NORMALIZATIONS", getattr(config, "bert", False)),
            (f"NORM_STAT_IDS {STATISTICS}", getattr(config, "bert", False)),
        )
        if built
    )
    return _PARAMETERS_HEAD + sizes + "\n" + _PARAMETERS_TAIL.replace("@ABILITIES@\n", abilities)


_PARAMETERS_HEAD: Final = """\
/* What Gemmini's programs know of the accelerator, for one of Celosia's configurations.
 * Written by `celosia c-host build`.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GEMMINI_PARAMS_H
#define GEMMINI_PARAMS_H

#include <limits.h>
#include <stdint.h>

#define XCUSTOM_ACC 3 /* Not used: there is one accelerator. */
#define ADDR_LEN 32   /* Of a local address. */
"""

_PARAMETERS_TAIL: Final = """
/* Elements, sums, and what a program computes with to compare. */
typedef int8_t elem_t;
typedef int32_t acc_t;
typedef int64_t full_t;
static const elem_t elem_t_max = 127;
static const elem_t elem_t_min = -128;

/* Scales are floats: of elements on their way in (MVIN), and of sums on their way out (MVOUT). */
#define HAS_MVIN_SCALE
typedef float scale_t;
typedef uint32_t scale_t_bits;
typedef int32_t scale_acc_t;
typedef uint32_t scale_acc_t_bits;
typedef float acc_scale_t;
typedef uint32_t acc_scale_t_bits;
#define ACC_SCALE_T_IS_FLOAT
#define ACC_SCALE_EXP_BITS 8
#define ACC_SCALE_SIG_BITS 24
#define ACC_READ_SMALL_WIDTH
#define ACC_READ_FULL_WIDTH
@ABILITIES@

#define MVIN_SCALE_IDENTITY 1.0
#define ACC_SCALE_IDENTITY 1.0

/* Of arrays whose rows the accelerator moves; any alignment works. */
#define row_align(blocks) __attribute__((aligned((blocks) * DIM * sizeof(elem_t))))
#define row_align_acc(blocks) __attribute__((aligned((blocks) * DIM * sizeof(acc_t))))

/* The accelerator's arithmetic: to nearest, ties to even; saturation to elem_t. */
static inline int64_t celosia_saturate(int64_t x) {
  return x > elem_t_max ? elem_t_max : x < elem_t_min ? elem_t_min : x;
}

static inline int64_t celosia_round_shift(int64_t x, int shift) {
  int64_t kept, rest, half;
  if (shift <= 0) return (int64_t)((uint64_t)x << -shift);
  kept = x >> shift;
  rest = x - (int64_t)((uint64_t)kept << shift);
  half = (int64_t)1 << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1)));
}

static inline double celosia_round(double x) {
  double whole = (double)(int64_t)x, rest = x - whole;
  if (rest > 0.5 || (rest == 0.5 && ((int64_t)whole & 1))) return whole + 1;
  if (rest < -0.5 || (rest == -0.5 && ((int64_t)whole & 1))) return whole - 1;
  return whole;
}

static inline int64_t celosia_scale(float x, float scale) {
  float scaled = x * scale;
  if (scaled >= 127.0f) return elem_t_max;
  if (scaled <= -128.0f) return elem_t_min;
  return celosia_saturate((int64_t)celosia_round(scaled));
}

#ifdef __cplusplus
#define SAME_TYPE(x) decltype(x)
#else
#define SAME_TYPE(x) __typeof__(x)
#endif

/* The second name is that of later versions. */
#define ROUNDING_RIGHT_SHIFT(x, shift) celosia_round_shift((x), (shift))
#define ROUNDING_RIGHT_SHIFT_BITS(x, shift) celosia_round_shift((x), (shift))
#define ROUND_NEAR_EVEN(x) celosia_round(x)
#define ACC_SCALE(x, scale) ((acc_t)celosia_scale((float)(x), (scale)))
#define MVIN_SCALE(x, scale) ((elem_t)celosia_scale((float)(x), (scale)))
#define MVIN_SCALE_ACC(x, scale) (x) /* Sums are loaded as they are. */

#endif
"""

_CUSTOM_TEXT: Final = """\
/* Rocket's custom instructions, as calls of the Celosia library instead.
 * Written by `celosia c-host build`.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROCC_SOFTWARE_SRC_XCUSTOM_H_
#define ROCC_SOFTWARE_SRC_XCUSTOM_H_

#include "celosia.h"

/* Without a result; and with one, which only COUNTER has. */
#define ROCC_INSTRUCTION_0_R_R(x, rs1, rs2, funct) \\
  { (void)celosia_cmd((funct), (uint64_t)(rs1), (uint64_t)(rs2)); }
#define ROCC_INSTRUCTION_R_R_R(x, rd, rs1, rs2, funct) \\
  { (void)(rs2); (rd) = celosia_cmd((funct), (uint64_t)(rs1), 0); }
#define ROCC_INSTRUCTION(x, rd, rs1, rs2, funct) ROCC_INSTRUCTION_R_R_R(x, rd, rs1, rs2, funct)
#define ROCC_INSTRUCTION_SS(x, rs1, rs2, funct) ROCC_INSTRUCTION_0_R_R(x, rs1, rs2, funct)
#define ROCC_INSTRUCTION_S(x, rs1, funct) ROCC_INSTRUCTION_0_R_R(x, rs1, 0, funct)

/* A processor's own work takes time, and here it takes none: Gemmini's programs read the clock, and
 * then results, without a fence.  So the clock is read when all has ended and is in memory. */
#define celosia_cycles() (celosia_fence(), (celosia_cycles)())

#endif
"""
