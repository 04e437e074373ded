#include "spillway/base/random.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "spillway/graph/graph.h"
#include "spillway/graph/philox.h"
#include "spillway/graph/plan.h"
#include "spillway/testing/op_call.h"

// The expected numbers are TensorFlow 2.21's.
namespace spillway::testing {
namespace {

using graph::Attrs;
using ::testing::ElementsAre;
using ::testing::FloatEq;

constexpr std::int64_t kItems = 10007;

Tensor seed() { return tensor_of<std::int64_t>(DType::kInt64, Shape({2}), {12345, -678}); }
Attrs of_shape(const Shape& shape, DType dtype = DType::kFloat32) {
  return {{"shape", shape}, {"dtype", dtype}};
}
Attrs seeded(const Shape& shape, DType dtype = DType::kFloat32) {
  Attrs attrs = of_shape(shape, dtype);
  attrs.set("seed", std::int64_t{7});
  attrs.set("seed2", std::int64_t{9});
  return attrs;
}
std::vector<float> some(const Tensor& tensor) {
  std::vector<float> items(tensor.as<float>(), tensor.as<float>() + 5);
  items.push_back(tensor.as<float>()[tensor.count() - 1]);
  return items;
}

TEST(RandomOps, StatelessNumbersAreTensorFlowsBitForBit) {
  const Attrs attrs = of_shape(Shape({kItems}));
  EXPECT_THAT(some(one_of(call_op("stateless_random_uniform", {seed()}, attrs))),
              ElementsAre(0x1.a7303p-2F, 0x1.abd2cp-3F, 0x1.993548p-2F, 0x1.e383dp-3F,
                          0x1.946d8p-5F, 0x1.bb8164p-1F));
  EXPECT_THAT(some(one_of(call_op("stateless_random_normal", {seed()}, attrs))),
              ElementsAre(0x1.490a7ep+0F, 0x1.5baa0ep-2F, 0x1.59698cp+0F, 0x1.e43596p-4F,
                          -0x1.2a07c4p+1F, -0x1.0e940cp-1F));
  EXPECT_THAT(some(one_of(call_op("stateless_truncated_normal", {seed()}, attrs))),
              ElementsAre(0x1.490a7ep+0F, 0x1.5baa0ep-2F, 0x1.59698cp+0F, 0x1.e43596p-4F,
                          -0x1.344236p-1F, 0x1.1b9988p-5F));
}

TEST(RandomOps, StatelessIntegersAreTensorFlows) {
  EXPECT_THAT(items_in<std::uint64_t>(one_of(call_op("stateless_uniform_full_int", {seed()},
                                                     of_shape(Shape({3}), DType::kUInt64)))),
              ElementsAre(17985896062672758278U, 4512105715446523561U, 3015576456731709878U));
  const auto bound = [](std::int32_t value) {
    return tensor_of<std::int32_t>(DType::kInt32, Shape(), {value});
  };
  EXPECT_THAT(items_in<std::int32_t>(
                  one_of(call_op("stateless_random_uniform_int",
                                 {seed(), bound(-1000), bound(12345)}, {{"shape", Shape({6})}}))),
              ElementsAre(4337, 5756, 1969, 10387, 5791, 10467));
  EXPECT_EQ(error_of(call_op("stateless_random_uniform_int", {seed(), bound(5), bound(5)},
                             {{"shape", Shape({6})}})),
            "Need minval < maxval, got 5 >= 5");
}

TEST(RandomOps, PartsOfAnImageAreTensorFlows) {
  const Attrs attrs{{"least_ratio", 0.75},
                    {"most_ratio", 1.33},
                    {"least_area", 0.25},
                    {"most_area", 0.5},
                    {"max_attempts", std::int64_t{100}},
                    {"use_image_if_no_bounding_boxes", false}};
  const auto part = [&](std::initializer_list<float> box, const Attrs& how) {
    return call_op("stateless_sample_distorted_bounding_box",
                   {tensor_of<std::int32_t>(DType::kInt32, Shape({3}), {40, 60, 3}),
                    tensor_of<float>(DType::kFloat32,
                                     Shape({1, static_cast<std::int64_t>(box.size() / 4), 4}), box),
                    tensor_of<float>(DType::kFloat32, Shape(), {0.1F}),
                    tensor_of<std::int32_t>(DType::kInt32, Shape({2}), {1, 2})},
                   how);
  };
  const auto made = part({0, 0, 1, 1}, attrs);
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_THAT(items_in<std::int32_t>(made.value()[0]), ElementsAre(0, 17, 0));
  EXPECT_THAT(items_in<std::int32_t>(made.value()[1]), ElementsAre(31, 38, -1));
  EXPECT_THAT(items_in<float>(made.value()[2]),
              ElementsAre(0.0F, FloatEq(17.0F / 60), FloatEq(0.775F), FloatEq(55.0F / 60)));
  EXPECT_EQ(error_of(part({0, 0, 1, 2}, attrs)),
            "All bounding box coordinates must be in [0.0, 1.0]: 2");
  EXPECT_FALSE(part({}, attrs).ok());
}

TEST(RandomOps, SeedsAreTwoIntegers) {
  const Tensor three = tensor_of<std::int32_t>(DType::kInt32, Shape({3}), {1, 2, 3});
  EXPECT_EQ(error_of(call_op("stateless_random_uniform", {three}, of_shape(Shape({2})))),
            "seed must have shape [2], not [3]");
  EXPECT_EQ(error_of(call_op("stateless_random_uniform", {seed()}, of_shape(Shape({-2})))),
            "Dimension -2 must be >= 0");
  EXPECT_FALSE(
      call_op("stateless_random_normal", {seed()}, of_shape(Shape({2}), DType::kInt32)).ok());
}

TEST(RandomOps, SourcesFollowTensorFlowsGenerators) {
  const Attrs attrs = seeded(Shape({kItems}));
  EXPECT_THAT(some(one_of(call_op("random_uniform", {}, attrs))),
              ElementsAre(0x1.129bccp-1F, 0x1.e4982p-2F, 0x1.db05bp-2F, 0x1.08eb04p-1F,
                          0x1.666fe4p-1F, 0x1.d598bp-3F));
  EXPECT_THAT(
      some(one_of(call_op("random_normal", {}, attrs))),
      ElementsAre(FloatEq(0x1.7e9bb2p-3F), FloatEq(-0x1.19b8fcp+0F), FloatEq(-0x1.153f6ep-3F),
                  FloatEq(-0x1.3b6636p+0F), FloatEq(-0x1.ac9522p-1F), FloatEq(-0x1.fd0d1p-2F)));
  EXPECT_THAT(
      some(one_of(call_op("random_truncated_normal", {}, attrs))),
      ElementsAre(FloatEq(0x1.7e9bb2p-3F), FloatEq(-0x1.19b8fcp+0F), FloatEq(-0x1.153f6ep-3F),
                  FloatEq(-0x1.3b6636p+0F), FloatEq(0x1.26e3a8p-2F), FloatEq(0x1.1bf236p+0F)));
  Attrs whole = seeded(Shape({6}), DType::kInt64);
  whole.set("minval", std::int64_t{-1000});
  whole.set("maxval", std::int64_t{12345});
  EXPECT_THAT(items_in<std::int64_t>(one_of(call_op("random_uniform_int", {}, whole))),
              ElementsAre(1121, 8496, 1772, 2439, -955, 10780));
}

TEST(RandomOps, FastNormalsStayWithinFourUnitsInTheLastPlace) {
  Philox numbers(1, 2);
  for (int i = 0; i < 200000; ++i) {
    const Philox::Block block = numbers.next();
    float exact[2];
    float fast[2];
    graph::ExactNormal::pair(block[0], block[1], exact[0], exact[1]);
    graph::FastNormal::pair(block[0], block[1], fast[0], fast[1]);
    for (int k = 0; k < 2; ++k) ASSERT_THAT(fast[k], FloatEq(exact[k])) << block[0] << block[1];
  }
  for (const std::uint32_t edge : {0U, 1U, 0x7FFFFFU, 0x400000U, 0x3FFFFFU}) {
    float a = 0;
    float b = 0;
    graph::FastNormal::pair(edge, edge, a, b);
    EXPECT_TRUE(std::isfinite(a) && std::isfinite(b)) << edge;
  }
}

TEST(RandomOps, NormalsAreNormal) {
  constexpr std::int64_t kMany = 1 << 20;
  std::vector<float> items =
      items_in<float>(one_of(call_op("random_normal", {}, seeded(Shape({kMany})))));
  double mean = 0;
  double square = 0;
  double fourth = 0;
  for (const float x : items) {
    mean += x;
    square += double{x} * x;
    fourth += double{x} * x * x * x;
  }
  EXPECT_NEAR(mean / kMany, 0, 0.005);
  EXPECT_NEAR(square / kMany, 1, 0.01);
  EXPECT_NEAR(fourth / kMany, 3, 0.05);
  // Kolmogorov-Smirnov, at one in ten thousand.
  std::sort(items.begin(), items.end());
  double distance = 0;
  for (std::int64_t i = 0; i < kMany; ++i) {
    const double below = 0.5 * std::erfc(-items[static_cast<std::size_t>(i)] / std::sqrt(2.0));
    distance = std::max(distance, std::abs(below - static_cast<double>(i) / kMany));
  }
  EXPECT_LT(distance * std::sqrt(static_cast<double>(kMany)), 2.23);
}

TEST(RandomOps, TruncatedNormalsStayWithinTwo) {
  for (const float x :
       items_in<float>(one_of(call_op("random_truncated_normal", {}, seeded(Shape({100000})))))) {
    ASSERT_LT(std::abs(x), 2);
  }
}

TEST(RandomOps, AnyPartCanBeDrawnAlone) {
  const Tensor whole = one_of(call_op("random_normal", {}, seeded(Shape({5000}))));
  graph::RandomSource source;
  source.seed = 7;
  source.seed2 = 9;
  source.row_items = 5000;
  const graph::Call call;
  std::vector<float> part(5000);
  for (const auto& [first, n] : {std::pair<int, int>{0, 5000}, {1, 1}, {3, 1030}, {4097, 903}}) {
    graph::SimdLoop<graph::RandomBody<graph::NormalOf<graph::FastNormal, float>>>::best()(
        {nullptr, reinterpret_cast<std::byte*>(part.data()), n, first, &source, &call});
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(part[static_cast<std::size_t>(i)], whole.as<float>()[first + i]);
  }
}

// Rows [first, first + n) of a function that only draws.
std::vector<float> rows_of(const Attrs& attrs, std::int64_t first, std::int64_t n,
                           std::int64_t epoch) {
  const auto unused = graph::Node::parameter({DType::kInt64, Shape()});
  const auto drawn = graph::Node::make(*graph::find_op("random_normal"), {}, attrs, nullptr);
  const auto function = graph::Graph::make({unused}, {{drawn.value(), 0}});
  const std::vector<graph::Spec> row = {{DType::kInt64, Shape()}};
  const auto plan = graph::Plan::make(function, row, op_account()).value();
  const std::vector<Tensor> parameters = {
      make_tensor(op_account(), DType::kInt64, Shape({n})).value()};
  graph::Plan::Request request;
  request.parameters = parameters;
  request.rows = n;
  request.call = {first, epoch};
  request.account = op_account();
  const auto outcome = plan->run(request);
  EXPECT_TRUE(outcome.error.ok()) << outcome.error.message();
  return items_in<float>(outcome.results[0]);
}

TEST(RandomOps, RowsDrawByTheirIndexAndEpoch) {
  Attrs attrs = seeded(Shape({3}));
  attrs.set("per_row", true);
  const std::vector<float> all = rows_of(attrs, 0, 2000, 0);
  const std::vector<float> part = rows_of(attrs, 1234, 5, 0);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + 1234L * 3));
  EXPECT_NE(rows_of(attrs, 0, 2000, 1), all);
  std::vector<float> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_GT(std::unique(sorted.begin(), sorted.end()) - sorted.begin(), 5990);
}

TEST(RandomOps, ShufflesAreTensorFlows) {
  const Tensor ten =
      tensor_of<std::int32_t>(DType::kInt32, Shape({10}), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_THAT(
      items_in<std::int32_t>(one_of(call_op(
          "random_shuffle", {ten}, {{"seed", std::int64_t{1}}, {"seed2", std::int64_t{2}}}))),
      ElementsAre(9, 0, 8, 6, 1, 3, 7, 2, 4, 5));
  const Tensor one_two = tensor_of<std::int32_t>(DType::kInt32, Shape({2}), {1, 2});
  EXPECT_THAT(items_in<std::int32_t>(one_of(call_op("stateless_shuffle", {ten, one_two}))),
              ElementsAre(0, 3, 8, 1, 5, 4, 9, 7, 6, 2));
  EXPECT_THAT(strings_in(one_of(call_op("stateless_shuffle", {strings_of({"a"}), one_two}))),
              ElementsAre("a"));
}

}  // namespace
}  // namespace spillway::testing
