#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(LogSoftmaxOp, GivesLogarithmsOfSoftmax) {
  check_op({.op = "log_softmax",
            .inputs = {f32({2, 2}, {0, 0, 1000, 0})},
            .expect = {f32({2, 2}, {-0.69314718, -0.69314718, 0, -1000})},
            .tolerance = 1e-6});
  check_op({.op = "log_softmax",
            .inputs = {of(DType::kBFloat16, {2}, {0, 0})},
            .expect = {of(DType::kBFloat16, {2}, {-0.6931, -0.6931})},
            .tolerance = 0.01});
}

}  // namespace
}  // namespace spillway::testing
