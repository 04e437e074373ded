#include "spillway/graph/work.h"

#include <gtest/gtest.h>

#include <vector>

#include "spillway/testing/op_call.h"

namespace spillway::testing {
namespace {

using graph::Attr;
using graph::Attrs;
using graph::Spec;

// What the op counts for inputs of these shapes; its outputs are what it infers.
double work(const char* name, const std::vector<Shape>& shapes, const Attrs& attrs = {}) {
  const graph::OpDef& op = *graph::find_op(name);
  std::vector<Spec> inputs;
  inputs.reserve(shapes.size());
  for (const Shape& shape : shapes) inputs.push_back({DType::kFloat32, shape});
  const std::vector<const Tensor*> values(inputs.size());
  const std::vector<std::optional<Shape>> as_shapes(inputs.size());
  graph::Infer infer(inputs, values, as_shapes, attrs);
  const Status status = op.infer(infer);
  EXPECT_TRUE(status.ok()) << status.message();
  return work_of(op, attrs, inputs, infer.outputs());
}

Attr pair(std::int64_t down, std::int64_t across) {
  return Attr(std::vector<std::int64_t>{down, across});
}

TEST(Work, AProductOfMatricesIsTwoOperationsForEachOfItsProducts) {
  EXPECT_EQ(work("matmul", {Shape({10, 20}), Shape({20, 30})}), 2.0 * 10 * 20 * 30);
  EXPECT_EQ(work("matmul", {Shape({20, 10}), Shape({20, 30})}, {{"transpose_a", Attr(true)}}),
            2.0 * 10 * 20 * 30);
  EXPECT_EQ(work("matmul", {Shape({7, 10, 20}), Shape({7, 20, 30})}), 7 * 2.0 * 10 * 20 * 30);
}

TEST(Work, AConvolutionSumsOverItsWholeFilter) {
  EXPECT_EQ(work("conv2d", {Shape({4, 32, 32, 32}), Shape({3, 3, 32, 64})},
                 {{"padding", Attr(std::string("SAME"))}, {"strides", pair(2, 2)}}),
            2.0 * 4 * 16 * 16 * 64 * 3 * 3 * 32);
}

TEST(Work, ADepthwiseConvolutionKeepsItsChannelsApart) {
  EXPECT_EQ(work("depthwise_conv2d", {Shape({4, 32, 32, 8}), Shape({3, 5, 8, 2})},
                 {{"padding", Attr(std::string("SAME"))}}),
            2.0 * 4 * 32 * 32 * 16 * 3 * 5);
}

TEST(Work, APoolLooksAtEachItemOfItsWindow) {
  for (const char* name : {"max_pool2d", "avg_pool2d"}) {
    EXPECT_EQ(work(name, {Shape({4, 32, 32, 8})},
                   {{"ksize", pair(2, 3)},
                    {"strides", pair(2, 2)},
                    {"padding", Attr(std::string("SAME"))}}),
              4.0 * 16 * 16 * 8 * 2 * 3)
        << name;
  }
}

TEST(Work, AReductionReadsAllItReduces) {
  for (const char* name :
       {"reduce_sum", "reduce_mean", "reduce_max", "reduce_variance", "argmax"}) {
    EXPECT_GE(work(name, {Shape({100, 200})}), 100.0 * 200) << name;
  }
}

TEST(Work, SortingGrowsWithTheLogarithmOfTheAxis) {
  for (const char* name : {"sort", "argsort", "top_k"}) {
    EXPECT_EQ(work(name, {Shape({10, 1024})}), 10.0 * 1024 * 10) << name;
  }
}

TEST(Work, ElementwiseOpsAreOneOperationAnItem) {
  EXPECT_EQ(work("add", {Shape({10, 1}), Shape({1, 20})}), 200);
  EXPECT_EQ(work("softmax", {Shape({10, 20})}), 1000);
}

TEST(Work, WhatNobodyCouldComputeDoesNotWrap) {
  EXPECT_GT(work("matmul", {Shape({1 << 30, 1 << 30}), Shape({1 << 30, 1 << 30})}), 2e27);
}

}  // namespace
}  // namespace spillway::testing
