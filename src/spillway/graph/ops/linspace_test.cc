#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(LinspaceOp, HitsBothEnds) {
  check_op({.op = "linspace",
            .inputs = {f32({}, {0}), f32({}, {1})},
            .attrs = {{"num", std::int64_t{5}}},
            .expect = {f32({5}, {0, 0.25, 0.5, 0.75, 1})}});
  check_op({.op = "linspace",
            .inputs = {f64({2}, {0, 10}), f64({}, {20})},
            .attrs = {{"num", std::int64_t{3}}, {"axis", std::int64_t{-1}}},
            .expect = {f64({2, 3}, {0, 10, 20, 10, 15, 20})}});
  check_op({.op = "linspace",
            .inputs = {f32({}, {3}), f32({}, {9})},
            .attrs = {{"num", std::int64_t{1}}},
            .expect = {f32({1}, {3})}});
}

}  // namespace
}  // namespace spillway::testing
