#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spillway/io/images/encode.h"
#include "spillway/io/images/image.h"

// Images in memory, for the tests of codecs and of the ops over them.
namespace spillway::testing {

struct Decoded {
  Status status;
  PixelExtent extent;
  std::vector<std::uint8_t> pixels;
};

inline ImageBytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// Decodes by the first bytes, in a budget of `limit` for pixels and all else.
inline Decoded decode_image(std::string_view file, const DecodeOptions& options = {},
                            std::size_t limit = std::size_t{64} << 20U) {
  Decoded out;
  const ImageCodec* const codec = find_image_codec(bytes_of(file));
  if (codec == nullptr) {
    out.status = bad_data(Code::kInvalidArgument, "no format of ours");
    return out;
  }
  Budget budget(limit);
  const AccountPtr account = budget.open_account("image");
  Workspace workspace(account, Buffer::Ask::kOptional);
  std::optional<Buffer> room;
  out.status = codec->decode(
      bytes_of(file), options, workspace, [&](const PixelExtent& extent) -> Result<std::byte*> {
        EXPECT_FALSE(room.has_value());
        EXPECT_GT(extent.items(), 0);
        out.extent = extent;
        const auto items = static_cast<std::size_t>(extent.items());
        SW_ASSIGN(room, Buffer::allocate(account, items * (options.wide ? 2 : 1),
                                         Buffer::Ask::kOptional));
        return room->data();
      });
  if (out.status.ok()) {
    const auto* const from = reinterpret_cast<const std::uint8_t*>(room->data());
    out.pixels.assign(from, from + room->size());
  }
  return out;
}

// Keeps the rows it is handed; like a decoder's room it must not be handed one too many.
class KeptRows final : public PixelSink {
 public:
  explicit KeptRows(Decoded& out) : out_(out) {}
  Status begin(const PixelExtent& extent) override {
    out_.extent = extent;
    out_.pixels.clear();
    return {};
  }
  Status take(const std::byte* rows, std::int64_t count, std::ptrdiff_t stride) override {
    const std::int64_t items = out_.extent.width * out_.extent.channels;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto* const row = reinterpret_cast<const std::uint8_t*>(rows + i * stride);
      out_.pixels.insert(out_.pixels.end(), row, row + items);
    }
    EXPECT_LE(std::ssize(out_.pixels), out_.extent.items());
    return {};
  }

 private:
  Decoded& out_;
};

// The same, row by row.
inline Decoded decode_image_rows(std::string_view file, const DecodeOptions& options = {},
                                 std::size_t limit = std::size_t{64} << 20U) {
  Decoded out;
  Budget budget(limit);
  KeptRows rows(out);
  RowJob job{find_image_codec(bytes_of(file)), bytes_of(file), options, &rows, {}};
  decode_rows({&job, 1}, budget.open_account("image"), Buffer::Ask::kOptional);
  out.status = std::move(job.status);
  return out;
}

inline Result<ImageInfo> info_of(std::string_view file) {
  Budget budget(std::size_t{1} << 20U);
  Workspace workspace(budget.open_account("image"), Buffer::Ask::kOptional);
  return read_image_info(bytes_of(file), workspace);
}

// Smooth in both directions, with a different slope for each channel.
inline std::vector<std::uint8_t> gradient(const PixelExtent& extent) {
  std::vector<std::uint8_t> out;
  for (std::int64_t y = 0; y < extent.height; ++y) {
    for (std::int64_t x = 0; x < extent.width; ++x) {
      for (std::int64_t c = 0; c < extent.channels; ++c) {
        out.push_back(static_cast<std::uint8_t>((x * (c + 1) + y) % 256));
      }
    }
  }
  return out;
}

// What `encode(workspace, sink)` writes.
template <class Encode>
std::string encoded(Encode encode) {
  Budget budget(std::size_t{64} << 20U);
  const AccountPtr account = budget.open_account("image");
  Workspace workspace(account, Buffer::Ask::kOptional);
  ByteSink sink(account, Buffer::Ask::kOptional);
  const Status status = encode(workspace, sink);
  EXPECT_TRUE(status.ok()) << status.message();
  return std::string(text_of(sink.bytes()));
}
inline std::string jpeg_of(const PixelExtent& extent, const JpegEncodeOptions& options = {}) {
  const auto pixels = gradient(extent);
  return encoded([&](Workspace& workspace, ByteSink& sink) {
    return encode_jpeg(reinterpret_cast<const std::byte*>(pixels.data()), extent, options,
                       workspace, sink);
  });
}
inline std::string png_of(const std::vector<std::uint8_t>& pixels, const PixelExtent& extent,
                          bool wide = false) {
  return encoded([&](Workspace& workspace, ByteSink& sink) {
    return encode_png(reinterpret_cast<const std::byte*>(pixels.data()), extent, wide, -1,
                      workspace, sink);
  });
}

// What every format owes to a damaged file: an image, or an error that says whose fault it is;
// never more memory than there is. Cut at every eighth, it is an error.
inline void check_damage(const std::string& file) {
  ASSERT_TRUE(decode_image(file).status.ok());
  const auto check = [](const std::string& damaged) {
    const Decoded got = decode_image(damaged, {}, std::size_t{4} << 20U);
    (void)info_of(damaged);
    if (got.status.ok()) return true;
    const ErrorKind kind = got.status.kind();
    EXPECT_TRUE(kind == ErrorKind::kData || kind == ErrorKind::kResource) << got.status.message();
    EXPECT_TRUE(kind != ErrorKind::kData || got.status.code() == Code::kInvalidArgument);
    return false;
  };
  for (std::size_t part = 0; part < 8; ++part) {
    EXPECT_FALSE(check(file.substr(0, file.size() * part / 8))) << part << " eighths";
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(file.size(), 200); ++i) {
    for (const unsigned flip : {0xFFU, 0x01U, 0x80U}) {
      std::string damaged = file;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ flip);
      check(damaged);
    }
  }
  std::string wrong = file;
  wrong[0] = 'x';
  EXPECT_FALSE(check(wrong));
  EXPECT_FALSE(check(std::string(file.size(), '\0')));
}

}  // namespace spillway::testing
