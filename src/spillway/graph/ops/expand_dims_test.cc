#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ExpandDimsOp, AddsAnAxis) {
  check_op({.op = "expand_dims",
            .inputs = {f32({2}, {1, 2})},
            .attrs = {{"axis", std::int64_t{0}}},
            .expect = {f32({1, 2}, {1, 2})}});
  check_op({.op = "expand_dims",
            .inputs = {text({2}, {"a", "b"})},
            .attrs = {{"axis", std::int64_t{-1}}},
            .expect = {text({2, 1}, {"a", "b"})}});
  expect_refused("expand_dims", {f32({2}, {})}, {{"axis", std::int64_t{3}}},
                 "Tried to expand dim index 3 for tensor with 1 dimensions.");
}

}  // namespace
}  // namespace spillway::testing
