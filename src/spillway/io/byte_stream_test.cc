#include "spillway/io/byte_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "spillway/base/interrupt.h"
#include "spillway/base/random.h"
#include "spillway/testing/files.h"

namespace spillway::testing {
namespace {

using ::testing::HasSubstr;

std::string noise(std::size_t bytes) {
  PhiloxStream numbers = PhiloxStream::at(1, 2, 3);
  std::string out(bytes, '\0');
  for (char& c : out) c = static_cast<char>(numbers.next());
  return out;
}

struct Case {
  Compression compression;
  std::string file;
};
std::vector<Case> packed(const std::string& content) {
  return {{Compression::kNone, content},
          {Compression::kGzip, compressed(content, Packed::kGzip)},
          {Compression::kZlib, compressed(content, Packed::kZlib)}};
}

// Looks one byte further each time, as whoever searches for an end does.
Status look_on(ByteStream& stream) {
  for (std::size_t n = 1;;) {
    SW_ASSIGN(const auto found, stream.look(n));
    if (found.size() < n) return {};
    n = found.size() + 1;
  }
}

TEST(ByteStream, RefusesWhatGrowsBeyondTheLimitWithPlaceAndSizes) {
  for (const Case& each : packed(std::string(std::size_t{32} << 20U, 'x'))) {
    Budget budget(std::size_t{8} << 20U);
    const AccountPtr account = budget.open_account("text");
    auto stream = ByteStream::open(file_of({each.file}), each.compression, account).value();
    ASSERT_TRUE(stream->look(10).ok());
    stream->pass(7);
    for (int twice = 0; twice < 2; ++twice) {
      const Status refused = look_on(*stream);
      EXPECT_EQ(refused.info().type, "ElementTooLarge");
      EXPECT_EQ(refused.info().offset, 7);
      EXPECT_EQ(refused.info().file, stream->file().path());
      EXPECT_THAT(std::string(refused.message()), HasSubstr("the element at byte 7, of which "));
      EXPECT_THAT(std::string(refused.message()), HasSubstr("limit 8.00 MiB"));
    }
    EXPECT_EQ(stream->position(), 7U);
  }
}

TEST(ByteStream, GrowsInAFewSteps) {
  const std::string content(std::size_t{6} << 20U, 'x');
  std::size_t copied = 0;
  std::size_t before = 0;
  Budget budget(std::size_t{16} << 20U);
  const AccountPtr account = budget.open_account("text");
  auto stream =
      ByteStream::open(file_of({content, 1000}), Compression::kNone, account, 4096).value();
  const std::byte* at = nullptr;
  for (std::size_t n = 1;;) {
    const auto found = stream->look(n);
    ASSERT_TRUE(found.ok()) << found.error().message();
    if (found.value().data() != at) copied += before;
    at = found.value().data();
    before = found.value().size();
    if (before < n) break;
    n = before + 1;
  }
  EXPECT_LT(copied, 8 * content.size());
}

bool press() { return true; }

TEST(ByteStream, PassesNothingOfAReadThatIsInterrupted) {
  const std::string content = noise(std::size_t{1} << 20U);
  for (const Case& each : packed(content)) {
    auto stream = stream_of({each.file}, each.compression, 4096);
    std::string head(1000, '\0');
    ASSERT_EQ(stream->read(std::as_writable_bytes(std::span(head))).value(), head.size());
    ASSERT_GE(stream->look(100).value().size(), 100U);
    std::string rest(content.size() - head.size(), '\0');
    // A thread that was not asked before: one is asked at most every 20 ms.
    std::thread asked([&] {
      const InterruptScope ctrl_c(press);
      const auto got = stream->read(std::as_writable_bytes(std::span(rest)));
      ASSERT_FALSE(got.ok());
      EXPECT_EQ(got.error().code(), Code::kCancelled);
    });
    asked.join();
    EXPECT_EQ(stream->position(), head.size());
    EXPECT_EQ(stream->read(std::as_writable_bytes(std::span(rest))).value(), rest.size());
    EXPECT_TRUE(head + rest == content);
  }
}

TEST(ByteStream, SeeksBehindAnInterruptedReadToo) {
  const std::string content = noise(std::size_t{1} << 20U);
  for (const Case& each : packed(content)) {
    auto stream = stream_of({each.file}, each.compression, 4096);
    std::string out(content.size(), '\0');
    ASSERT_TRUE(stream->seek(5000).ok());
    std::thread asked([&] {
      const InterruptScope ctrl_c(press);
      EXPECT_FALSE(stream->read(std::as_writable_bytes(std::span(out))).ok());
    });
    asked.join();
    ASSERT_TRUE(stream->seek(7000).ok());
    EXPECT_EQ(stream->read(std::as_writable_bytes(std::span(out))).value(), out.size() - 7000);
    EXPECT_TRUE(out.substr(0, out.size() - 7000) == content.substr(7000));
  }
}

}  // namespace
}  // namespace spillway::testing
