#include <gtest/gtest.h>

#include "spillway/pipeline/access.h"
#include "spillway/pipeline/sealed_json.h"
#include "spillway/testing/operator_conformance.h"
#include "spillway/testing/saved_datasets.h"

namespace spillway::testing {
namespace {

using Strings = std::vector<std::string>;

NodePtr load(const std::string& path, std::int64_t cycle = 1) {
  return node("load", {{"path", path}, {"cycle_length", cycle}});
}

TEST(Load, ReadsWhatWasSaved) {
  const TemporaryFolder folder;
  saved(range(5), folder.path());
  check_operator(
      {.build = [&] { return load(folder.path()); }, .expect = {"0", "1", "2", "3", "4"}});
  saved(vectors_of({3, 0, 1}), folder.path(), nullptr, "GZIP");
  check_operator(
      {.build = [&] { return load(folder.path()); }, .expect = elements(vectors_of({3, 0, 1}))});
  saved(range(0), folder.path());
  check_operator({.build = [&] { return load(folder.path()); }, .expect = {}});
}

TEST(Load, TakesShardsByTurnsInTheOrderOfInterleave) {
  const TemporaryFolder folder;
  saved(range(6), folder.path(), modulo(3));
  check_operator(
      {.build = [&] { return load(folder.path(), 2); }, .expect = {"0", "1", "3", "4", "2", "5"}});
  check_operator(
      {.build = [&] { return load(folder.path(), 1); }, .expect = {"0", "3", "1", "4", "2", "5"}});
  check_operator(
      {.build = [&] { return load(folder.path(), 9); }, .expect = {"0", "1", "2", "3", "4", "5"}});
}

TEST(Load, AMissingOrCutShardIsOneErrorInItsPlace) {
  const TemporaryFolder folder;
  saved(range(6), folder.path(), modulo(3));
  const NodePtr all = load(folder.path(), 3);
  const auto shard = only_shard(folder.path());
  const auto at = shard.rfind('/') + 1;
  const std::string second = shard.substr(0, at) + "00000001.shard";
  const std::string whole = content_of(second);
  for (std::size_t cut = 0; cut < whole.size(); cut += 7) {
    replace_content(second, whole.substr(0, cut));
    EXPECT_EQ(elements(all), (Strings{"0", "!DATA_LOSS", "2", "3", "5"})) << cut;
  }
  std::filesystem::remove(second);
  EXPECT_EQ(elements(all), (Strings{"0", "!NOT_FOUND", "2", "3", "5"}));
}

TEST(Load, EveryChangedByteIsFound) {
  const TemporaryFolder folder;
  saved(range(3), folder.path());
  const std::string shard = only_shard(folder.path());
  const std::string whole = content_of(shard);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    replace_content(shard, damaged);
    EXPECT_EQ(elements(load(folder.path())).back(), "!DATA_LOSS") << i;
  }
}

TEST(Load, NamesFileAndOffset) {
  const TemporaryFolder folder;
  saved(range(3), folder.path());
  const std::string shard = only_shard(folder.path());
  std::string damaged = content_of(shard);
  damaged[16 + 26 + 20] ^= 1;
  replace_content(shard, damaged);
  const Opened pass = open(load(folder.path()));
  EXPECT_TRUE(pass.it->next(Demand{8}).ok());
  const Next bad = pass.it->next(Demand{8});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().info().file, shard);
  EXPECT_EQ(bad.error().info().offset, 16 + 26);
  EXPECT_EQ(bad.error().info().index, 1);
}

TEST(Load, RefusesAtOnceWhatIsNotThereOrDoesNotFit) {
  const TemporaryFolder folder;
  const auto refused = [&](const NamedValues& more) {
    NamedValues params = {{"path", folder.path()}};
    params.insert(params.end(), more.begin(), more.end());
    const auto made = try_node("load", params);
    return made.ok() ? Code::kOk : made.error().code();
  };
  EXPECT_EQ(refused({}), Code::kNotFound);
  folder.write("dataset_spec.pb", "");
  EXPECT_EQ(refused({}), Code::kUnimplemented);
  std::filesystem::remove(folder.path() + "/dataset_spec.pb");
  saved(range(3), folder.path());
  EXPECT_EQ(refused({{"element_spec", i64_spec()}}), Code::kOk);
  EXPECT_EQ(refused({{"element_spec", i64_spec(Shape::unknown_rank())}}), Code::kOk);
  EXPECT_EQ(refused({{"element_spec", i64_spec(Shape{2})}}), Code::kInvalidArgument);
  EXPECT_EQ(refused({{"element_spec", Structure::tensor(DType::kInt32, {})}}),
            Code::kInvalidArgument);
  EXPECT_EQ(refused({{"element_spec", Structure::tuple({i64_spec(), i64_spec()})}}),
            Code::kInvalidArgument);
  EXPECT_EQ(refused({{"compression", "GZIP"}}), Code::kDataLoss);
}

TEST(Load, ForgedMetadataAreRefused) {
  const TemporaryFolder folder;
  saved(range(3), folder.path());
  const std::string path = folder.path() + "/snapshot.metadata";
  const std::string text = content_of(path);
  const std::string plain = text.substr(0, text.rfind(",\"crc32c\"")) + "}";
  ASSERT_EQ(seal_json(plain) + "\n", text);
  const auto with = [&](const std::string& old, const std::string& now, bool sealed = true) {
    std::string forged = plain;
    forged.replace(forged.find(old), old.size(), now);
    replace_content(path, sealed ? seal_json(forged) + "\n" : forged);
    const auto made = try_node("load", {{"path", folder.path()}});
    return made.ok() ? elements(made.value())
                     : Strings{std::string("!") + std::string(to_string(made.error().code()))};
  };
  EXPECT_EQ(with("\"run\":\"", "\"run\":\"../"), Strings{"!DATA_LOSS"});
  EXPECT_EQ(with("\"rows\":3", "\"rows\":-3"), Strings{"!DATA_LOSS"});
  EXPECT_EQ(with("\"rows\":3", "\"rows\":2"), (Strings{"0", "1", "2", "!DATA_LOSS"}));
  EXPECT_EQ(with("\"bytes\":", "\"bytes\":1"), Strings{"!DATA_LOSS"});
  EXPECT_EQ(with("\"compression\":\"\"", "\"compression\":7"), Strings{"!DATA_LOSS"});
  EXPECT_EQ(with("\"spillway_dataset\":2", "\"spillway_dataset\":3"), Strings{"!UNIMPLEMENTED"});
  EXPECT_EQ(with("\"dtype\":\"int64\"", "\"dtype\":\"int32\""), Strings{"!DATA_LOSS"});
  EXPECT_EQ(with("{", "["), Strings{"!DATA_LOSS"});
  EXPECT_EQ(with("{", "{", false), Strings{"!DATA_LOSS"}) << "without the checksum";
  EXPECT_EQ(with("\"spillway_dataset\":2", "\"spillway_dataset\":1", false),
            (Strings{"0", "1", "2"}))
      << "as older versions wrote it";
}

TEST(Load, EveryFlippedBitOfTheMetadataIsRefused) {
  const TemporaryFolder folder;
  saved(range(3), folder.path());
  const std::string path = folder.path() + "/snapshot.metadata";
  const std::string text = content_of(path);
  for (std::size_t bit = 0; bit + 8 < text.size() * 8; ++bit) {  // but those of the line's end
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    replace_content(path, flipped);
    const auto made = try_node("load", {{"path", folder.path()}});
    ASSERT_FALSE(made.ok()) << bit;
    const Code code = made.error().code();
    EXPECT_TRUE(code == Code::kDataLoss || code == Code::kUnimplemented || code == Code::kNotFound)
        << bit << to_string(code);
  }
}

TEST(Load, ARandomRowIsReadAlone) {
  const TemporaryFolder folder;
  saved(range(9), folder.path());
  auto access = Access::open(load(folder.path()), {});
  ASSERT_TRUE(access.ok());
  EXPECT_EQ(access.value()->size(), 9);
  EXPECT_EQ(show(access.value()->at(7).value(), 0), "7");
  EXPECT_EQ(access.value()->at(9).error().code(), Code::kOutOfRange);
  saved(range(4), folder.path(), nullptr, "GZIP");
  EXPECT_EQ(Access::open(load(folder.path()), {}).error().code(), Code::kUnimplemented);
}

}  // namespace
}  // namespace spillway::testing
