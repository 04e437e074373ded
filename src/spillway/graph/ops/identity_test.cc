#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(IdentityOp, GivesTheTensorItself) {
  check_op({.op = "identity", .inputs = {f32({2}, {1, 2})}, .expect = {f32({2}, {1, 2})}});
  check_op({.op = "identity", .inputs = {text({1}, {"a"})}, .expect = {text({1}, {"a"})}});
}

}  // namespace
}  // namespace spillway::testing
