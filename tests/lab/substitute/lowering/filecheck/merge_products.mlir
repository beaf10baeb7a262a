// RUN: opt --passes merge-products --interpret
// CHECK: // merge-products: 1 replaced
// CHECK-NEXT: it means the same
// CHECK: name = "q+1"{{.*}}-> memref<4x12xsi8>
// CHECK: "cel.matmul"({{.*}}) {{.*}}name = "pq+1"
// CHECK: %[[K:[0-9]+]] = "cel.view"(%{{[0-9]+}}) {col = 6 : i64, row = 0 : i64}
// CHECK: "cel.matmul"({{.*}}%[[K]]){{.*}}name = "scores"
"cel.graph"() ({
  %x = "cel.tensor"() {name = "x"} : () -> memref<4x8xsi8>
  %wq = "cel.constant"() {name = "wq", resource = "wq"} : () -> memref<8x6xsi8>
  %wk = "cel.constant"() {name = "wk", resource = "wk"} : () -> memref<8x6xsi8>
  %q = "cel.tensor"() {name = "q"} : () -> memref<4x6xsi8>
  %k = "cel.tensor"() {name = "k"} : () -> memref<4x6xsi8>
  %s = "cel.tensor"() {name = "s"} : () -> memref<4x4xsi32>
  "cel.matmul"(%q, %x, %wq) {b_transposed = false, finish = {kind = "Requantize", relu = false, scale = 1.0e-03 : f64, zero_point = 0 : i64}, name = "pq", roles = ["out", "a", "b"]} : (memref<4x6xsi8>, memref<4x8xsi8>, memref<8x6xsi8>) -> ()
  "cel.matmul"(%k, %x, %wk) {b_transposed = false, finish = {kind = "Requantize", relu = false, scale = 2.0e-03 : f64, zero_point = 0 : i64}, name = "pk", roles = ["out", "a", "b"]} : (memref<4x6xsi8>, memref<4x8xsi8>, memref<8x6xsi8>) -> ()
  "cel.matmul"(%s, %q, %k) {b_transposed = true, finish = {kind = "Sums"}, name = "scores", roles = ["out", "a", "b"]} : (memref<4x4xsi32>, memref<4x6xsi8>, memref<4x6xsi8>) -> ()
  "cel.return"(%s) : (memref<4x4xsi32>) -> ()
}) {inputs = ["x"], name = "shared input"} : () -> ()
