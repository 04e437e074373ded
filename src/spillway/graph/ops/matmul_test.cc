#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(MatmulOp, MultipliesMatricesAndBroadcastsBatches) {
  const Tensor a = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = f32({3, 2}, {1, 0, 2, 1, 0, 3});
  check_op({.op = "matmul", .inputs = {a, b}, .expect = {f32({2, 2}, {5, 11, 14, 23})}});
  check_op({.op = "matmul",
            .inputs = {a, a},
            .attrs = {{"transpose_b", true}},
            .expect = {f32({2, 2}, {14, 32, 32, 77})}});
  check_op({.op = "matmul",
            .inputs = {i32({2, 1, 2}, {1, 2, 3, 4}), i32({2, 1}, {5, 6})},
            .expect = {i32({2, 1, 1}, {17, 39})}});
  check_op({.op = "matmul",
            .inputs = {c64({1, 1}, {1, 2}), c64({1, 1}, {3, 4})},
            .attrs = {{"adjoint_a", true}},
            .expect = {c64({1, 1}, {11, -2})}});
}

TEST(MatmulOp, AgreesWithItselfForLargeAndNarrowOperands) {
  for (const DType type :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt64}) {
    std::vector<double> ones(37 * 41, 1), tall(41 * 67, 2);
    check_op({.op = "matmul",
              .inputs = {of(type, {37, 41}, ones), of(type, {41, 67}, tall)},
              .expect = {of(type, {37, 67}, std::vector<double>(37 * 67, 82))}});
    check_op({.op = "matmul",
              .inputs = {of(type, {37, 41}, ones), of(type, {1, 41}, std::vector<double>(41, 3))},
              .attrs = {{"transpose_b", true}},
              .expect = {of(type, {37, 1}, std::vector<double>(37, 123))}});
  }
}

TEST(MatmulOp, RefusesSizesThatDoNotFit) {
  expect_refused("matmul", {f32({2, 3}, {}), f32({2, 3}, {})}, {},
                 "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]");
  expect_refused("matmul", {f32({3}, {}), f32({3, 2}, {})}, {}, "ndims must be >= 2");
}

}  // namespace
}  // namespace spillway::testing
