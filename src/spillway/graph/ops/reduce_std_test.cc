#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ReduceStdOp, IsTheRootOfTheVariance) {
  check_op({.op = "reduce_std",
            .inputs = {f32({2, 2}, {1, 2, 3, 6})},
            .attrs = {{"axis", std::vector<std::int64_t>{0}}, {"keepdims", true}},
            .expect = {f32({1, 2}, {1, 2})}});
  check_op({.op = "reduce_std",
            .inputs = {of(DType::kFloat16, {2}, {1, 5})},
            .expect = {of(DType::kFloat16, {}, {2})}});
}

}  // namespace
}  // namespace spillway::testing
