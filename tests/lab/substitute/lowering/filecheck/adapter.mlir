// RUN: opt --passes fold-factors,associate-right,merge-sums --print-between --interpret
// CHECK: // fold-factors: 1 replaced
// CHECK: // associate-right: 1 replaced
// CHECK-NEXT: it means the same
// CHECK: // merge-sums: 1 replaced
// CHECK-NEXT: it means the same
// CHECK: "nn.matmul"(%x, %{{.*}})
// CHECK-NOT: "nn.matmul"
"nn.graph"() ({
  %x = "nn.input"() {name = "x"} : () -> tensor<1x4x8xf32>
  %w = "nn.constant"() {name = "w", resource = "w"} : () -> tensor<8x6xf32>
  %a = "nn.constant"() {name = "a", resource = "a"} : () -> tensor<8x2xf32>
  %b = "nn.constant"() {name = "b", resource = "b"} : () -> tensor<2x6xf32>
  %h = "nn.constant"() {name = "half", resource = "half"} : () -> tensor<f32>
  %0 = "nn.matmul"(%x, %w) {name = "wide"} : (tensor<1x4x8xf32>, tensor<8x6xf32>) -> tensor<1x4x6xf32>
  %1 = "nn.matmul"(%x, %a) {name = "narrow"} : (tensor<1x4x8xf32>, tensor<8x2xf32>) -> tensor<1x4x2xf32>
  %2 = "nn.matmul"(%1, %b) {name = "back"} : (tensor<1x4x2xf32>, tensor<2x6xf32>) -> tensor<1x4x6xf32>
  %3 = "nn.mul"(%2, %h) {name = "scaled"} : (tensor<1x4x6xf32>, tensor<f32>) -> tensor<1x4x6xf32>
  %4 = "nn.add"(%0, %3) {name = "sum"} : (tensor<1x4x6xf32>, tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  "nn.return"(%4) {names = ["y"]} : (tensor<1x4x6xf32>) -> ()
}) {name = "adapter"} : () -> ()
