#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(RankOp, CountsAxes) {
  check_op({.op = "rank", .inputs = {f32({2, 1}, {1, 2})}, .expect = {i32({}, {2})}});
  check_op({.op = "rank", .inputs = {text({}, {"a"})}, .expect = {i32({}, {0})}});
}

}  // namespace
}  // namespace spillway::testing
