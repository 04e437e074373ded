#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "spillway/base/status.h"

namespace spillway {

// The envelope of a saved state. A header of fixed size says which format, which pipeline and how
// many bytes; a checksum covers all of it. So a state that was damaged, cut off or lengthened is
// refused before any of it is read. Little endian:
//   8  magic "SPWSTATE"
//   4  version of the format: kStateVersion
//   4  CRC-32C of everything behind these four bytes, begun with that of the version
//   8  hash of the pipeline
//   8  length of the content
//      the content, as the operators write it (state.h)
// Later versions keep the first 16 bytes, so that damage and another version are told apart.
inline constexpr std::uint32_t kStateVersion = 2;
inline constexpr std::size_t kStateHeaderBytes = 32;

std::string seal_state(std::uint64_t pipeline, std::string_view content);

// A view of the content of `state`. DATA_LOSS for anything that seal_state() did not return,
// UNIMPLEMENTED for another version.
struct OpenedState {
  std::uint64_t pipeline = 0;
  std::string_view content;
};
Result<OpenedState> open_state(std::string_view state);

}  // namespace spillway
