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

// What every instruction set and split owes is tested in gemm_test.cc; here, that threads get
// there.
TEST(MatmulOp, LargeProductsAndLargeBatchesAreTheSameWhenShared) {
  for (const DType type : {DType::kFloat32, DType::kFloat16, DType::kInt32}) {
    check_op({.op = "matmul",
              .inputs = {of(type, {300, 60}, std::vector<double>(300 * 60, 1)),
                         of(type, {60, 600}, std::vector<double>(60 * 600, 2))},
              .expect = {of(type, {300, 600}, std::vector<double>(300 * 600, 120))}});
  }
  check_op({.op = "matmul",
            .inputs = {f32({70, 50, 40}, std::vector<double>(70 * 50 * 40, 1)),
                       f32({60, 40}, std::vector<double>(60 * 40, 2))},
            .attrs = {{"transpose_b", true}},
            .expect = {f32({70, 50, 60}, std::vector<double>(70 * 50 * 60, 80))}});
}

TEST(MatmulOp, TakesAnyMixOfTransposesAndAdjoints) {
  const Tensor a = c64({1, 2}, {1, 2, 3, 4});
  const Tensor turned = c64({2, 1}, {1, 2, 3, 4});
  const Tensor b = c64({2, 1}, {5, 6, 7, 8});
  check_op({.op = "matmul", .inputs = {a, b}, .expect = {c64({1, 1}, {-18, 68})}});
  check_op({.op = "matmul",
            .inputs = {turned, b},
            .attrs = {{"transpose_a", true}},
            .expect = {c64({1, 1}, {-18, 68})}});
  check_op({.op = "matmul",
            .inputs = {turned, b},
            .attrs = {{"adjoint_a", true}},
            .expect = {c64({1, 1}, {70, -8})}});
  check_op({.op = "matmul",
            .inputs = {turned, c64({1, 2}, {5, 6, 7, 8})},
            .attrs = {{"adjoint_a", true}, {"adjoint_b", true}},
            .expect = {c64({1, 1}, {-18, -68})}});
}

TEST(MatmulOp, MakesZerosOfNothingAndNothingOfNothing) {
  check_op({.op = "matmul",
            .inputs = {f32({2, 0}, {}), f32({0, 3}, {})},
            .expect = {f32({2, 3}, {0, 0, 0, 0, 0, 0})}});
  check_op({.op = "matmul",
            .inputs = {f32({0, 2, 3}, {}), f32({3, 4}, std::vector<double>(12, 1))},
            .expect = {f32({0, 2, 4}, {})}});
}

TEST(MatmulOp, RefusesSizesThatDoNotFit) {
  expect_refused("matmul", {f32({2, 3}, {}), f32({2, 3}, {})}, {},
                 "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]");
  expect_refused("matmul", {f32({3}, {}), f32({3, 2}, {})}, {}, "ndims must be >= 2");
}

}  // namespace
}  // namespace spillway::testing
