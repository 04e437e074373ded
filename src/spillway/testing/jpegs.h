#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "spillway/io/images/jpeg_baseline.h"

// JPEG files decoded by the library and by our own decoder, to be compared.
namespace spillway::testing {

// Keeps what it is given. `own_room`: rows are written where they stay.
class RowKeeper final : public PixelSink {
 public:
  explicit RowKeeper(bool own_room = false) : own_room_(own_room) {}

  Status begin(const PixelExtent& extent) override {
    this->extent = extent;
    ++begun;
    pixels.assign(static_cast<std::size_t>(extent.items()), 0);
    used_ = 0;
    return {};
  }
  std::byte* place(std::int64_t /*count*/) override {
    return own_room_ ? reinterpret_cast<std::byte*>(pixels.data() + used_) : nullptr;
  }
  Status take(const std::byte* rows, std::int64_t count, std::ptrdiff_t stride) override {
    const auto row = static_cast<std::size_t>(extent.width * extent.channels);
    for (std::int64_t y = 0; y < count; ++y, used_ += row) {
      if (!own_room_) std::memcpy(pixels.data() + used_, rows + y * stride, row);
    }
    return {};
  }
  bool full() const { return used_ == pixels.size(); }

  PixelExtent extent;
  std::vector<std::uint8_t> pixels;
  int begun = 0;

 private:
  const bool own_room_;
  std::size_t used_ = 0;
};

struct DecodedJpeg {
  Status status;
  std::vector<std::uint8_t> pixels;

  // The same pixels, or the same error.
  bool operator==(const DecodedJpeg& other) const {
    return status.ok() == other.status.ok() &&
           (status.ok() ? pixels == other.pixels : status.message() == other.status.message());
  }
};

inline DecodedJpeg by_library(ImageBytes bytes, const DecodeOptions& options,
                              const Workspace& workspace) {
  RowKeeper rows;
  Workspace memory = workspace.sibling();
  Status status = decode_jpeg_by_library(bytes, options, memory, rows);
  return {std::move(status), std::move(rows.pixels)};
}

// By our own decoder where that can do it, as the codec does.
inline DecodedJpeg by_us(ImageBytes bytes, const DecodeOptions& options,
                         const Workspace& workspace) {
  RowKeeper rows(bytes.size() % 2 == 0);
  Workspace memory = workspace.sibling();
  JpegJob job{bytes, &rows};
  decode_jpegs({&job, 1}, options, memory);
  if (!job.done) job.status = decode_jpeg_by_library(bytes, options, memory, rows);
  return {std::move(job.status), std::move(rows.pixels)};
}

}  // namespace spillway::testing
