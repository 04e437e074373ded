#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ConcatOp, PutsTensorsOneAfterTheOther) {
  check_op({.op = "concat",
            .inputs = {i32({2, 1}, {1, 2}), i32({2, 2}, {3, 4, 5, 6})},
            .attrs = {{"axis", std::int64_t{1}}},
            .expect = {i32({2, 3}, {1, 3, 4, 2, 5, 6})}});
  check_op({.op = "concat",
            .inputs = {f64({1, 2}, {1, 2}), f64({0, 2}, {}), f64({1, 2}, {3, 4})},
            .attrs = {{"axis", std::int64_t{-2}}},
            .expect = {f64({2, 2}, {1, 2, 3, 4})}});
  check_op({.op = "concat_strings",
            .inputs = {text({1}, {"a"}), text({2}, {"b", "c"})},
            .attrs = {{"axis", std::int64_t{0}}},
            .expect = {text({3}, {"a", "b", "c"})}});
}

TEST(ConcatOp, RefusesShapesThatDoNotFit) {
  expect_refused("concat", {f32({2, 3}, {}), f32({2, 4}, {})}, {{"axis", std::int64_t{0}}},
                 "Dimension 1 in both shapes must be equal: shape[0] = [2,3] vs. shape[1] = [2,4]");
  expect_refused("concat", {f32({}, {1}), f32({}, {2})}, {{"axis", std::int64_t{0}}},
                 "Can't concatenate scalars");
}

}  // namespace
}  // namespace spillway::testing
