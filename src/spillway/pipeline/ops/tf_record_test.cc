#include <gtest/gtest.h>

#include <filesystem>

#include "spillway/io/formats/tfrecord.h"
#include "spillway/testing/file_pipelines.h"
#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

class TfRecordOperator : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::vector<std::string>& records) const {
    std::string content;
    for (const std::string& record : records) content += framed_tfrecord(record);
    return folder_.write(name, content);
  }
  const TemporaryFolder folder_;
};

TEST_F(TfRecordOperator, ReadsFilesOneAfterTheOther) {
  const auto paths = files({file("a", {"one", "two"}), file("b", {}), file("c", {"three"})});
  check_operator({.build = [=] { return node("tf_record", {{"filenames", paths}}); },
                  .expect = {"'one'", "'two'", "'three'"}});
}

TEST_F(TfRecordOperator, ABadFileIsOneErrorInItsPlaceAndTheNextFollows) {
  const std::string bad = file("b", {"ok", "bad", "never seen"});
  std::filesystem::resize_file(bad, 18 + 10);
  const auto paths = files({file("a", {"one"}), bad, folder_.path() + "/none", file("c", {"two"})});
  check_operator({.build = [=] { return node("tf_record", {{"filenames", paths}}); },
                  .expect = {"'one'", "'ok'", "!DATA_LOSS", "!NOT_FOUND", "'two'"}});
}

// From the second batch on their size is known: they are read side by side and shared.
TEST_F(TfRecordOperator, ABatchOfLargeRecordsCopiesNone) {
  std::vector<std::string> records;
  records.reserve(40);
  for (int i = 0; i < 40; ++i) {
    records.emplace_back(static_cast<std::size_t>(90'000 + 10 * i),
                         static_cast<char>('a' + i % 26));
  }
  const auto paths = files({file("a", records)});
  const Opened opened = open(batches_of(10, node("tf_record", {{"filenames", paths}})));
  for (std::size_t batch = 0; batch < 4; ++batch) {
    const Next next = opened.it->next({1});
    ASSERT_TRUE(next.ok() && next.value());
    const Tensor strings = next.value()->row(0).values[0];
    ASSERT_EQ(strings.shape(), Shape{10});
    for (std::size_t i = 0; i < 10; ++i) {
      ASSERT_EQ(strings.string_at(static_cast<std::int64_t>(i)), records[10 * batch + i]);
    }
    const std::size_t copied = opened.run->stages()[1]->account()->held();
    EXPECT_EQ(copied > 0, batch == 0) << "batch " << batch << " made bytes of its own: " << copied;
  }
}

TEST_F(TfRecordOperator, MayGoOnInTheSameFile) {
  std::string content = framed_tfrecord("one") + framed_tfrecord("two") + framed_tfrecord("three");
  content[19 + 12] = 'T';
  const auto paths = files({folder_.write("a", content)});
  check_operator(
      {.build = [=] { return node("tf_record", {{"filenames", paths}, {"resynchronise", true}}); },
       .expect = {"'one'", "!DATA_LOSS", "'three'"}});
}

TEST_F(TfRecordOperator, AnErrorNamesFileOffsetAndIndex) {
  const std::string bad = file("b", {"one", "two"});
  std::filesystem::resize_file(bad, 19 + 5);
  const Opened opened = open(node("tf_record", {{"filenames", files({bad})}}));
  ASSERT_EQ(drain(*opened.it, Demand{10}, 1).size(), 1U);
  const Next next = opened.it->next(Demand{10});
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().info().file, bad);
  EXPECT_EQ(next.error().info().offset, 19);
  EXPECT_EQ(next.error().info().index, 1);
  EXPECT_EQ(next.error().info().stage, "tf_record#0");
}

TEST_F(TfRecordOperator, ReadsCompressedFiles) {
  const std::string content = framed_tfrecord("one") + framed_tfrecord("two");
  const auto gzip = files({folder_.write("a", compressed(content, Packed::kGzip))});
  check_operator({.build =
                      [=] {
                        return node("tf_record", {{"filenames", gzip},
                                                  {"compression_type", std::string("GZIP")}});
                      },
                  .expect = {"'one'", "'two'"}});
  const auto refused =
      try_node("tf_record", {{"filenames", gzip}, {"compression_type", std::string("zip")}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace spillway::testing
