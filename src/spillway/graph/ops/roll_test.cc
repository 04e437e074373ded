#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(RollOp, MovesItemsAlongAxes) {
  check_op({.op = "roll",
            .inputs = {i32({4}, {1, 2, 3, 4}), i32({}, {1})},
            .attrs = {{"axis", std::vector<std::int64_t>{0}}},
            .expect = {i32({4}, {4, 1, 2, 3})}});
  check_op({.op = "roll",
            .inputs = {f32({2, 2}, {1, 2, 3, 4}), i32({2}, {1, -3})},
            .attrs = {{"axis", std::vector<std::int64_t>{0, 1}}},
            .expect = {f32({2, 2}, {4, 3, 2, 1})}});
  check_op({.op = "roll_strings",
            .inputs = {text({3}, {"a", "b", "c"}), i32({}, {-1})},
            .attrs = {{"axis", std::vector<std::int64_t>{0}}},
            .expect = {text({3}, {"b", "c", "a"})}});
}

}  // namespace
}  // namespace spillway::testing
