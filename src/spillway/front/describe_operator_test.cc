#include "spillway/front/describe_operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace spillway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(DescribeOperator, EveryOperatorButTheHiddenOnesIsListedWithItsSummary) {
  const std::string text = describe_operators();
  for (const OperatorDef* def : all_operators()) {
    if (def->hidden) {
      EXPECT_THAT(text, Not(HasSubstr(std::string(def->name) + " ")));
    } else {
      EXPECT_THAT("\n" + text, HasSubstr("\n" + std::string(def->name) + " "));
      EXPECT_THAT(text, HasSubstr(" " + std::string(def->summary) + "\n"));
    }
  }
}

TEST(DescribeOperator, OneOperatorHasSignatureParametersAndExample) {
  EXPECT_EQ(describe_operator(*find_operator("batch")),
            "batch(batch_size, drop_remainder=False, num_parallel_calls=None, "
            "deterministic=None)\n\n"
            "Stacks `batch_size` consecutive elements into one.\n\n"
            "  batch_size          int           consecutive elements in a batch\n"
            "  drop_remainder      bool = False  leave out a last batch that is not full\n"
            "  num_parallel_calls  int = None    batches made at a time; chosen when None "
            "(never changes results)\n"
            "  deterministic       bool = None   batches come in order either way "
            "(never changes results)\n\n"
            "  and for elements that fail: on_error retries backoff max_errors max_error_rate "
            "quarantine early_end\n\n"
            "  >>> list(sw.Dataset.range(5).batch(2).as_numpy_iterator())\n"
            "  [array([0, 1]), array([2, 3]), array([4])]\n");
}

TEST(DescribeOperator, AnOperatorWithoutParametersHasNoTable) {
  EXPECT_THAT(describe_operator(*find_operator("unique")),
              HasSubstr("unique()\n\nLeaves out elements that came before.\n\n  and for"));
}

}  // namespace
}  // namespace spillway
