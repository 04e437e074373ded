#include "spillway/io/crc32c.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spillway/base/random.h"

namespace spillway {
namespace {

std::uint32_t crc_of(const std::string& text) { return crc32c(std::as_bytes(std::span(text))); }

TEST(Crc32c, GivesTheKnownSums) {
  EXPECT_EQ(crc_of(""), 0U);
  EXPECT_EQ(crc_of("123456789"), 0xe3069283U);
  EXPECT_EQ(crc_of(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc_of(std::string(32, '\xff')), 0x62a8ab43U);
}

TEST(Crc32c, EveryWayAgreesWithTheTablesAtEveryLength) {
  PhiloxStream numbers = PhiloxStream::at(1, 2, 0);
  std::vector<std::byte> bytes(70'000);  // more than the longest stride of any way, twice
  for (std::byte& b : bytes) b = static_cast<std::byte>(numbers.next());
  const auto ways = internal::crc32c_ways();
  for (std::size_t n = 0; n < bytes.size(); n += n < 2200 ? 1 : 997) {
    for (const std::size_t first : {0, 3}) {
      const auto part = std::span(bytes).subspan(first, std::min(n, bytes.size() - first));
      const std::uint32_t sum = internal::crc32c_by(ways.front(), part);
      for (std::size_t k = 1; k < ways.size(); ++k) {
        ASSERT_EQ(internal::crc32c_by(ways[k], part), sum) << "way " << k << ", length " << n;
      }
      ASSERT_EQ(crc32c(part), sum) << n;
    }
  }
}

}  // namespace
}  // namespace spillway
