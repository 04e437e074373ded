#include <gtest/gtest.h>

#include <algorithm>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr numbers(std::int64_t seed) {
  return node("random", {{"seed", std::int64_t{87654321}}, {"seed2", seed}});
}

Value weights(std::vector<float> shares) {
  const AccountPtr account = Budget::process().open_account("test");
  Tensor out =
      make_tensor(account, DType::kFloat32, Shape{static_cast<std::int64_t>(shares.size())})
          .value();
  std::ranges::copy(shares, reinterpret_cast<float*>(out.mutable_data()));
  return element(Structure::tensor(DType::kFloat32, out.shape()), {out});
}

NodePtr first(std::int64_t count, const NodePtr& input) {
  return node("take", {{"count", count}}, {input});
}

std::vector<std::string> events(const std::string& digits) {
  std::vector<std::string> out;
  for (const char c : digits) out.emplace_back(1, c);
  return out;
}

// Expected values are TensorFlow 2.21's for sample_from_datasets with the same seeds.
TEST(RandomChoice, EqualSharesAreTensorFlows) {
  check_operator(
      {.build =
           [] {
             return first(24, node("random_choice", {{"choices", std::int64_t{3}}}, {numbers(7)}));
           },
       .expect = events("102011120222001020100021")});
}

TEST(RandomChoice, WeightedSharesAreTensorFlows) {
  check_operator({.build =
                      [] {
                        return first(
                            24, node("random_choice", {{"weights", weights({0.5F, 0.3F, 0.2F})}},
                                     {numbers(42)}));
                      },
                  .expect = events("121202000112000222101120")});
}

TEST(RandomChoice, WithoutWeightNothingIsChosen) {
  check_operator(
      {.build =
           [] {
             return first(
                 24, node("random_choice", {{"weights", weights({0.5F, 0, 0.5F})}}, {numbers(42)}));
           },
       .expect = events("222202000222000222202220")});
}

}  // namespace
}  // namespace spillway::testing
