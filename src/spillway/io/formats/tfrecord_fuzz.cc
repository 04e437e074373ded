#include "spillway/io/formats/tfrecord.h"
#include "spillway/testing/format_fuzz.h"

// Any bytes as a TFRecord file, plain and compressed: records or an error with its place, within
// the budget; looking for the next good record comes to an end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return spillway::testing::fuzz_records(data, size, spillway::read_tfrecords);
}
