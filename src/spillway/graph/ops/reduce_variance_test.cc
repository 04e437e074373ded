#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ReduceVarianceOp, IsStableForALargeMean) {
  check_op({.op = "reduce_variance",
            .inputs = {f64({4}, {1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4})},
            .expect = {f64({}, {1.25})},
            .tolerance = 1e-12});
  check_op({.op = "reduce_variance",
            .inputs = {f32({2, 2}, {1, 2, 3, 6})},
            .attrs = {{"axis", std::vector<std::int64_t>{0}}},
            .expect = {f32({2}, {1, 4})}});
}

}  // namespace
}  // namespace spillway::testing
