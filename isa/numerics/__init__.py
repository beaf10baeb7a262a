"""Bit-exact integer arithmetic of the accelerator, in NumPy.

These functions *define* what the hardware computes.  The RTL tests, the functional simulator and
the compiler call them; none has a second copy.  All are vectorized: they take arrays of any shape
and return a new array of the broadcast shape (for plain numbers: a NumPy scalar or 0-d array).
Operators on rows work along the last dimension.  `docs/numerics.md` explains the formats.

An operand outside its stated range is a `ValueError` that names it, one that does not consist of
integers a `TypeError`.
"""

from celosia.isa.numerics.activation import (
    GELU,
    GELU_FRACTION_BITS,
    GELU_SCALE,
    GeluConstants,
    gelu,
    raw_gelu,
)
from celosia.isa.numerics.attention import (
    CONTEXT_FRACTION_BITS,
    SCORE_BITS,
    attention_scores,
    causal_mask,
    context,
    deferred_context,
    deferred_softmax,
    dither,
    numerators,
    padding_mask,
    probabilities,
    softmax,
)
from celosia.isa.numerics.bert import (
    inverse_deviation,
    inverse_sum,
    truncated_mean,
    wrapped_exponential,
    wrapped_gelu,
)
from celosia.isa.numerics.exponential import (
    DITHER_COLUMNS,
    EXPONENT,
    EXPONENT_FRACTION_BITS,
    ExponentConstants,
    exponent,
)
from celosia.isa.numerics.integers import (
    INT8_MAX,
    INT8_MIN,
    INT16_MAX,
    INT16_MIN,
    INT32_MAX,
    INT32_MIN,
    MAX_COLUMNS,
    IntArray,
    nearest,
    relu,
    round_half_up,
    round_shift,
    saturate,
    wrap32,
)
from celosia.isa.numerics.multiplication import multiply
from celosia.isa.numerics.normalization import (
    NORMALIZED_FRACTION_BITS,
    Affine,
    RowStatistics,
    RowSums,
    layernorm,
    layernorm_pair,
    normalize,
    normalize_by,
    rmsnorm,
    row_statistics,
    row_sums,
)
from celosia.isa.numerics.pooling import (
    max_pool,
)
from celosia.isa.numerics.products import (
    add_bias,
    exact_matmul,
    fold_zero_point,
    matmul,
)
from celosia.isa.numerics.residual import (
    residual_add,
)
from celosia.isa.numerics.roots import (
    ISQRT_BITS,
    isqrt,
    reciprocal31,
    reciprocal32,
    reciprocal_float32,
)
from celosia.isa.numerics.rotation import rotate
from celosia.isa.numerics.scaling import (
    long_scales,
    mvin_scale,
    requantize,
    requantize_to,
    round_scales,
    scale_from_bits,
)

__all__ = [
    "CONTEXT_FRACTION_BITS",
    "DITHER_COLUMNS",
    "EXPONENT",
    "EXPONENT_FRACTION_BITS",
    "GELU",
    "GELU_FRACTION_BITS",
    "GELU_SCALE",
    "INT8_MAX",
    "INT8_MIN",
    "INT16_MAX",
    "INT16_MIN",
    "INT32_MAX",
    "INT32_MIN",
    "ISQRT_BITS",
    "MAX_COLUMNS",
    "NORMALIZED_FRACTION_BITS",
    "SCORE_BITS",
    "Affine",
    "ExponentConstants",
    "GeluConstants",
    "IntArray",
    "RowStatistics",
    "RowSums",
    "add_bias",
    "attention_scores",
    "causal_mask",
    "context",
    "deferred_context",
    "deferred_softmax",
    "dither",
    "exact_matmul",
    "exponent",
    "fold_zero_point",
    "gelu",
    "inverse_deviation",
    "inverse_sum",
    "isqrt",
    "layernorm",
    "layernorm_pair",
    "long_scales",
    "matmul",
    "max_pool",
    "multiply",
    "mvin_scale",
    "nearest",
    "normalize",
    "normalize_by",
    "numerators",
    "padding_mask",
    "probabilities",
    "raw_gelu",
    "reciprocal31",
    "reciprocal32",
    "reciprocal_float32",
    "relu",
    "requantize",
    "requantize_to",
    "residual_add",
    "rmsnorm",
    "rotate",
    "round_half_up",
    "round_scales",
    "round_shift",
    "row_statistics",
    "row_sums",
    "saturate",
    "scale_from_bits",
    "softmax",
    "truncated_mean",
    "wrap32",
    "wrapped_exponential",
    "wrapped_gelu",
]
