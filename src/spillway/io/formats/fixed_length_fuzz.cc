#include "spillway/io/formats/fixed_length.h"
#include "spillway/testing/format_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const spillway::FixedLength lengths{std::uint64_t{1} + data[0], data[1], data[2]};
  return spillway::testing::fuzz_records(
      data + 3, size - 3, [lengths](std::unique_ptr<spillway::ByteStream> stream) {
        return spillway::read_fixed_length(std::move(stream), lengths);
      });
}
