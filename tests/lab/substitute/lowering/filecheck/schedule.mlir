// RUN: opt --pipeline schedule --print-between --interpret
// CHECK: // schedule: cel.program, 11 operations
// CHECK-NEXT: its text reads back as it was
// CHECK-NEXT: executed: the same bits in 1 tensor
// CHECK: "cel.program"() ({
// All four loads come before the first product.
// CHECK-NEXT: "cel.program.load"() {{.*}}row = 0 : i64, rows = 4 : i64, tensor = "a"
// CHECK-NEXT: "cel.program.load"() {{.*}}col = 0 : i64{{.*}}tensor = "b"
// CHECK-NEXT: "cel.program.load"() {{.*}}col = 4 : i64{{.*}}tensor = "b"
// CHECK-NEXT: "cel.program.load"() {{.*}}row = 4 : i64, rows = 4 : i64, tensor = "a"
// CHECK-NEXT: "cel.program.products"
"cel.lowered"() ({
  "cel.graph"() ({
    %a = "cel.tensor"() {name = "a"} : () -> memref<8x8xsi8>
    %b = "cel.tensor"() {name = "b"} : () -> memref<8x8xsi8>
    %c = "cel.tensor"() {name = "c"} : () -> memref<8x8xsi8>
    "cel.matmul"(%c, %a, %b) {b_transposed = false, finish = {kind = "Requantize", relu = false, scale = 0.001 : f64, zero_point = 0 : i64}, name = "product", roles = ["out", "a", "b"]} : (memref<8x8xsi8>, memref<8x8xsi8>, memref<8x8xsi8>) -> ()
    "cel.return"(%c) : (memref<8x8xsi8>) -> ()
  }) {inputs = ["a", "b"], name = "longer"} : () -> ()
  "cel.plan"() ({
    "cel.plan.rings"() {at = "a", space = "scratchpad", spans = [[0 : i64, 1024 : i64], [1024 : i64, 1024 : i64]]} : () -> ()
    "cel.plan.rings"() {at = "b", space = "scratchpad", spans = [[2048 : i64, 1024 : i64], [3072 : i64, 1024 : i64]]} : () -> ()
    "cel.plan.rings"() {at = "sums", space = "accumulator", spans = [[0 : i64, 256 : i64], [256 : i64, 256 : i64]]} : () -> ()
    "cel.plan.linear"() {a = {first = 2 : i64, ring = "a", tiles = 2 : i64}, drain = {by = "mvout", tiles = 2 : i64}, kind = "linear", op = "product", parts = [1 : i64, 1 : i64], rows = [4 : i64, 4 : i64], sums = "sums", tiles = [2 : i64], w = {columns = 1 : i64, k_tiles = 2 : i64, pieces = 1 : i64, ring = "b"}} : () -> ()
  }) {graph = "longer", machine = {accumulator_rows = 512 : i64, dim = 4 : i64, max_accumulator_blocks = 4 : i64, max_blocks = 16 : i64, parameter_rows = 128 : i64, scratchpad_rows = 4096 : i64, statistics_rows = 256 : i64}} : () -> ()
  "cel.program"() ({
    "cel.program.load"() {operator = "product", to = {blocks = 2 : i64, pitch = 4 : i64, row = 0 : i64, rows = 4 : i64, space = "scratchpad"}, view = {col = 0 : i64, cols = 8 : i64, row = 0 : i64, rows = 4 : i64, tensor = "a"}} : () -> ()
    "cel.program.load"() {operator = "product", to = {blocks = 1 : i64, pitch = 8 : i64, row = 2048 : i64, rows = 8 : i64, space = "scratchpad"}, view = {col = 0 : i64, cols = 4 : i64, row = 0 : i64, rows = 8 : i64, tensor = "b"}} : () -> ()
    "cel.program.products"() {a = 0 : i64, a_k = 4 : i64, accumulate = false, c = 0 : i64, c_column = 4 : i64, columns = 1 : i64, k = 2 : i64, last_cols = 4 : i64, last_depth = 4 : i64, operator = "product", pieces = 1 : i64, rows = 4 : i64, w = 2048 : i64, w_column = 8 : i64, w_k = 4 : i64} : () -> ()
    "cel.program.load"() {operator = "product", to = {blocks = 1 : i64, pitch = 8 : i64, row = 3072 : i64, rows = 8 : i64, space = "scratchpad"}, view = {col = 4 : i64, cols = 4 : i64, row = 0 : i64, rows = 8 : i64, tensor = "b"}} : () -> ()
    "cel.program.products"() {a = 0 : i64, a_k = 4 : i64, accumulate = false, c = 4 : i64, c_column = 4 : i64, columns = 1 : i64, k = 2 : i64, last_cols = 4 : i64, last_depth = 4 : i64, operator = "product", pieces = 1 : i64, rows = 4 : i64, w = 3072 : i64, w_column = 8 : i64, w_k = 4 : i64} : () -> ()
    "cel.program.store"() {drain = {scale = 0.001 : f64}, operator = "product", source = {blocks = 2 : i64, pitch = 4 : i64, row = 0 : i64, rows = 4 : i64, space = "accumulator"}, view = {col = 0 : i64, cols = 8 : i64, row = 0 : i64, rows = 4 : i64, tensor = "c"}} : () -> ()
    "cel.program.load"() {operator = "product", to = {blocks = 2 : i64, pitch = 4 : i64, row = 1024 : i64, rows = 4 : i64, space = "scratchpad"}, view = {col = 0 : i64, cols = 8 : i64, row = 4 : i64, rows = 4 : i64, tensor = "a"}} : () -> ()
    "cel.program.products"() {a = 1024 : i64, a_k = 4 : i64, accumulate = false, c = 256 : i64, c_column = 4 : i64, columns = 1 : i64, k = 2 : i64, last_cols = 4 : i64, last_depth = 4 : i64, operator = "product", pieces = 1 : i64, rows = 4 : i64, w = 2048 : i64, w_column = 8 : i64, w_k = 4 : i64} : () -> ()
    "cel.program.store"() {drain = {scale = 0.001 : f64}, operator = "product", source = {blocks = 1 : i64, pitch = 4 : i64, row = 256 : i64, rows = 4 : i64, space = "accumulator"}, view = {col = 0 : i64, cols = 4 : i64, row = 4 : i64, rows = 4 : i64, tensor = "c"}} : () -> ()
    "cel.program.products"() {a = 1024 : i64, a_k = 4 : i64, accumulate = false, c = 8 : i64, c_column = 4 : i64, columns = 1 : i64, k = 2 : i64, last_cols = 4 : i64, last_depth = 4 : i64, operator = "product", pieces = 1 : i64, rows = 4 : i64, w = 3072 : i64, w_column = 8 : i64, w_k = 4 : i64} : () -> ()
    "cel.program.store"() {drain = {scale = 0.001 : f64}, operator = "product", source = {blocks = 1 : i64, pitch = 4 : i64, row = 8 : i64, rows = 4 : i64, space = "accumulator"}, view = {col = 4 : i64, cols = 4 : i64, row = 4 : i64, rows = 4 : i64, tensor = "c"}} : () -> ()
  }) : () -> ()
}) {config = {accumulator_kib = 8 : i64, bus_bits = 32 : i64, dim = 4 : i64, normalization = true, scratchpad_kib = 16 : i64}} : () -> ()
