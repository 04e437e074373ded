#include <gtest/gtest.h>

#include "spillway/testing/file_pipelines.h"
#include "spillway/testing/operator_conformance.h"
#include "spillway/testing/tar_archives.h"

namespace spillway::testing {
namespace {

std::string sample(const std::string& key) {
  return tar_member(key + ".jpg", "J" + key) + tar_member(key + ".cls", "C" + key);
}
NodePtr samples_of(const ElementPtr& paths, NamedValues more = {}) {
  more.insert(more.begin(), {{"filenames", paths}, {"keys", files({"jpg", "cls"})}});
  return node("tar_samples", more);
}
std::string shown(const std::string& key) {
  return "{__key__: '" + key + "', cls: 'C" + key + "', jpg: 'J" + key + "'}";
}

TEST(TarSamplesOperator, ReadsArchivesOneAfterTheOther) {
  const TemporaryFolder folder;
  const std::string gzip = compressed(sample("b") + sample("c") + tar_end(), Packed::kGzip);
  const auto paths = files({folder.write("a.tar", sample("a") + sample("b") + tar_end()),
                            folder.write("none.tar", tar_end()), folder.write("c.tar.gz", gzip)});
  check_operator({.build = [=] { return samples_of(paths); },
                  .expect = {shown("a"), shown("b"), shown("b"), shown("c")}});
}

TEST(TarSamplesOperator, ADamagedArchiveIsOneErrorInItsPlaceAndTheNextFollows) {
  const TemporaryFolder folder;
  std::string bad = sample("a") + sample("b") + sample("c") + tar_end();
  bad[2048 + 1024] = '!';  // the header of b.cls
  const auto paths = files({folder.write("a.tar", bad), folder.path() + "/none.tar",
                            folder.write("c.tar", sample("d") + tar_end())});
  check_operator({.build = [=] { return samples_of(paths); },
                  .expect = {shown("a"), "!DATA_LOSS", "!NOT_FOUND", shown("d")}});
  check_operator({.build = [=] { return samples_of(paths, {{"resynchronise", true}}); },
                  .expect = {shown("a"), "!DATA_LOSS", shown("c"), "!NOT_FOUND", shown("d")}});
}

TEST(TarSamplesOperator, ASampleThatDiffersIsOneErrorAndTheNextSampleFollows) {
  const TemporaryFolder folder;
  const std::string content =
      sample("a") + tar_member("b.cls", "x") + sample("c") + tar_member("c.txt", "y") + tar_end();
  const auto paths = files({folder.write("a.tar", content)});
  check_operator({.build = [=] { return samples_of(paths); },
                  .expect = {shown("a"), "!DATA_LOSS", shown("c")}});
  check_operator({.build = [=] { return samples_of(paths, {{"exact", true}}); },
                  .expect = {shown("a"), "!DATA_LOSS", "!DATA_LOSS"}});
}

TEST(TarSamplesOperator, KeysMustBeDifferentExtensions) {
  const auto twice = try_node(
      "tar_samples", {{"filenames", files({"a"})}, {"keys", files({"jpg", "cls", "jpg"})}});
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().message().find("different extensions: jpg"), std::string_view::npos);
}

}  // namespace
}  // namespace spillway::testing
