#include <gtest/gtest.h>

#include <algorithm>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr from(std::int64_t start, std::int64_t stop) {
  return node("range", {{"start", start}, {"stop", stop}});
}

template <class T>
Value weights(DType dtype, std::vector<T> shares) {
  const AccountPtr account = Budget::process().open_account("test");
  Tensor out = make_tensor(account, dtype, Shape{static_cast<std::int64_t>(shares.size())}).value();
  std::ranges::copy(shares, reinterpret_cast<T*>(out.mutable_data()));
  return element(Structure::tensor(dtype, out.shape()), {out});
}

NodePtr sample(std::vector<NodePtr> inputs, std::int64_t seed, NamedValues params = {}) {
  params.emplace_back("seed", std::int64_t{87654321});
  params.emplace_back("seed2", seed);
  return node("sample_from_datasets", params, std::move(inputs));
}

// Expected values are TensorFlow 2.21's.
TEST(SampleFromDatasets, PassesOverWhatHasEnded) {
  check_operator({.build = [] { return sample({range(3), from(10, 13)}, 1); },
                  .expect = {"10", "0", "1", "2", "11", "12"}});
}

TEST(SampleFromDatasets, MayStopAtTheFirstEmptyOne) {
  check_operator(
      {.build =
           [] { return sample({range(3), from(10, 13)}, 1, {{"stop_on_empty_dataset", true}}); },
       .expect = {"10", "0", "1", "2"}});
}

TEST(SampleFromDatasets, EachPassMayChooseAnew) {
  const auto build = [] {
    return sample({range(3), from(10, 13)}, 1, {{"rerandomize_each_iteration", true}});
  };
  check_operator({.build = build, .expect = {"10", "11", "0", "1", "12", "2"}});
  const NodePtr one = build();
  elements(one);
  EXPECT_EQ(elements(one), (std::vector<std::string>{"10", "11", "12", "0", "1", "2"}));
  const NodePtr fixed = sample({range(3), from(10, 13)}, 1);
  EXPECT_EQ(elements(fixed), elements(fixed));
}

TEST(SampleFromDatasets, DatasetsWithoutWeightAreNeverWaitedFor) {
  const Value half = weights<float>(DType::kFloat32, {0.5F, 0, 0.5F});
  check_operator({.build =
                      [=] {
                        return sample({from(0, 2), from(10, 12), from(20, 22)}, 42,
                                      {{"weights", half}});
                      },
                  .expect = {"20", "21", "0", "1"}});
  const Value none = weights<double>(DType::kFloat64, {0, 0});
  check_operator({.build = [=] { return sample({range(2), range(3)}, 42, {{"weights", none}}); },
                  .expect = {}});
  const Value one = weights<double>(DType::kFloat64, {0, 1});
  check_operator({.build = [=] { return sample({range(2), range(3)}, 42, {{"weights", one}}); },
                  .expect = {"0", "1", "2"}});
}

TEST(SampleFromDatasets, UnseededPassesOfACheckpointAgree) {
  const auto build = [] { return node("sample_from_datasets", {}, {from(0, 50), from(100, 150)}); };
  const Opened first = open(build());
  drain(*first.it, Demand::one(), 10);
  StateWriter writer;
  ASSERT_TRUE(first.it->save(writer).ok());
  const Opened second = open(build());
  StateReader reader(writer.bytes());
  ASSERT_TRUE(second.it->restore(reader).ok());
  EXPECT_EQ(drain(*first.it), drain(*second.it));
  EXPECT_EQ(build()->cardinality(), kUnknownCount);
}

TEST(SampleFromDatasets, RefusesWhatTensorFlowRefuses) {
  const auto refused = [](std::vector<NodePtr> inputs, const Value& shares) {
    const auto made = try_node("sample_from_datasets", {{"weights", shares}}, std::move(inputs));
    return made.ok() ? std::string()
                     : made.error().info().type + ": " + std::string(made.error().message());
  };
  EXPECT_EQ(refused({}, {}), "ValueError: Invalid `datasets`. `datasets` should not be empty.");
  EXPECT_EQ(refused({range(2), range(3)}, weights<float>(DType::kFloat32, {1})),
            "ValueError: Invalid `weights`. `weights` should have the same length as `datasets` "
            "but got `len(weights)=1` vs. `len(datasets)=2`.");
  EXPECT_EQ(refused({range(2), range(3)}, weights<std::int32_t>(DType::kInt32, {1, 2})),
            "TypeError: Invalid `weights`. `weights` type must be either `tf.float32` or "
            "`tf.float64` but is <dtype: 'int32'>.");
}

}  // namespace
}  // namespace spillway::testing
