#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

TEST(FromTensors, IsOneElement) {
  check_operator({.build =
                      [] {
                        return node("from_tensors",
                                    {{"tensors", element(i64_spec({3}), {i64s({1, 2, 3})})}});
                      },
                  .expect = {"[1 2 3]"}});
}

TEST(FromTensors, KeepsTheStructure) {
  check_operator(
      {.build =
           [] {
             const StructurePtr nest =
                 Structure::dict({"a", "b"}, {i64_spec(), Structure::tensor(DType::kString, {})});
             return node("from_tensors", {{"tensors", element(nest, {i64(1), str("x")})}});
           },
       .expect = {"{a: 1, b: \x27x\x27}"}});
}

TEST(FromTensors, HoldsADataset) {
  check_operator({.build =
                      [] {
                        const Tensor value = make_variant(std::make_shared<DatasetValue>(range(2)));
                        return node(
                            "from_tensors",
                            {{"tensors", element(Structure::dataset(i64_spec()), {value})}});
                      },
                  .expect = {"<0 1>"}});
}

TEST(FromTensors, RefusesAnElementWithoutComponents) {
  EXPECT_FALSE(try_node("from_tensors", {{"tensors", element(Structure::none(), {})}}).ok());
}

}  // namespace
}  // namespace spillway::testing
