// RUN: opt --passes activations,norms --interpret
// CHECK: // activations: 1 replaced
// CHECK-NEXT: it means the same
// CHECK: "nn.silu"(%x) {name = "silu", with = {alpha = 1.0 : f64}}
// CHECK-NOT: nn.sigmoid
"nn.graph"() ({
  %x = "nn.input"() {name = "x"} : () -> tensor<4x8xf32>
  %s = "nn.sigmoid"(%x) {name = "s"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = "nn.mul"(%x, %s) {name = "y"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  "nn.return"(%y) {names = ["y"]} : (tensor<4x8xf32>) -> ()
}) {name = "silu"} : () -> ()
