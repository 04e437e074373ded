#include "spillway/graph/fit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "spillway/graph/evaluate.h"
#include "spillway/graph/forecast.h"
#include "spillway/graph/npy_source.h"
#include "spillway/testing/files.h"
#include "spillway/testing/pipelines.h"

namespace spillway::testing {
namespace {

using graph::Attrs;
using graph::Node;
using graph::Operand;

constexpr std::size_t kMiB = std::size_t{1} << 20U;

Operand op(const char* name, std::vector<Operand> inputs, Attrs attrs = {}) {
  auto made = Node::make(*graph::find_op(name), std::move(inputs), std::move(attrs), nullptr);
  EXPECT_TRUE(made.ok()) << made.error().message();
  return {made.value(), 0};
}
Operand normal(Shape shape, std::int64_t seed, DType dtype = DType::kFloat32) {
  return op("random_normal", {},
            {{"shape", graph::Attr(std::move(shape))},
             {"dtype", graph::Attr(dtype)},
             {"seed", graph::Attr(seed)},
             {"seed2", graph::Attr(std::int64_t{5})}});
}
Operand product(const Operand& a, const Operand& b) { return op("matmul", {a, b}); }
Operand product_turned(const Operand& a, const Operand& b) {
  return op("matmul", {a, b}, {{"transpose_b", graph::Attr(true)}});
}
Operand sum(const Operand& x) { return op("reduce_sum", {x}); }
Operand sum_along(const Operand& x, std::int64_t axis) {
  return op("reduce_sum", {x}, {{"axis", graph::Attr(std::vector<std::int64_t>{axis})}});
}
Operand number(float value) {
  auto made = make_scalar(Budget::process().open_account("numbers"), DType::kFloat32, value);
  return {Node::constant(std::move(made).value()), 0};
}

// The process's limit, for a while.
class Limit {
 public:
  explicit Limit(std::size_t bytes) : before_(Budget::process().limit()) {
    Budget::process().set_limit(bytes);
  }
  ~Limit() { Budget::process().set_limit(before_); }

 private:
  const std::size_t before_;
};

using Build = std::function<Operand()>;

// The bytes: what is compared must not take room from what is tried.
std::string value_within(std::size_t limit, const Build& build) {
  const Limit held(limit);
  const Operand root = build();
  const Status status = graph::evaluate({&root, 1}, Budget::process().open_account("test"));
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.message());
  if (!status.ok()) return "";
  return {reinterpret_cast<const char*>(root.value()->data()), root.value()->bytes()};
}

graph::Forecast forecast_within(std::size_t limit, const Build& build) {
  const Limit held(limit);
  const Operand root = build();
  auto seen = graph::forecast({&root, 1}, Budget::process().open_account("test"));
  EXPECT_TRUE(seen.ok());
  return seen.value();
}

// Computed within `limit`, in the way that is named, and bit for bit as with all the room.
void expect_same(std::size_t limit, const Build& build, const std::string& how) {
  const graph::Forecast seen = forecast_within(limit, build);
  EXPECT_TRUE(seen.fits);
  EXPECT_LE(seen.needed, limit);
  EXPECT_TRUE(seen.how.starts_with(how)) << seen.how;
  EXPECT_EQ(forecast_within(1024 * kMiB, build).how, "whole");
  const std::string whole = value_within(1024 * kMiB, build);
  const std::string fitted = value_within(limit, build);
  EXPECT_FALSE(whole.empty());
  EXPECT_TRUE(whole == fitted);
}

Operand layers(Operand x, std::int64_t width, int count) {
  for (int i = 0; i < count; ++i) {
    x = op("relu", {op("add", {product(x, normal(Shape({width, width}), 100 + i)),
                               normal(Shape({width}), 200 + i)})});
  }
  return x;
}

TEST(Fit, LayersOfARandomBatchRunInSlices) {
  expect_same(
      12 * kMiB, [] { return sum_along(layers(normal(Shape({8000, 256}), 1), 256, 4), 1); },
      "micro-batched");
}

TEST(Fit, AKnownBatchIsSlicedWhereItLies) {
  const Operand batch = normal(Shape({3001, 300}), 1);
  ASSERT_TRUE(graph::evaluate({&batch, 1}, Budget::process().open_account("test")).ok());
  expect_same(
      9 * kMiB,
      [&] { return op("softmax", {op("multiply", {layers(batch, 300, 2), number(0.5F)})}); },
      "micro-batched");
}

TEST(Fit, ASumOfAProductHoldsNeitherOperandsNorProduct) {
  expect_same(
      12 * kMiB,
      [] { return sum(product(normal(Shape({1501, 1300}), 1), normal(Shape({1300, 1107}), 2))); },
      "tiled");
}

TEST(Fit, AProductWithATurnedMatrixToo) {
  expect_same(
      12 * kMiB,
      [] {
        return sum_along(
            product_turned(normal(Shape({1501, 900}), 1), normal(Shape({2000, 900}), 2)), 0);
      },
      "tiled");
}

TEST(Fit, DoublesAreSummedAsTheyAreInMemory) {
  expect_same(
      16 * kMiB,
      [] {
        return sum_along(product(normal(Shape({1100, 1000}), 1, DType::kFloat64),
                                 normal(Shape({1000, 1300}), 2, DType::kFloat64)),
                         1);
      },
      "tiled");
}

TEST(Fit, AProductOfAProductWaitsOnDisk) {
  expect_same(
      10 * kMiB,
      [] {
        const Operand inner =
            product(normal(Shape({1200, 1100}), 1), normal(Shape({1100, 1000}), 2));
        return sum_along(product(normal(Shape({900, 1200}), 3), op("tanh", {inner})), 1);
      },
      "tiled");
}

TEST(Fit, WhatIsNeededTwiceIsComputedOnce) {
  expect_same(
      12 * kMiB,
      [] {
        const Operand x = product(normal(Shape({2000, 700}), 1), normal(Shape({700, 700}), 2));
        const Operand mean = op("reduce_mean", {x});
        return sum(op("square", {op("subtract", {x, mean})}));
      },
      "tiled");
}

TEST(Fit, OtherRandomNumbersAreThoseOfTheWhole) {
  const auto build = [](const char* name) {
    return [name] {
      const Operand x = op(name, {},
                           {{"shape", graph::Attr(Shape({3000, 401}))},
                            {"seed", graph::Attr(std::int64_t{3})},
                            {"seed2", graph::Attr(std::int64_t{9})}});
      return sum_along(op("softmax", {x}), 1);
    };
  };
  expect_same(2 * kMiB, build("random_uniform"), "micro-batched");
  expect_same(2 * kMiB, build("random_truncated_normal"), "micro-batched");
}

TEST(Fit, WhatCannotFitIsRefusedWithEveryOffender) {
  const Build build = [] {
    return product(normal(Shape({4000, 4000}), 1), normal(Shape({4000, 4000}), 2));
  };
  const graph::Forecast seen = forecast_within(32 * kMiB, build);
  EXPECT_FALSE(seen.fits);
  EXPECT_EQ(seen.how, "refused");
  EXPECT_EQ(seen.offenders.size(), 3U);
  const Limit held(32 * kMiB);
  const Operand root = build();
  const Status status = graph::evaluate({&root, 1}, Budget::process().open_account("test"));
  ASSERT_FALSE(status.ok());
  const std::string text(status.message());
  EXPECT_NE(text.find("matmul"), std::string::npos);
  EXPECT_NE(text.find("need not be stored"), std::string::npos) << text;
  EXPECT_NE(text.find("save_npy"), std::string::npos) << text;
  EXPECT_NE(text.find("GFLOP/s"), std::string::npos) << text;
}

TEST(Fit, AProductOfFilesGoesToAFileUnderTheLimit) {
  const TemporaryFolder folder;
  const auto at = [&](const char* name) { return folder.path() + "/" + name; };
  const AccountPtr account = Budget::process().open_account("test");
  ASSERT_TRUE(graph::save_npy(normal(Shape({1501, 1203}), 1), at("a.npy"), account).ok());
  ASSERT_TRUE(graph::save_npy(normal(Shape({1203, 1400}), 2), at("b.npy"), account).ok());
  const std::string whole = value_within(1024 * kMiB, [] {
    return product(normal(Shape({1501, 1203}), 1), normal(Shape({1203, 1400}), 2));
  });
  {
    const Limit held(6 * kMiB);
    const auto load = [&](const char* name) {
      auto made = graph::load_npy(at(name), nullptr);
      EXPECT_TRUE(made.ok());
      return Operand{made.value(), 0};
    };
    const Status status =
        graph::save_npy(product(load("a.npy"), load("b.npy")), at("c.npy"), account);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  const std::string back = value_within(
      1024 * kMiB, [&] { return Operand{graph::load_npy(at("c.npy"), nullptr).value(), 0}; });
  EXPECT_TRUE(whole == back);
}

TEST(Fit, AFileThatWasNotFinishedHasNoName) {
  const TemporaryFolder folder;
  const Limit held(2 * kMiB);
  // Reversed along the leading axis: no row can be made without all others.
  const Operand all = op("transpose", {normal(Shape({2000, 2000}), 1)});
  const Status status =
      graph::save_npy(all, folder.path() + "/x.npy", Budget::process().open_account("test"));
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace spillway::testing
