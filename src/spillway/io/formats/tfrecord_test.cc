#include "spillway/io/formats/tfrecord.h"

#include <gtest/gtest.h>

#include "spillway/testing/files.h"

namespace spillway::testing {
namespace {

std::string file_with(const std::vector<std::string>& records) {
  std::string out;
  for (const std::string& record : records) out += framed_tfrecord(record);
  return out;
}

TEST(TfRecord, ReadsWhatWasFramed) {
  const std::vector<std::string> records = {"one", "", "three", std::string(300, 'x')};
  check_format(read_tfrecords, file_with(records), records);
}

TEST(TfRecord, LargeRecordsGoStraightToTheirPlace) {
  std::vector<std::string> records;
  for (const std::size_t size : {16'384, 100'000, 3, 50'000, 20'000}) {
    records.push_back(std::string(size, static_cast<char>('a' + records.size())));
  }
  const std::string content = file_with(records);
  EXPECT_EQ(records_of(read_tfrecords, {content}), records);
  EXPECT_EQ(records_of(read_tfrecords, {content, 1000}, Compression::kNone, 2, 200'000), records);
  EXPECT_EQ(records_of(read_tfrecords, {compressed(content, Packed::kGzip)}, Compression::kGzip),
            records);
}

// Every byte of three records in turn: never a wrong record, always an error with a place.
TEST(TfRecord, NoDamagedByteGoesUnseen) {
  const std::vector<std::string> records = {"one", "second", "3"};
  const std::string content = file_with(records);
  for (std::size_t i = 0; i < content.size(); ++i) {
    std::string damaged = content;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    const auto got = records_of(read_tfrecords, {damaged});
    ASSERT_EQ(got.back(), "!DATA_LOSS") << "byte " << i;
    for (std::size_t r = 0; r + 1 < got.size(); ++r) EXPECT_EQ(got[r], records[r]);
  }
}

TEST(TfRecord, SaysWhatWasExpectedAndFound) {
  std::string content = file_with({"one", "two"});
  content[19 + 12] = 'T';
  auto reader = read_tfrecords(stream_of({content})).value();
  StringRows out(Budget::process().open_account("test"), 10, 1000);
  const auto read = reader->read(out);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(out.count(), 1);
  EXPECT_EQ(read.error().info().offset, 19);
  const std::string message(read.error().message());
  EXPECT_NE(message.find("corrupted record at 19 in memory.file: the record's checksum: expected "),
            std::string::npos)
      << message;
}

TEST(TfRecord, ALengthIsNeverBelievedBeyondTheFile) {
  std::string header(8, '\x7f');
  const std::string content = framed_tfrecord(header);  // its content is not its length
  std::string forged = content.substr(12, 8);
  std::string frame = framed_tfrecord(std::string());
  // The right checksum of a length of 2^63: taken from a record whose content is that length.
  const std::string sum = content.substr(20, 4);
  const auto got = records_of(read_tfrecords, {forged + sum + frame});
  EXPECT_EQ(got, std::vector<std::string>{"!DATA_LOSS"});
}

std::vector<std::string> resynchronised(const std::string& content) {
  auto reader = read_tfrecords(stream_of({content})).value();
  std::vector<std::string> out;
  for (;;) {
    StringRows some(Budget::process().open_account("test"), 10, 100'000);
    const auto read = reader->read(some);
    if (some.count() > 0) {
      const Tensor strings = some.take();
      for (std::int64_t i = 0; i < strings.count(); ++i) out.emplace_back(strings.string_at(i));
    }
    if (read.ok() && read.value()) continue;
    if (read.ok()) return out;
    out.emplace_back("!");
    const auto found = reader->resynchronise();
    if (!found.ok() || !found.value()) return out;
  }
}

TEST(TfRecord, GoesOnAtTheNextGoodRecord) {
  const std::string large(20'000, 'x');
  const std::string content = file_with({"one", "two", large, "four"});
  std::string bad = content;
  bad[19 + 13] ^= 1;  // in the second record
  EXPECT_EQ(resynchronised(bad), (std::vector<std::string>{"one", "!", large, "four"}));
  bad = content;
  bad[19] ^= 1;  // in its length
  EXPECT_EQ(resynchronised(bad), (std::vector<std::string>{"one", "!", large, "four"}));
  bad = content;
  bad[2 * 19 + 12 + 5000] ^= 1;  // in the large one
  EXPECT_EQ(resynchronised(bad), (std::vector<std::string>{"one", "two", "!", "four"}));
  EXPECT_EQ(resynchronised(content.substr(0, content.size() - 1)),
            (std::vector<std::string>{"one", "two", large, "!"}));
}

}  // namespace
}  // namespace spillway::testing
