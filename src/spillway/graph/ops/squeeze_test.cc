#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SqueezeOp, DropsAxesOfSizeOne) {
  check_op({.op = "squeeze", .inputs = {f32({1, 2, 1}, {1, 2})}, .expect = {f32({2}, {1, 2})}});
  check_op({.op = "squeeze",
            .inputs = {text({1, 2, 1}, {"a", "b"})},
            .attrs = {{"axis", std::vector<std::int64_t>{-1}}},
            .expect = {text({1, 2}, {"a", "b"})}});
  expect_refused("squeeze", {f32({2, 1}, {})}, {{"axis", std::vector<std::int64_t>{0}}},
                 "Can not squeeze dim[0], expected a dimension of 1, got 2");
}

}  // namespace
}  // namespace spillway::testing
