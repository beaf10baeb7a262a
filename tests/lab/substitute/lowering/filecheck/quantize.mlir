// RUN: opt --preset tiny --pipeline quantize --print-between --interpret
// CHECK: // quantize: cel, 2 operators in 2 segments, 1 operator of the host
// CHECK-NEXT: calibrated on random data
// CHECK-NEXT: its text reads back as it was
// CHECK-NEXT: executed: at most {{[0-9.]+}} of the largest element off
// CHECK: "cel.model"() ({
// CHECK: "cel.model.formats"() {at = {key = "x", role = "small"}, steps = "array {{[0-9]+}}", type = "int8"}
// CHECK: %[[X:.*]] = "nn.input"() {name = "x"}
// CHECK: "cel.segment"() ({
// CHECK-NEXT: "cel.graph"() ({
// CHECK: "cel.matmul"
// CHECK: %[[P:.*]] = "cel.read"() {name = "p"}
// CHECK: %[[S:.*]] = "nn.sin"(%[[P]])
// CHECK: "cel.segment"() ({
// CHECK: %[[Y:.*]] = "cel.read"() {name = "y"}
// CHECK: "nn.return"(%[[Y]]) {names = ["out"]}
"nn.graph"() ({
  %x = "nn.input"() {name = "x"} : () -> tensor<4x8xf32>
  %w = "nn.constant"() {name = "w", resource = "w"} : () -> tensor<8x8xf32>
  %v = "nn.constant"() {name = "v", resource = "v"} : () -> tensor<8x8xf32>
  %p = "nn.matmul"(%x, %w) {name = "p"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %s = "nn.sin"(%p) {name = "s"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = "nn.matmul"(%s, %v) {name = "y"} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  "nn.return"(%y) {names = ["out"]} : (tensor<4x8xf32>) -> ()
}) {name = "two segments"} : () -> ()
