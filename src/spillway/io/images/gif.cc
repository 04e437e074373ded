#include <algorithm>
#include <array>
#include <cstring>

#include "spillway/base/interrupt.h"
#include "spillway/io/images/image.h"

// GIF in our own code: the walk over its blocks has to come first anyway, to know the size of the
// animation before anything is allocated, and what remains then is the LZW of a row.
namespace spillway {
namespace {

constexpr unsigned kTrailer = 0x3B;
constexpr unsigned kExtension = 0x21;
constexpr unsigned kImage = 0x2C;
constexpr unsigned kGraphicControl = 0xF9;

struct Palette {
  std::size_t at = 0;
  unsigned colors = 0;  // 0: there is none
};

struct Frame {
  std::int64_t left = 0;
  std::int64_t top = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;
  bool interlaced = false;
  Palette palette;
  int transparent = -1;
  std::size_t data_at = 0;  // of the LZW code size
};

template <class... Parts>
Status corrupt(ImageBytes bytes, std::size_t offset, const Parts&... parts) {
  return corrupt_image(ImageFormat::kGif, bytes, offset, parts...);
}
Status too_short(ImageBytes bytes, std::string_view inside) {
  return corrupt(bytes, bytes.size(), "the file ends inside ", inside);
}

// Goes over the blocks from frame to frame, looking at sizes only.
class Blocks {
 public:
  explicit Blocks(ImageBytes bytes) : bytes_(bytes) {}

  Status open() {
    if (!have(13)) return too_short(bytes_, "its header");
    at_ = 13;
    return take_palette(byte(10), screen_);
  }
  // False: no more frames. A file may end after a frame without saying so.
  Result<bool> next(Frame& frame) {
    int transparent = -1;
    bool controlled = false;
    for (;;) {
      if (at_ == bytes_.size() && frames_ > 0) return false;
      if (!have(1)) return too_short(bytes_, "its blocks");
      const unsigned kind = byte(at_++);
      if (kind == kTrailer) return false;
      if (kind == kImage) {
        SW_RETURN_IF_ERROR(take_image(frame));
        frame.transparent = transparent;
        ++frames_;
        return true;
      }
      if (kind != kExtension) {
        return corrupt(bytes_, at_ - 1, "expected an image, an extension or the end, found ", kind);
      }
      if (!have(6)) return too_short(bytes_, "an extension");
      // The first one before a frame counts.
      if (byte(at_) == kGraphicControl && byte(at_ + 1) == 4 && !controlled) {
        controlled = true;
        if ((byte(at_ + 2) & 1U) != 0) transparent = static_cast<int>(byte(at_ + 5));
      }
      ++at_;
      SW_RETURN_IF_ERROR(pass_data());
    }
  }

 private:
  bool have(std::size_t n) const { return bytes_.size() - at_ >= n; }
  unsigned byte(std::size_t at) const { return std::to_integer<unsigned>(bytes_[at]); }
  std::int64_t number(std::size_t at) const { return byte(at) | byte(at + 1) << 8U; }

  Status take_palette(unsigned flags, Palette& palette) {
    palette = {};
    if ((flags & 0x80U) == 0) return {};
    palette = {at_, 2U << (flags & 7U)};
    if (!have(3 * std::size_t{palette.colors})) return too_short(bytes_, "a palette");
    at_ += 3 * std::size_t{palette.colors};
    return {};
  }
  Status take_image(Frame& frame) {
    if (!have(9)) return too_short(bytes_, "the description of a frame");
    const std::size_t began = at_;
    frame = {};
    frame.left = number(at_);
    frame.top = number(at_ + 2);
    frame.width = number(at_ + 4);
    frame.height = number(at_ + 6);
    frame.interlaced = (byte(at_ + 8) & 0x40U) != 0;
    at_ += 9;
    if (frame.width == 0 || frame.height == 0) {
      return corrupt(bytes_, began + 4, "a frame must have pixels: ", frame.width, " by ",
                     frame.height);
    }
    SW_RETURN_IF_ERROR(take_palette(byte(at_ - 1), frame.palette));
    if (frame.palette.colors == 0) frame.palette = screen_;
    if (frame.palette.colors == 0) return corrupt(bytes_, began, "missing color map for a frame");
    if (!have(1)) return too_short(bytes_, "the description of a frame");
    frame.data_at = at_++;
    return pass_data();
  }
  // Blocks of up to 255 bytes, an empty one at the end.
  Status pass_data() {
    for (;;) {
      if (!have(1)) return too_short(bytes_, "a block of data");
      const std::size_t size = byte(at_++);
      if (size == 0) return {};
      if (!have(size)) return too_short(bytes_, "a block of data");
      at_ += size;
    }
  }

  const ImageBytes bytes_;
  std::size_t at_ = 0;
  std::int64_t frames_ = 0;
  Palette screen_;
};

// The color indices of a frame, in the order they are stored.
class Lzw {
 public:
  // `at`: of the code size; Blocks has seen that the blocks behind it are whole.
  Lzw(ImageBytes bytes, std::size_t at)
      : bytes_(bytes), at_(at + 1), root_bits_(std::to_integer<unsigned>(bytes[at])) {}

  Status open() {
    if (root_bits_ < 1 || root_bits_ > 8) {
      return corrupt(bytes_, at_ - 1, "expected an LZW code size of 1 to 8, found ", root_bits_);
    }
    for (unsigned i = 0; i < clear_code(); ++i) suffix_[i] = static_cast<std::uint8_t>(i);
    reset();
    return {};
  }
  Status fill(std::uint8_t* out, std::int64_t n) {
    while (n > 0) {
      if (waiting_ > 0) {
        *out++ = stack_[--waiting_];
        --n;
        continue;
      }
      SW_RETURN_IF_ERROR(take_code());
    }
    return {};
  }

 private:
  static constexpr unsigned kCodes = 4096;
  static constexpr unsigned kNone = kCodes;

  unsigned clear_code() const { return 1U << root_bits_; }
  void reset() {
    next_ = clear_code() + 2;
    bits_ = root_bits_ + 1;
    last_ = kNone;
  }
  Status take_code() {
    while (have_ < bits_) {
      if (block_left_ == 0) {
        block_left_ = std::to_integer<std::size_t>(bytes_[at_]);
        if (block_left_ == 0) return corrupt(bytes_, at_, "the data of a frame ends too soon");
        ++at_;
      }
      window_ |= std::to_integer<std::uint32_t>(bytes_[at_++]) << have_;
      --block_left_;
      have_ += 8;
    }
    const unsigned code = window_ & ((1U << bits_) - 1U);
    window_ >>= bits_;
    have_ -= bits_;
    if (code == clear_code()) {
      reset();
      return {};
    }
    if (code == clear_code() + 1) return corrupt(bytes_, at_, "the data of a frame ends too soon");
    return put(code);
  }
  // Leaves what a code stands for on the stack, and learns the next code from it.
  Status put(unsigned code) {
    const bool repeats = code == next_ && last_ != kNone;  // the code that is being learnt
    if (code >= next_ && !repeats) {
      return corrupt(bytes_, at_, "expected an LZW code below ", next_, ", found ", code);
    }
    unsigned at = code;
    if (repeats) {
      stack_[waiting_++] = first_;
      at = last_;
    }
    for (; at >= clear_code(); at = prefix_[at]) stack_[waiting_++] = suffix_[at];
    first_ = suffix_[at];
    stack_[waiting_++] = first_;
    if (last_ != kNone && next_ < kCodes) {
      prefix_[next_] = static_cast<std::uint16_t>(last_);
      suffix_[next_] = first_;
      ++next_;
      if (next_ == 1U << bits_ && bits_ < 12) ++bits_;
    }
    last_ = code;
    return {};
  }

  const ImageBytes bytes_;
  std::size_t at_;
  std::size_t block_left_ = 0;
  const unsigned root_bits_;
  std::uint32_t window_ = 0;
  unsigned have_ = 0;  // bits in the window
  unsigned bits_ = 0;  // of the next code
  unsigned next_ = 0;
  unsigned last_ = kNone;
  std::uint8_t first_ = 0;
  std::size_t waiting_ = 0;
  std::array<std::uint16_t, kCodes> prefix_{};
  std::array<std::uint8_t, kCodes> suffix_{};
  std::array<std::uint8_t, kCodes + 1> stack_{};
};

Result<PixelExtent> measure(ImageBytes bytes) {
  Blocks blocks(bytes);
  SW_RETURN_IF_ERROR(blocks.open());
  // As TensorFlow: as large as the largest frame, whatever the screen.
  PixelExtent out{.frames = 0, .channels = 3};
  for (Frame frame;;) {
    SW_ASSIGN(const bool more, blocks.next(frame));
    if (!more) break;
    ++out.frames;
    out.width = std::max(out.width, frame.width);
    out.height = std::max(out.height, frame.height);
  }
  if (out.frames == 0) return corrupt(bytes, bytes.size(), "gif file does not contain any image");
  return out;
}

// The rows of an interlaced frame come in four passes.
std::int64_t interlaced_row(std::int64_t i, std::int64_t height) {
  constexpr std::array<std::array<std::int64_t, 2>, 4> kPasses = {
      {{0, 8}, {4, 8}, {2, 4}, {1, 2}}};  // first row, step
  for (const auto& [first, step] : kPasses) {
    const std::int64_t rows = (height - first + step - 1) / step;
    if (i < rows) return first + i * step;
    i -= rows;
  }
  return height - 1;
}

// Draws over what `canvas` shows already; what lies outside of it is left out.
Status draw(ImageBytes bytes, const Frame& frame, const PixelExtent& extent, std::byte* canvas) {
  Lzw lzw(bytes, frame.data_at);
  SW_RETURN_IF_ERROR(lzw.open());
  std::array<std::uint8_t, 65536> row{};
  const std::int64_t columns = std::min(frame.width, extent.width - frame.left);
  const std::byte* const colors = bytes.data() + frame.palette.at;
  Looks looks;
  for (std::int64_t i = 0; i < frame.height; ++i) {
    if (looks.abandoned(frame.width)) return cancelled();
    SW_RETURN_IF_ERROR(lzw.fill(row.data(), frame.width));
    const std::int64_t y = frame.top + (frame.interlaced ? interlaced_row(i, frame.height) : i);
    if (y >= extent.height) continue;
    std::byte* to = canvas + 3 * (y * extent.width + frame.left);
    for (std::int64_t x = 0; x < columns; ++x, to += 3) {
      const unsigned color = row[static_cast<std::size_t>(x)];
      if (static_cast<int>(color) == frame.transparent) continue;
      if (color >= frame.palette.colors) {
        return corrupt(bytes, frame.data_at, "found color index ", color,
                       " outside of color map range ", frame.palette.colors);
      }
      std::memcpy(to, colors + 3 * std::size_t{color}, 3);
    }
  }
  return {};
}

bool claims(ImageBytes bytes) { return text_of(bytes).starts_with("GIF8"); }

Result<ImageInfo> read_info(ImageBytes bytes, Workspace& /*workspace*/) {
  SW_ASSIGN(const PixelExtent extent, measure(bytes));
  return ImageInfo{ImageFormat::kGif, extent.width, extent.height, 3, extent.frames};
}

Status decode(ImageBytes bytes, const DecodeOptions& options, Workspace& /*workspace*/,
              const PixelRoom& room) {
  if (options.channels != 0 && options.channels != 3) {
    return invalid_argument("channels must be 0 or 3 for GIF, got ", options.channels);
  }
  SW_ASSIGN(PixelExtent extent, measure(bytes));
  if (options.first_frame) extent.frames = 1;
  SW_ASSIGN(std::byte * canvas, room(extent));
  Blocks blocks(bytes);
  SW_RETURN_IF_ERROR(blocks.open());
  const auto size = static_cast<std::size_t>(extent.height * extent.width * 3);
  Frame frame;
  for (std::int64_t k = 0; k < extent.frames; ++k, canvas += size) {
    SW_ASSIGN([[maybe_unused]] const bool there, blocks.next(frame));
    if (k == 0) {
      std::memset(canvas, 0, size);
    } else {
      std::memcpy(canvas, canvas - size, size);
    }
    SW_RETURN_IF_ERROR(draw(bytes, frame, extent, canvas));
  }
  return {};
}

}  // namespace

extern const ImageCodec kGifCodec{ImageFormat::kGif, claims, read_info, decode};

}  // namespace spillway
