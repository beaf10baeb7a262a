// RUN: opt --pipeline expand --print-between --interpret
// CHECK: // expand: cel.program, 4 operations
// CHECK-NEXT: its text reads back as it was
// CHECK-NEXT: executed: the same bits in 1 tensor
// CHECK: "cel.plan"() ({
// CHECK: "cel.program"() ({
// CHECK-NEXT: "cel.program.load"() {{.*}}tensor = "a"
// CHECK-NEXT: "cel.program.load"() {{.*}}tensor = "b"
// CHECK-NEXT: "cel.program.products"() {{.*}}operator = "product"
// CHECK-NEXT: "cel.program.store"() {drain = {scale = 0.001 : f64}, {{.*}}tensor = "c"
"cel.lowered"() ({
  "cel.graph"() ({
    %a = "cel.tensor"() {name = "a"} : () -> memref<4x4xsi8>
    %b = "cel.tensor"() {name = "b"} : () -> memref<4x4xsi8>
    %c = "cel.tensor"() {name = "c"} : () -> memref<4x4xsi8>
    "cel.matmul"(%c, %a, %b) {b_transposed = false, finish = {kind = "Requantize", relu = false, scale = 0.001 : f64, zero_point = 0 : i64}, name = "product", roles = ["out", "a", "b"]} : (memref<4x4xsi8>, memref<4x4xsi8>, memref<4x4xsi8>) -> ()
    "cel.return"(%c) : (memref<4x4xsi8>) -> ()
  }) {inputs = ["a", "b"], name = "small"} : () -> ()
  "cel.plan"() ({
    "cel.plan.rings"() {at = "a", space = "scratchpad", spans = [[0 : i64, 1024 : i64]]} : () -> ()
    "cel.plan.rings"() {at = "b", space = "scratchpad", spans = [[1024 : i64, 1024 : i64], [2048 : i64, 1024 : i64], [3072 : i64, 1024 : i64]]} : () -> ()
    "cel.plan.rings"() {at = "sums", space = "accumulator", spans = [[0 : i64, 256 : i64], [256 : i64, 256 : i64]]} : () -> ()
    "cel.plan.linear"() {a = {first = 1 : i64, keep = false, ring = "a", tiles = 1 : i64}, drain = {by = "mvout", tiles = 1 : i64}, kind = "linear", op = "product", rows = [4 : i64], sums = "sums", tiles = [1 : i64], w = {columns = 1 : i64, k_tiles = 1 : i64, keep = false, pieces = 1 : i64, ring = "b"}} : () -> ()
  }) {graph = "small", machine = {accumulator_rows = 512 : i64, dim = 4 : i64, max_accumulator_blocks = 4 : i64, max_blocks = 16 : i64, parameter_rows = 128 : i64, scratchpad_rows = 4096 : i64, statistics_rows = 256 : i64}} : () -> ()
}) {config = {accumulator_kib = 8 : i64, bus_bits = 32 : i64, dim = 4 : i64, normalization = true, scratchpad_kib = 16 : i64}} : () -> ()
