#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ReverseOp, TurnsAxesAround) {
  check_op({.op = "reverse",
            .inputs = {i32({2, 2}, {1, 2, 3, 4})},
            .attrs = {{"axis", std::vector<std::int64_t>{0, -1}}},
            .expect = {i32({2, 2}, {4, 3, 2, 1})}});
  check_op({.op = "reverse",
            .inputs = {f32({2, 2}, {1, 2, 3, 4})},
            .attrs = {{"axis", std::vector<std::int64_t>{1}}},
            .expect = {f32({2, 2}, {2, 1, 4, 3})}});
  check_op({.op = "reverse_strings",
            .inputs = {text({2}, {"a", "b"})},
            .attrs = {{"axis", std::vector<std::int64_t>{0}}},
            .expect = {text({2}, {"b", "a"})}});
}

}  // namespace
}  // namespace spillway::testing
