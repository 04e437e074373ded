#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SoftmaxOp, AddsUpToOne) {
  check_op({.op = "softmax",
            .inputs = {f32({2, 2}, {0, 0, 1000, 1000 + 1.0986122886681098})},
            .expect = {f32({2, 2}, {0.5, 0.5, 0.25, 0.75})},
            .tolerance = 1e-4});
  check_op({.op = "softmax",
            .inputs = {f64({2, 1}, {0, 1.0986122886681098})},
            .attrs = {{"axis", std::int64_t{0}}},
            .expect = {f64({2, 1}, {0.25, 0.75})},
            .tolerance = 1e-12});
}

}  // namespace
}  // namespace spillway::testing
