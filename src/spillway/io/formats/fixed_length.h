#pragma once

#include "spillway/io/record_reader.h"

namespace spillway {

struct FixedLength {
  std::uint64_t record = 1;  // bytes
  std::uint64_t header = 0;  // passed over at the file's beginning
  std::uint64_t footer = 0;  // left at its end
};

// Records of one length. A file whose rest is no whole number of them is refused when it is opened;
// a compressed one when its end is met, as its length is not known before.
Result<RecordReaderPtr> read_fixed_length(std::unique_ptr<ByteStream> stream,
                                          const FixedLength& lengths);

}  // namespace spillway
