#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

Tensor squares() { return of(DType::kUInt8, {2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8}); }

TEST(CropAndResizeOp, TakesPartsOfImages) {
  // The whole second image, and the lower half of the first with what lies beside it.
  check_op({.op = "crop_and_resize",
            .inputs = {squares(), f32({2, 4}, {0, 0, 1, 1, 1, 0, 1, 2}), i32({2}, {1, 0}),
                       i32({2}, {1, 3})},
            .attrs = {{"extrapolation_value", 9.0}},
            .expect = {f32({2, 1, 3, 1}, {6, 6.5, 7, 3, 4, 9})},
            .fixed = {1, 2, 3}});
  check_op({.op = "crop_and_resize",
            .inputs = {squares(), f32({1, 4}, {1, 1, 0, 0}), i32({1}, {0}), i32({2}, {2, 2})},
            .attrs = {{"method", std::string("nearest")}},
            .expect = {f32({1, 2, 2, 1}, {4, 3, 2, 1})},
            .fixed = {1, 2, 3}});
}

TEST(CropAndResizeOp, RefusesBoxesOfNoImage) {
  const auto refused = [](const Tensor& boxes, const Tensor& images, std::string_view what) {
    expect_refused("crop_and_resize", {squares(), boxes, images, i32({2}, {1, 1})}, {}, what);
  };
  refused(f32({1, 3}, {0, 0, 1}), i32({1}, {0}), "boxes must have 4 columns");
  refused(f32({1, 4}, {0, 0, 1, 1}), i32({2}, {0, 0}), "box_index has incompatible shape");
  refused(f32({1, 4}, {0, 0, 1, 1}), i32({1}, {2}), "box_index has values outside");
}

}  // namespace
}  // namespace spillway::testing
