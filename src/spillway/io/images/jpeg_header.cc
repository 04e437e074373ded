#include "spillway/io/images/jpeg_header.h"

#include <algorithm>
#include <cstring>

namespace spillway::jpeg {
namespace {

constexpr std::int64_t kMostSide = 65500;  // libjpeg's

// A marker's content. Reading past its end gives zeros, and is seen by ok().
class Segment {
 public:
  explicit Segment(ImageBytes bytes) : bytes_(bytes) {}
  unsigned byte() {
    if (at_ >= bytes_.size()) {
      ok_ = false;
      return 0;
    }
    return std::to_integer<unsigned>(bytes_[at_++]);
  }
  unsigned pair() {
    const unsigned high = byte();
    return high << 8U | byte();
  }
  bool left() const { return at_ < bytes_.size(); }
  bool ok() const { return ok_; }
  bool whole() const { return ok_ && !left(); }

 private:
  const ImageBytes bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

struct Marks {
  bool jfif = false;
  bool adobe = false;
  unsigned transform = 0;
  bool frame = false;
};

bool read_quants(Segment s, Header& h) {
  while (s.left()) {
    const unsigned which = s.byte();
    if (which > 3) return false;  // 16 bits an item, or no table at all
    for (const std::uint8_t place : kZigzag) {
      h.quants[which][place] = static_cast<std::uint16_t>(s.byte());
    }
    h.has_quant[which] = true;
  }
  return s.whole();
}

bool read_codes(Segment s, Header& h) {
  while (s.left()) {
    const unsigned which = s.byte();
    if ((which & 0xEFU) > 3) return false;
    HuffmanCode code;
    unsigned total = 0;
    for (std::size_t n = 1; n <= 16; ++n) {
      code.counts[n] = static_cast<std::uint8_t>(s.byte());
      total += code.counts[n];
    }
    if (total > 256) return false;
    for (unsigned i = 0; i < total; ++i) code.symbols[i] = static_cast<std::uint8_t>(s.byte());
    code.defined = true;
    (which >= 0x10 ? h.ac : h.dc)[which & 3U] = code;
  }
  return s.whole();
}

bool read_frame(Segment s, Header& h) {
  const unsigned bits = s.byte();
  h.height = s.pair();
  h.width = s.pair();
  h.count = static_cast<int>(s.byte());
  if (bits != 8 || h.height == 0 || h.width == 0 || h.height > kMostSide || h.width > kMostSide ||
      (h.count != 1 && h.count != 3)) {
    return false;
  }
  for (int i = 0; i < h.count; ++i) {
    Component& c = h.components[static_cast<std::size_t>(i)];
    c.id = static_cast<std::uint8_t>(s.byte());
    const unsigned factors = s.byte();
    c.across = static_cast<int>(factors >> 4U);
    c.down = static_cast<int>(factors & 15U);
    c.quant = static_cast<std::uint8_t>(s.byte());
    if (c.quant > 3) return false;
    for (int j = 0; j < i; ++j) {
      if (h.components[static_cast<std::size_t>(j)].id == c.id) return false;
    }
  }
  if (!s.whole()) return false;
  Component& first = h.components[0];
  if (h.count == 1) {
    // Alone, a component is not interleaved with anything: a unit is a block.
    const bool valid = first.across >= 1 && first.across <= 4 && first.down >= 1 && first.down <= 4;
    first.across = first.down = 1;
    return valid;
  }
  const bool fine_colors = std::all_of(h.components.begin() + 1, h.components.end(),
                                       [](auto& c) { return c.across == 1 && c.down == 1; });
  return fine_colors && ((first.across == 1 && first.down == 1) ||
                         (first.across == 2 && (first.down == 1 || first.down == 2)));
}

// Of the marks of other programs, two decide about colors; libjpeg looks at them just so.
void read_application(unsigned marker, ImageBytes content, Marks& marks) {
  const std::string_view text = text_of(content);
  if (marker == 0xE0 && content.size() >= 14 && text.starts_with(std::string_view("JFIF\0", 5))) {
    marks.jfif = true;
  } else if (marker == 0xEE && content.size() >= 12 && text.starts_with("Adobe")) {
    marks.adobe = true;
    marks.transform = std::to_integer<unsigned>(content[11]);
  }
}

bool is_ycc(const Header& h, const Marks& marks) {
  if (h.count == 1 || marks.jfif) return true;
  if (marks.adobe) return marks.transform == 1;
  return h.components[0].id == 1 && h.components[1].id == 2 && h.components[2].id == 3;
}

bool read_scan(Segment s, Header& h, const Marks& marks) {
  if (!marks.frame || s.byte() != static_cast<unsigned>(h.count)) return false;
  for (int i = 0; i < h.count; ++i) {
    Component& c = h.components[static_cast<std::size_t>(i)];
    if (s.byte() != c.id) return false;
    const unsigned tables = s.byte();
    c.dc = static_cast<std::uint8_t>(tables >> 4U);
    c.ac = static_cast<std::uint8_t>(tables & 15U);
    if (c.dc > 3 || c.ac > 3 || !h.dc[c.dc].defined || !h.ac[c.ac].defined ||
        !h.has_quant[c.quant]) {
      return false;
    }
  }
  const bool all = s.byte() == 0 && s.byte() == 63 && s.byte() == 0;
  return all && s.whole() && is_ycc(h, marks);
}

// A segment other than the frame or the scan.
bool read_other(unsigned marker, ImageBytes content, Header& h, Marks& marks) {
  Segment s(content);
  switch (marker) {
    case 0xDB:
      return read_quants(s, h);
    case 0xC4:
      return read_codes(s, h);
    case 0xDD:
      h.restart_interval = s.pair();
      return s.whole();
    default:
      read_application(marker, content, marks);
      return (marker & 0xF0U) == 0xE0 || marker == 0xFE;
  }
}

}  // namespace

bool read_header(ImageBytes bytes, Header& header) {
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(bytes[i]); };
  if (bytes.size() < 4 || at(0) != 0xFF || at(1) != 0xD8) return false;
  Marks marks;
  for (std::size_t place = 2; bytes.size() - place >= 4;) {
    const unsigned marker = at(place + 1);
    const std::size_t length = at(place + 2) << 8U | at(place + 3);
    if (at(place) != 0xFF || length < 2 || length > bytes.size() - place - 2) return false;
    const ImageBytes content = bytes.subspan(place + 4, length - 2);
    place += 2 + length;
    if (marker == 0xC0) {
      if (marks.frame || !read_frame(Segment(content), header)) return false;
      marks.frame = true;
    } else if (marker == 0xDA) {
      header.scan = place;
      return read_scan(Segment(content), header, marks);
    } else if (!read_other(marker, content, header, marks)) {
      return false;
    }
  }
  return false;
}

}  // namespace spillway::jpeg
