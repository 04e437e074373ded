#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "spillway/io/images/image.h"

namespace spillway::testing {

// Aborts where a row differs from what was decoded as a whole.
class SameRows final : public PixelSink {
 public:
  SameRows(const std::byte* whole, std::int64_t item) : whole_(whole), item_(item) {}
  Status begin(const PixelExtent& extent) override {
    bytes_ = extent.width * extent.channels * item_;
    left_ = extent.frames * extent.height;
    at_ = whole_;
    return {};
  }
  Status take(const std::byte* rows, std::int64_t count, std::ptrdiff_t stride) override {
    if (count > left_) std::abort();
    for (std::int64_t i = 0; i < count; ++i, at_ += bytes_) {
      if (std::memcmp(rows + i * stride, at_, static_cast<std::size_t>(bytes_)) != 0) std::abort();
    }
    left_ -= count;
    return {};
  }

 private:
  const std::byte* const whole_;
  const std::int64_t item_;
  const std::byte* at_ = nullptr;
  std::int64_t bytes_ = 0;
  std::int64_t left_ = 0;
};

// The first byte chooses options, the rest is the file. Decodes it in a budget of 16 MiB, and
// aborts where the decoder fails otherwise than by an error of the data or of the budget, or where
// its rows are not those of the image.
inline int fuzz_image(const std::uint8_t* data, std::size_t size, const ImageCodec& codec) {
  if (size == 0) return 0;
  const unsigned choice = data[0];
  const ImageBytes bytes(reinterpret_cast<const std::byte*>(data + 1), size - 1);
  if (!codec.claims(bytes)) return 0;
  Budget budget(std::size_t{16} << 20U);
  const AccountPtr account = budget.open_account("fuzz");
  Workspace workspace(account, Buffer::Ask::kOptional);
  constexpr int kChannels[] = {0, 1, 3, 4};
  // Only PNG has items of two bytes; other decoders are never asked for them.
  const bool wide = codec.format == ImageFormat::kPng && (choice & 4U) != 0;
  DecodeOptions options{.channels = kChannels[choice & 3U],
                        .wide = wide,
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
  if (status.ok()) {
    SameRows rows(room->data(), options.wide ? 2 : 1);
    RowJob job{&codec, bytes, options, &rows, {}};
    decode_rows({&job, 1}, account, Buffer::Ask::kOptional);
    if (!job.status.ok() && job.status.kind() != ErrorKind::kResource) std::abort();
  }
  return 0;
}

}  // namespace spillway::testing
