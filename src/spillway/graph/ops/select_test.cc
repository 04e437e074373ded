#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SelectOp, TakesOneOrTheOther) {
  check_op({.op = "select",
            .inputs = {bools({2}, {1, 0}), f32({2}, {1, 2}), f32({}, {9})},
            .expect = {f32({2}, {1, 9})}});
  check_op({.op = "select",
            .inputs = {bools({}, {1}), c64({1}, {1, 2}), c64({1}, {3, 4})},
            .expect = {c64({1}, {1, 2})}});
  check_op({.op = "select_strings",
            .inputs = {bools({2}, {1, 0}), text({2}, {"a", "b"}), text({}, {"-"})},
            .expect = {text({2}, {"a", "-"})}});
}

}  // namespace
}  // namespace spillway::testing
