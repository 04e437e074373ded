#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr with_options(const NodePtr& input, const std::string& options) {
  return node("with_options", {{"options", options}}, {input});
}

TEST(WithOptions, ChangesNoElement) {
  check_operator({.build = [] { return with_options(range(3), R"({"deterministic": true})"); },
                  .expect = {"0", "1", "2"}});
}

TEST(WithOptions, IsNoPartOfWhatThePipelineMeans) {
  EXPECT_EQ(with_options(range(3), "{}")->hash(),
            with_options(range(3), R"({"deterministic": false})")->hash());
}

}  // namespace
}  // namespace spillway::testing
