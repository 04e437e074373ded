#include <gtest/gtest.h>

#include "spillway/testing/file_pipelines.h"
#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

TEST(TextLinesOperator, ReadsFilesOneAfterTheOther) {
  const TemporaryFolder folder;
  const auto paths = files({folder.write("a", "one\ntwo"), folder.write("b", ""), folder.path(),
                            folder.write("c", "three\r\n\n")});
  check_operator({.build = [=] { return node("text_lines", {{"filenames", paths}}); },
                  .expect = {"'one'", "'two'", "!FAILED_PRECONDITION", "'three'", "''"}});
}

TEST(TextLinesOperator, ALineThatDoesNotFitIsRefusedAndNamed) {
  const TemporaryFolder folder;
  const auto paths = files({folder.write("a", "one\n" + std::string(8 << 20, 'x') + "\ntwo\n")});
  Budget budget(std::size_t{2} << 20U);
  const Opened opened = open(node("text_lines", {{"filenames", paths}}), budget);
  ASSERT_EQ(drain(*opened.it, Demand{1}, 1), std::vector<std::string>{"'one'"});
  const Next next = opened.it->next(Demand{1});
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace spillway::testing
