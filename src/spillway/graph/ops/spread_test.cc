#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SpreadOp, RepeatsItemsUpToAKnownShape) {
  check_op({.op = "spread",
            .inputs = {f32({}, {3})},
            .attrs = {{"shape", Shape{2, 2}}},
            .expect = {f32({2, 2}, {3, 3, 3, 3})}});
  check_op({.op = "spread",
            .inputs = {of(DType::kInt16, {2, 1}, {1, 2})},
            .attrs = {{"shape", Shape{2, 2}}},
            .expect = {of(DType::kInt16, {2, 2}, {1, 1, 2, 2})}});
  check_op({.op = "spread_strings",
            .inputs = {text({}, {"a"})},
            .attrs = {{"shape", Shape{2}}},
            .expect = {text({2}, {"a", "a"})}});
}

}  // namespace
}  // namespace spillway::testing
