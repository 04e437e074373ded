#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(PadOp, SurroundsWithAValueOrAMirrorImage) {
  const Tensor x = i32({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor by = i32({2, 2}, {1, 0, 1, 2});
  check_op({.op = "pad",
            .inputs = {x, by, i32({}, {9})},
            .expect = {i32({3, 6}, {9, 9, 9, 9, 9, 9, 9, 1, 2, 3, 9, 9, 9, 4, 5, 6, 9, 9})},
            .fixed = {1}});
  check_op({.op = "pad",
            .inputs = {x, by},
            .attrs = {{"mode", std::string("REFLECT")}},
            .expect = {i32({3, 6}, {5, 4, 5, 6, 5, 4, 2, 1, 2, 3, 2, 1, 5, 4, 5, 6, 5, 4})},
            .fixed = {1}});
  check_op({.op = "pad",
            .inputs = {x, by},
            .attrs = {{"mode", std::string("SYMMETRIC")}},
            .expect = {i32({3, 6}, {1, 1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 4, 4, 5, 6, 6, 5})},
            .fixed = {1}});
  check_op({.op = "pad_strings",
            .inputs = {text({1}, {"a"}), i32({1, 2}, {1, 1}), text({}, {"-"})},
            .expect = {text({3}, {"-", "a", "-"})},
            .fixed = {1}});
}

TEST(PadOp, RefusesPaddingsThatDoNotFit) {
  expect_refused("pad", {f32({2}, {}), i32({1, 2}, {-1, 0})}, {},
                 "Paddings must be non-negative: -1 0");
  expect_refused("pad", {f32({2}, {}), i32({1, 2}, {2, 0})}, {{"mode", std::string("REFLECT")}},
                 "paddings must be less than the dimension size: 2, 0 not less than 2");
  expect_refused("pad", {f32({0}, {}), i32({1, 2}, {0, 0})}, {{"mode", std::string("REFLECT")}},
                 "paddings must be less than the dimension size: 0, 0 not less than 0");
}

}  // namespace
}  // namespace spillway::testing
