#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "spillway/io/images/image.h"

namespace spillway::testing {

// The first byte chooses options, the rest is the file. Decodes it in a budget of 16 MiB, and
// aborts where the decoder fails otherwise than by an error of the data or of the budget.
inline int fuzz_image(const std::uint8_t* data, std::size_t size, const ImageCodec& codec) {
  if (size == 0) return 0;
  const unsigned choice = data[0];
  const ImageBytes bytes(reinterpret_cast<const std::byte*>(data + 1), size - 1);
  if (!codec.claims(bytes)) return 0;
  Budget budget(std::size_t{16} << 20U);
  const AccountPtr account = budget.open_account("fuzz");
  Workspace workspace(account, Buffer::Ask::kOptional);
  constexpr int kChannels[] = {0, 1, 3, 4};
  DecodeOptions options{.channels = kChannels[choice & 3U],
                        .wide = (choice & 4U) != 0,
                        .first_frame = (choice & 8U) != 0,
                        .ratio = 1 << (choice >> 4U & 3U),
                        .try_recover_truncated = (choice & 64U) != 0,
                        .crop = {}};
  if ((choice & 128U) != 0) options.crop = CropWindow{1, 3, 2, 5};
  const auto info = codec.read_info(bytes, workspace);
  if (info.ok() && (info.value().width <= 0 || info.value().height <= 0)) std::abort();
  std::optional<Buffer> room;
  const auto make = [&](const PixelExtent& extent) -> Result<std::byte*> {
    if (room || extent.items() <= 0) std::abort();
    const auto items = static_cast<std::size_t>(extent.items());
    // An exact allocation, so that one byte too many is seen.
    SW_ASSIGN(room,
              Buffer::allocate(account, items * (options.wide ? 2 : 1), Buffer::Ask::kOptional));
    return room->data();
  };
  const Status status = codec.decode(bytes, options, workspace, make);
  if (!status.ok() && status.kind() == ErrorKind::kBug) std::abort();
  return 0;
}

}  // namespace spillway::testing
