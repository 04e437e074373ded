#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(UnstackOp, TakesTheParts) {
  check_op({.op = "unstack",
            .inputs = {i32({2, 2}, {1, 2, 3, 4})},
            .expect = {i32({2}, {1, 2}), i32({2}, {3, 4})}});
  check_op({.op = "unstack",
            .inputs = {f32({2, 2}, {1, 2, 3, 4})},
            .attrs = {{"axis", std::int64_t{1}}},
            .expect = {f32({2}, {1, 3}), f32({2}, {2, 4})}});
  check_op({.op = "unstack_strings",
            .inputs = {text({2}, {"a", "b"})},
            .expect = {text({}, {"a"}), text({}, {"b"})}});
}

TEST(UnstackOp, RefusesAnotherNumberOfParts) {
  expect_refused("unstack", {f32({2, 3}, {})}, {{"num", std::int64_t{3}}},
                 "Input shape axis 0 must equal 3, got shape [2,3]");
}

}  // namespace
}  // namespace spillway::testing
