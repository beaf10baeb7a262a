// RUN: opt --passes drop-unread,close-gaps,finish-in-product --print-between --interpret
// CHECK: // drop-unread: 1 replaced
// CHECK-NEXT: it means the same
// CHECK-NOT: name = "nobody"
// CHECK: // close-gaps:
// CHECK: name = "s.kept"{{.*}}-> memref<1x6xsi32>
// CHECK: // finish-in-product: 1 replaced
// CHECK-NEXT: it means the same
// CHECK: "cel.matmul"({{.*}}) {{.*}}finish = {kind = "Requantize"
// CHECK-NOT: cel.transform
"cel.graph"() ({
  %x = "cel.tensor"() {name = "x"} : () -> memref<4x8xsi8>
  %w = "cel.constant"() {name = "w", resource = "w"} : () -> memref<8x6xsi8>
  %s = "cel.tensor"() {name = "s"} : () -> memref<4x6xsi32>
  %n = "cel.tensor"() {name = "n"} : () -> memref<4x6xsi32>
  %y = "cel.tensor"() {name = "y"} : () -> memref<1x6xsi8>
  "cel.matmul"(%s, %x, %w) {b_transposed = false, finish = {kind = "Sums"}, name = "product", roles = ["out", "a", "b"]} : (memref<4x6xsi32>, memref<4x8xsi8>, memref<8x6xsi8>) -> ()
  "cel.matmul"(%n, %x, %w) {b_transposed = false, finish = {kind = "Sums"}, name = "nobody", roles = ["out", "a", "b"]} : (memref<4x6xsi32>, memref<4x8xsi8>, memref<8x6xsi8>) -> ()
  %first = "cel.view"(%s) {col = 0 : i64, row = 0 : i64} : (memref<4x6xsi32>) -> memref<1x6xsi32>
  "cel.transform"(%y, %first) {finish = {kind = "Requantize", relu = false, scale = 1.0e-03 : f64, zero_point = 0 : i64}, name = "finish", roles = ["out", "source"]} : (memref<1x6xsi8>, memref<1x6xsi32>) -> ()
  "cel.return"(%y) : (memref<1x6xsi8>) -> ()
}) {inputs = ["x"], name = "one row"} : () -> ()
