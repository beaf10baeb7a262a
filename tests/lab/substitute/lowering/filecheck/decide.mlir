// RUN: opt --preset tiny --pipeline decide --print-between --interpret
// CHECK: // decide: cel.plan, 1 stage
// CHECK-NEXT: its text reads back as it was
// CHECK-NEXT: executed: the same bits in 1 tensor
// CHECK: "cel.lowered"() ({
// CHECK-NEXT: "cel.graph"() ({
// CHECK: "cel.plan"() ({
// CHECK: "cel.plan.rings"() {at = "a", space = "scratchpad", spans = {{.*}}
// CHECK: "cel.plan.linear"() {a = {{{.*}}ring = "a"{{.*}}}, {{.*}}op = "product", rows = [4 : i64]
// CHECK: }) {graph = "small", machine = {{{.*}}dim = 4 : i64{{.*}}}
// CHECK: }) {config = {{{.*}}dim = 4 : i64
"cel.graph"() ({
  %a = "cel.tensor"() {name = "a"} : () -> memref<4x4xsi8>
  %b = "cel.tensor"() {name = "b"} : () -> memref<4x4xsi8>
  %c = "cel.tensor"() {name = "c"} : () -> memref<4x4xsi8>
  "cel.matmul"(%c, %a, %b) {b_transposed = false, finish = {kind = "Requantize", relu = false, scale = 1.0e-03 : f64, zero_point = 0 : i64}, name = "product", roles = ["out", "a", "b"]} : (memref<4x4xsi8>, memref<4x4xsi8>, memref<4x4xsi8>) -> ()
  "cel.return"(%c) : (memref<4x4xsi8>) -> ()
}) {inputs = ["a", "b"], name = "small"} : () -> ()
