#include "spillway/testing/image_fuzz.h"

namespace spillway {
extern const ImageCodec kWebpCodec;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return spillway::testing::fuzz_image(data, size, spillway::kWebpCodec);
}
