#include "spillway/io/formats/fixed_length.h"

#include <gtest/gtest.h>

#include "spillway/testing/files.h"

namespace spillway::testing {
namespace {

OpenReader lengths(const FixedLength& lengths) {
  return [lengths](std::unique_ptr<ByteStream> stream) {
    return read_fixed_length(std::move(stream), lengths);
  };
}

TEST(FixedLength, CutsWhatLiesBetweenHeaderAndFooter) {
  check_format(lengths({3, 2, 1}), "HHonetwosixF", {"one", "two", "six"});
  EXPECT_TRUE(records_of(lengths({3, 2, 1}), {"HHF"}).empty());
}

TEST(FixedLength, AFileThatIsNoWholeNumberOfThemIsRefused) {
  EXPECT_EQ(records_of(lengths({3}), {"onetw"}), std::vector<std::string>{"!INVALID_ARGUMENT"});
  EXPECT_EQ(records_of(lengths({3, 4, 4}), {"one"}), std::vector<std::string>{"!INVALID_ARGUMENT"});
  EXPECT_EQ(records_of(lengths({3}), {compressed("onetw", Packed::kGzip)}, Compression::kGzip),
            (std::vector<std::string>{"one", "!DATA_LOSS"}));
}

}  // namespace
}  // namespace spillway::testing
