#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

// Two rows of three pixels become three rows of two. Expected values are TensorFlow's.
Tensor doubling(DType dtype = DType::kUInt8) { return of(dtype, {2, 3, 1}, {1, 2, 4, 8, 16, 32}); }
const std::vector<double> kSize = {3, 2};

void expect_resized(std::string_view op, const graph::Attrs& attrs,
                    const std::vector<double>& items, double tolerance) {
  for (const DType dtype : {DType::kUInt8, DType::kFloat16, DType::kFloat32, DType::kInt64}) {
    check_op({.op = op,
              .inputs = {doubling(dtype), i32({2}, kSize)},
              .attrs = attrs,
              .expect = {f32({3, 2, 1}, items)},
              .tolerance = tolerance,
              .fixed = {1}});
  }
}

TEST(ResizeOps, BilinearLiesBetweenTheFourNearestPixels) {
  expect_resized("resize_bilinear", {}, {1.25, 3.5, 5.625, 15.75, 10, 28}, 0);
}

TEST(ResizeOps, AreaIsTheMeanOfWhatAPixelCovers) {
  expect_resized("resize_area", {},
                 {1.3333333730697632, 3.3333334922790527, 6.000000476837158, 15.000001907348633,
                  10.666666030883789, 26.666664123535156},
                 0);
}

TEST(ResizeOps, BicubicTakesSixteenPixels) {
  expect_resized("resize_bicubic", {},
                 {0.6174318790435791, 1.9624106884002686, 5.1569342613220215, 16.39051055908203,
                  9.696436882019043, 30.81861114501953},
                 0);
}

TEST(ResizeOps, FiltersAreStretchedWhereAskedTo) {
  const auto by = [](const char* filter, bool antialias) {
    return graph::Attrs{{"filter", std::string(filter)}, {"antialias", antialias}};
  };
  expect_resized("resize_filtered", by("lanczos3", false),
                 {0.1389661729335785, 0.48342931270599365, 4.775222301483154, 16.61182975769043,
                  9.411479949951172, 32.740234375},
                 1e-6);
  expect_resized("resize_filtered", by("gaussian", true),
                 {2.1773276329040527, 4.551319122314453, 6.735002040863037, 14.07833480834961,
                  11.292675971984863, 23.605348587036133},
                 1e-6);
  expect_resized("resize_filtered", by("triangle", true),
                 {1.3750001192092896, 3.250000238418579, 6.187500476837158, 14.625000953674316,
                  11.000000953674316, 26.000001907348633},
                 1e-6);
  expect_resized("resize_filtered", by("mitchellcubic", true),
                 {1.302578330039978, 3.057027816772461, 6.1967082023620605, 14.543085098266602,
                  11.090839385986328, 26.02914810180664},
                 1e-6);
}

TEST(ResizeOps, NearestKeepsTheDtype) {
  for (const DType dtype : {DType::kUInt8, DType::kInt16, DType::kFloat64}) {
    check_op({.op = "resize_nearest",
              .inputs = {doubling(dtype), i32({2}, kSize)},
              .expect = {of(dtype, {3, 2, 1}, {1, 4, 8, 32, 8, 32})},
              .fixed = {1}});
  }
}

TEST(ResizeOps, TakeBatchesAndSeveralChannels) {
  check_op({.op = "resize_bilinear",
            .inputs = {f32({1, 2, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), i32({2}, {1, 3})},
            .expect = {f32({1, 1, 3, 3}, {3, 4, 5, 4.5, 5.5, 6.5, 6, 7, 8})},
            .fixed = {1}});
  // Two images of two pixels; five channels are no vector.
  check_op({.op = "resize_area",
            .inputs = {f32({2, 1, 2, 5}, {0, 1, 2, 3, 4, 2, 3, 4, 5, 6,  //
                                          9, 8, 7, 6, 5, 1, 2, 3, 4, 5}),
                       i32({2}, {1, 1})},
            .expect = {f32({2, 1, 1, 5}, {1, 2, 3, 4, 5, 5, 5, 5, 5, 5})},
            .fixed = {1}});
  check_op({.op = "resize_nearest",
            .inputs = {i32({2, 1, 1, 2}, {1, 2, 3, 4}), i32({2}, {2, 1})},
            .expect = {i32({2, 2, 1, 2}, {1, 2, 1, 2, 3, 4, 3, 4})},
            .fixed = {1}});
}

TEST(ResizeOps, RefuseWhatHasNoPixels) {
  for (const char* op : {"resize_bilinear", "resize_nearest", "resize_bicubic", "resize_area"}) {
    expect_refused(op, {doubling(), i32({2}, {0, 2})}, {}, "output dimensions must be positive");
    expect_refused(op, {f32({0, 2, 1}, {}), i32({2}, {1, 1})}, {},
                   "input image must be of non-zero size");
    expect_refused(op, {f32({1, 2, 0}, {}), i32({2}, {1, 1})}, {},
                   "image must have at least one channel");
    expect_refused(op, {f32({1, 2}, {1, 2}), i32({2}, {1, 1})}, {},
                   "'images' must have either 3 or 4 dimensions");
  }
  expect_refused("resize_filtered", {doubling(), i32({2}, {1, 1})},
                 {{"filter", std::string("blur")}}, "Unrecognized kernel type: blur");
}

}  // namespace
}  // namespace spillway::testing
