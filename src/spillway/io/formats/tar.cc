#include "spillway/io/formats/tar.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace spillway {
namespace {

constexpr std::size_t kBlock = TarReader::kBlock;
// From here on content goes from the file to its place, without a stop in the stream's buffer.
constexpr std::size_t kLarge = 16 * 1024;
constexpr std::size_t kLittle = 4096;
constexpr std::size_t kMostExtension = std::size_t{1} << 20U;
constexpr std::uint64_t kMost = std::uint64_t{1} << 60U;  // of a content whose length is not known

using Bytes = std::span<const std::byte>;

std::string_view text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
// A field ends at its first NUL.
std::string_view field(Bytes header, std::size_t at, std::size_t size) {
  const std::string_view all = text(header.subspan(at, size));
  return all.substr(0, all.find('\0'));
}

// Octal digits with blanks around them; or, behind a first byte of 0x80, a binary number.
std::optional<std::uint64_t> number(Bytes header, std::size_t at, std::size_t size) {
  const Bytes raw = header.subspan(at, size);
  std::uint64_t value = 0;
  if ((raw[0] & std::byte{0x80}) != std::byte{}) {
    if (raw[0] != std::byte{0x80}) return std::nullopt;  // negative, or beyond all files
    for (const std::byte b : raw.subspan(1)) {
      if (value >> 56U != 0) return std::nullopt;
      value = value << 8U | static_cast<std::uint64_t>(b);
    }
    return value;
  }
  std::string_view digits = field(header, at, size);
  const std::size_t first = digits.find_first_not_of(' ');
  if (first == digits.npos) return 0;
  digits.remove_prefix(first);
  digits = digits.substr(0, digits.find(' '));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// Of all bytes, with blanks in the place of the checksum itself. Some old programs add bytes with
// their signs.
template <class Byte>
std::int64_t sum_of(Bytes header) {
  std::int64_t sum = 8 * ' ';
  for (const std::byte b : header) sum += static_cast<Byte>(b);
  for (const std::byte b : header.subspan(148, 8)) sum -= static_cast<Byte>(b);
  return sum;
}
bool good_checksum(Bytes header) {
  const auto found = number(header, 148, 8);
  if (!found || *found > kMost) return false;
  const auto sum = static_cast<std::int64_t>(*found);
  return sum == sum_of<std::uint8_t>(header) || sum == sum_of<std::int8_t>(header);
}
bool is_zero(Bytes header) {
  return std::ranges::all_of(header, [](std::byte b) { return b == std::byte{}; });
}
bool has_magic(Bytes header) { return text(header.subspan(257, 5)) == "ustar"; }

std::string name_in(Bytes header) {
  std::string name(field(header, 0, 100));
  // GNU's own format has other fields where ustar has the prefix.
  const bool posix = text(header.subspan(257, 6)) == std::string_view("ustar\0", 6);
  const std::string_view prefix = posix ? field(header, 345, 155) : std::string_view();
  return prefix.empty() ? name : std::string(prefix) + "/" + name;
}

std::uint64_t padded(std::uint64_t size) { return (size + kBlock - 1) / kBlock * kBlock; }

}  // namespace

template <class... Parts>
Status TarReader::corrupt(std::uint64_t offset, const Parts&... parts) const {
  return corrupt_file(path(), offset, "corrupted tar archive at ", offset, " in ", path(), ": ",
                      parts...);
}

// The block at next_ to header_; false where the content ends.
Result<bool> TarReader::fetch_header() {
  if (header_) return true;
  SW_RETURN_IF_ERROR(stream_->seek(next_));
  if (stream_->position() != next_) return false;
  SW_ASSIGN(const Bytes found, stream_->look(kBlock, kLittle));
  if (found.empty()) return false;
  if (next_ == 0 && text(found).starts_with("\x1f\x8b")) {
    return corrupt(0, "expected a header, found gzip's magic: compression_type='GZIP'");
  }
  if (found.size() < kBlock) {
    return corrupt(next_, "truncated: expected a header of 512 bytes, found ", found.size());
  }
  header_.emplace();
  std::copy_n(found.begin(), kBlock, header_->begin());
  stream_->pass(kBlock);
  return true;
}

Result<std::optional<TarMember>> TarReader::next() {
  for (;;) {
    SW_ASSIGN(const bool there, fetch_header());
    if (!there) {
      return corrupt(next_, "truncated: expected a header or the block of zeros that ends an ",
                     "archive, found the end of the file");
    }
    if (is_zero(*header_)) {
      if (!extended_) {
        SW_RETURN_IF_ERROR(check_rest());
        return std::optional<TarMember>();
      }
      return corrupt(next_, "expected the member that the header at ", begin_,
                     " is for, found the end of the archive");
    }
    if (!good_checksum(*header_)) {
      return corrupt(next_, "the header's checksum: expected ", sum_of<std::uint8_t>(*header_),
                     ", found ", number(*header_, 148, 8).value_or(0));
    }
    const char type = static_cast<char>((*header_)[156]);
    if (type != 'x' && type != 'X' && type != 'g' && type != 'L' && type != 'K') {
      SW_ASSIGN(TarMember member, describe(type));
      return std::optional(std::move(member));
    }
    SW_ASSIGN(const std::uint64_t size, content_size());
    SW_RETURN_IF_ERROR(extend(type, size));
  }
}

// The checksum of compressed content stands behind its end: bytes that were damaged show there.
Status TarReader::check_rest() {
  if (stream_->length()) return {};
  for (;;) {
    SW_ASSIGN(const Bytes rest, stream_->look(1));
    if (rest.empty()) return {};
    stream_->pass(rest.size());
  }
}

// The member whose header is at hand, which is passed.
Result<TarMember> TarReader::describe(char type) {
  TarMember out;
  out.name = long_name_ ? *long_name_ : name_in(*header_);
  if (type == 'S') {
    return corrupt(next_, "'", out.name, "' is a sparse file: expected plain content");
  }
  // Before ustar a folder was known by its name.
  const bool old_folder = type == '\0' && out.name.ends_with('/');
  out.regular = type == '0' || type == '7' || (type == '\0' && !old_folder);
  out.begin = position();
  out.data = next_ + kBlock;
  // Links and devices may state the size of what they stand for; they have no content.
  if (!old_folder && (type < '1' || type > '6')) {
    SW_ASSIGN(out.size, content_size());
    out.size = long_size_.value_or(out.size);
  }
  const std::uint64_t length = stream_->length().value_or(kMost);
  const std::uint64_t most = length - std::min(length, out.data);
  if (out.size > most) {
    return corrupt(next_, "'", out.name, "' is truncated: expected ", out.size,
                   " bytes of content, found ", most);
  }
  seek(out.data + padded(out.size));
  return out;
}

Result<std::uint64_t> TarReader::content_size() const {
  const auto size = number(*header_, 124, 12);
  if (size && *size <= kMost) return *size;
  return corrupt(next_, "the size of '", name_in(*header_), "': expected octal digits, found '",
                 field(*header_, 124, 12), "'");
}

// A header whose content says more of the member behind it.
Status TarReader::extend(char type, std::uint64_t size) {
  if (size > kMostExtension) {
    return corrupt(next_, "a header of type ", type, " has at most ", kMostExtension,
                   " bytes: found ", size);
  }
  const std::uint64_t data = next_ + kBlock;
  SW_ASSIGN(const Bytes found, stream_->look(static_cast<std::size_t>(size)));
  if (found.size() < size) {
    return corrupt(next_, "truncated: expected a header of ", size, " bytes more, found ",
                   found.size());
  }
  const std::string_view content = text(found.first(static_cast<std::size_t>(size)));
  if (!extended_) begin_ = next_;
  if (type == 'L') {
    long_name_ = std::string(content.substr(0, content.find('\0')));
  } else if (type == 'x' || type == 'g') {
    SW_RETURN_IF_ERROR(apply_pax(content, type == 'g'));
  }
  extended_ = true;
  header_.reset();
  next_ = data + padded(size);
  return {};
}

// "LENGTH KEY=VALUE\n", the length being that of the whole record.
Status TarReader::apply_pax(std::string_view records, bool global) {
  while (!records.empty() && records[0] != '\0') {
    std::size_t length = 0;
    const auto [end, error] =
        std::from_chars(records.data(), records.data() + records.size(), length);
    const auto begin = static_cast<std::size_t>(end - records.data()) + 1;
    if (error != std::errc() || length > records.size() || length < begin + 2 ||
        records[begin - 1] != ' ' || records[length - 1] != '\n') {
      return corrupt(next_, "a pax header: expected 'LENGTH KEY=VALUE', found '",
                     records.substr(0, 40), "'");
    }
    const std::string_view record = records.substr(begin, length - 1 - begin);
    const std::size_t equals = record.find('=');
    if (equals == record.npos) {
      return corrupt(next_, "a pax header: expected KEY=VALUE, found '", record.substr(0, 40), "'");
    }
    const std::string_view key = record.substr(0, equals);
    std::string_view value = record.substr(equals + 1);
    records.remove_prefix(length);
    if (key.starts_with("GNU.sparse.")) {
      return corrupt(next_, "a sparse file: expected plain content, found the pax key ", key);
    }
    if (key != "path" && key != "size") continue;
    if (global) {
      return corrupt(next_, "a global pax header may not set ", key, ": found ",
                     value.substr(0, 40));
    }
    if (key == "path") {
      while (value.ends_with('/')) value.remove_suffix(1);
      long_name_ = std::string(value);
      continue;
    }
    std::uint64_t size = 0;
    const auto [last, bad] = std::from_chars(value.data(), value.data() + value.size(), size);
    if (bad != std::errc() || last != value.data() + value.size() || size > kMost) {
      return corrupt(next_, "the size in a pax header: expected digits, found '",
                     value.substr(0, 40), "'");
    }
    long_size_ = size;
  }
  return {};
}

Result<bool> TarReader::read(const TarMember& member, StringRows& out) {
  const auto size = static_cast<std::size_t>(member.size);
  SW_RETURN_IF_ERROR(stream_->seek(member.data));
  if (size < kLarge) {
    SW_ASSIGN(const Bytes found, stream_->look(size));
    if (found.size() < size) {
      return corrupt(member.begin, "'", member.name, "' is truncated: expected ", size,
                     " bytes of content, found ", found.size());
    }
    return out.add(text(found.first(size)));
  }
  // Straight to its place, with the next header in the same read.
  const auto behind = static_cast<std::size_t>(next_ - member.data);
  auto room = out.room(behind + kBlock);
  if (!room.ok()) return stream_->too_long(std::move(room).status(), 0, size);
  std::byte* const place = room.value();
  if (place == nullptr) return false;
  SW_ASSIGN(const std::size_t got, stream_->read(std::span(place, behind + kBlock)));
  if (got < size) {
    return corrupt(member.begin, "'", member.name, "' is truncated: expected ", size,
                   " bytes of content, found ", got);
  }
  if (got == behind + kBlock) {
    header_.emplace();
    std::copy_n(place + behind, kBlock, header_->begin());
  }
  out.add(size);
  return true;
}

void TarReader::seek(std::uint64_t position) {
  next_ = position;
  extended_ = false;
  long_name_.reset();
  long_size_.reset();
  header_.reset();
}

Result<bool> TarReader::resynchronise() {
  // Content that is decompressed does not go back.
  const bool forward = !stream_->length().has_value();
  seek(std::max(next_ + kBlock, forward ? padded(stream_->position()) : 0));
  for (;; seek(next_ + kBlock)) {
    auto there = fetch_header();
    if (!there.ok() && there.error().kind() == ErrorKind::kData) return false;
    if (!there.ok()) return std::move(there).status();
    if (!there.value()) return false;
    if (has_magic(*header_) && good_checksum(*header_)) return true;
  }
}

}  // namespace spillway
