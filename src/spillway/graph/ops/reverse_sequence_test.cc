#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ReverseSequenceOp, TurnsTheFirstItemsOfEachRow) {
  check_op({.op = "reverse_sequence",
            .inputs = {i32({2, 3}, {1, 2, 3, 4, 5, 6}), i32({2}, {2, 3})},
            .attrs = {{"seq_axis", std::int64_t{1}}, {"batch_axis", std::int64_t{0}}},
            .expect = {i32({2, 3}, {2, 1, 3, 6, 5, 4})}});
  check_op({.op = "reverse_sequence_strings",
            .inputs = {text({2, 1}, {"a", "b"}), i32({1}, {2})},
            .attrs = {{"seq_axis", std::int64_t{0}}, {"batch_axis", std::int64_t{1}}},
            .expect = {text({2, 1}, {"b", "a"})}});
}

}  // namespace
}  // namespace spillway::testing
