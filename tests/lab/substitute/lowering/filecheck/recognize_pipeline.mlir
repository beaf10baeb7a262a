// RUN: opt --pipeline recognize --print-between --interpret
// CHECK: // recognize: nn, 1 operator
// CHECK-NEXT: its text reads back as it was
// CHECK-NEXT: executed in float64: within the tolerance of proofs
// CHECK-NOT: nn.sigmoid
// CHECK: "nn.silu"
"nn.graph"() ({
  %x = "nn.input"() {name = "x"} : () -> tensor<4x8xf32>
  %s = "nn.sigmoid"(%x) {name = "s"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = "nn.mul"(%x, %s) {name = "y"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  "nn.return"(%y) {names = ["out"]} : (tensor<4x8xf32>) -> ()
}) {name = "swish"} : () -> ()
