#include "spillway/io/formats/text_lines.h"
#include "spillway/testing/format_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return spillway::testing::fuzz_records(data, size, spillway::read_text_lines);
}
