#include "spillway/io/formats/zip.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace spillway {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kLocal = 30;      // of a member's own header, without its name
constexpr std::size_t kEntry = 46;      // of the directory, likewise
constexpr std::size_t kEnd = 22;        // of the archive, without its comment
constexpr std::size_t kEnd64 = 56;      // of a large one
constexpr std::size_t kLocator64 = 20;  // where that is
constexpr std::uint64_t kMostDirectory = std::uint64_t{16} << 20U;
// Deflate makes at most 258 bytes of two bits.
constexpr std::uint64_t kMostExpansion = 1032;

template <class T>
T load(Bytes from, std::size_t at) {
  T value;
  std::memcpy(&value, from.data() + at, sizeof value);
  return value;
}
std::uint16_t u16(Bytes from, std::size_t at) { return load<std::uint16_t>(from, at); }
std::uint32_t u32(Bytes from, std::size_t at) { return load<std::uint32_t>(from, at); }
std::uint64_t u64(Bytes from, std::size_t at) { return load<std::uint64_t>(from, at); }
bool begins(Bytes bytes, std::uint32_t magic) {
  return bytes.size() >= 4 && u32(bytes, 0) == magic;
}

template <class... Parts>
Status corrupt(const File& file, std::uint64_t offset, const Parts&... parts) {
  return corrupt_file(file.path(), offset, "corrupted zip archive at ", offset, " in ", file.path(),
                      ": ", parts...);
}

// Where the directory lies, and how many members it has.
struct Directory {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::uint64_t members = 0;
  std::uint64_t end = 0;  // what follows it begins here
};

// What a large archive says instead of the numbers that have no room.
Result<Directory> read_end64(const File& file, std::uint64_t end) {
  if (end < kLocator64) return corrupt(file, end, "expected zip64's locator, found no room for it");
  std::array<std::byte, kLocator64> locator{};
  SW_RETURN_IF_ERROR(file.read(end - kLocator64, locator).status());
  const std::uint64_t at = u64(locator, 8);
  if (!begins(locator, 0x07064b50) || at > end - kLocator64 || end - kLocator64 - at < kEnd64) {
    return corrupt(file, end - kLocator64, "expected zip64's locator, found none that fits");
  }
  std::array<std::byte, kEnd64> record{};
  SW_RETURN_IF_ERROR(file.read(at, record).status());
  if (!begins(record, 0x06064b50) || u32(record, 16) != 0 || u32(record, 20) != 0 ||
      u64(record, 24) != u64(record, 32)) {
    return corrupt(file, at, "expected the end of a zip64 archive in one part");
  }
  return Directory{u64(record, 48), u64(record, 40), u64(record, 32), at};
}

Result<Directory> find_directory(const File& file, const AccountPtr& account) {
  // Behind the end stands a comment of up to 64 KiB.
  const std::uint64_t most = kEnd + std::numeric_limits<std::uint16_t>::max();
  const auto tail = static_cast<std::size_t>(std::min(file.size(), most));
  SW_ASSIGN(Buffer buffer,
            Buffer::allocate(account, std::max<std::size_t>(tail, 1), Buffer::Ask::kPressing));
  const std::uint64_t base = file.size() - tail;
  SW_RETURN_IF_ERROR(file.read(base, std::span(buffer.data(), tail)).status());
  const Bytes bytes(buffer.data(), tail);
  for (std::size_t at = tail < kEnd ? 0 : tail - kEnd + 1; at-- > 0;) {
    const Bytes end = bytes.subspan(at);
    if (!begins(end, 0x06054b50) || at + kEnd + u16(end, 20) != tail) continue;
    Directory found{u32(end, 16), u32(end, 12), u16(end, 10), base + at};
    const bool large =
        u32(end, 16) == UINT32_MAX || u32(end, 12) == UINT32_MAX || u16(end, 10) == UINT16_MAX;
    if (large) {
      SW_ASSIGN(found, read_end64(file, base + at));
    } else if (u16(end, 4) != 0 || u16(end, 6) != 0 || u16(end, 8) != u16(end, 10)) {
      return corrupt(file, base + at, "expected an archive in one part");
    }
    if (found.begin > found.end || found.end - found.begin != found.size ||
        found.members > found.size / kEntry) {
      return corrupt(file, base + at, "a directory of ", found.members, " members and ", found.size,
                     " bytes at ", found.begin, " must end at ", found.end);
    }
    return found;
  }
  return corrupt(file, file.size(), "expected the end of a zip archive, found none: not a zip ",
                 "file, or a truncated one");
}

// Sizes and offset of an entry or header that has 0xffffffff in their place.
struct Sizes {
  std::uint64_t size = 0;
  std::uint64_t stored = 0;
  std::uint64_t header = 0;
};
bool read_extra64(Bytes extra, Sizes& sizes) {
  std::uint64_t* const wanted[] = {&sizes.size, &sizes.stored, &sizes.header};
  const bool any = std::ranges::any_of(wanted, [](auto* v) { return *v == UINT32_MAX; });
  while (any && extra.size() >= 4) {
    const std::size_t length = u16(extra, 2);
    if (length > extra.size() - 4) return false;
    Bytes values = extra.subspan(4, length);
    if (u16(extra, 0) == 1) {
      for (std::uint64_t* value : wanted) {
        if (*value != UINT32_MAX) continue;
        if (values.size() < 8) return false;
        *value = u64(values, 0);
        values = values.subspan(8);
      }
      return true;
    }
    extra = extra.subspan(4 + length);
  }
  return !any;
}

struct Entry {
  ZipMember member;
  std::uint64_t header = 0;  // where its own begins
  std::uint16_t flags = 0;
};

std::string_view method_name(unsigned method) {
  switch (method) {
    case 9:
      return "deflate64";
    case 12:
      return "bzip2";
    case 14:
      return "lzma";
    case 93:
      return "zstd";
    case 95:
      return "xz";
    case 99:
      return "encrypted (AES)";
    default:
      return "unknown";
  }
}

// The entry at the front of `bytes`, which is `at` in the file.
Result<Entry> parse_entry(const File& file, Bytes bytes, std::uint64_t at, std::size_t& length) {
  if (bytes.size() < kEntry || !begins(bytes, 0x02014b50)) {
    return corrupt(file, at, "expected an entry of the directory");
  }
  const std::size_t name = u16(bytes, 28);
  const std::size_t extra = u16(bytes, 30);
  length = kEntry + name + extra + u16(bytes, 32);
  if (length > bytes.size()) {
    return corrupt(file, at, "an entry of ", length, " bytes in a directory that has ",
                   bytes.size(), " more");
  }
  Entry out;
  const Bytes text = bytes.subspan(kEntry, name);
  out.member.name.assign(reinterpret_cast<const char*>(text.data()), text.size());
  out.flags = u16(bytes, 8);
  const unsigned method = u16(bytes, 10);
  Sizes sizes{u32(bytes, 24), u32(bytes, 20), u32(bytes, 42)};
  if (!read_extra64(bytes.subspan(kEntry + name, extra), sizes)) {
    return corrupt(file, at, "'", out.member.name, "': expected its sizes in a zip64 field");
  }
  if ((out.flags & 0x2041U) != 0) {
    return corrupt(file, at, "'", out.member.name, "' is encrypted: expected plain content");
  }
  if (method != 0 && method != 8) {
    return corrupt(file, at, "'", out.member.name, "': expected method 0 (stored) or 8 (deflated)",
                   ", found ", method, " (", method_name(method), ")");
  }
  out.member.deflated = method == 8;
  out.member.crc = u32(bytes, 16);
  out.member.size = sizes.size;
  out.member.stored = sizes.stored;
  out.header = sizes.header;
  return out;
}

// The member's own header must say what the directory says.
Status check_header(const File& file, Entry& entry, std::uint64_t end, std::vector<char>& scratch) {
  ZipMember& member = entry.member;
  const auto refuse = [&](const auto&... parts) {
    return corrupt(file, entry.header, "'", member.name, "': ", parts...);
  };
  std::array<std::byte, kLocal> header{};
  if (entry.header > end || end - entry.header < kLocal) {
    return refuse("its header must lie before the directory at ", end);
  }
  SW_RETURN_IF_ERROR(file.read(entry.header, header).status());
  if (!begins(header, 0x04034b50)) return refuse("expected the header of a member");
  const std::size_t name = u16(header, 26);
  const std::size_t extra = u16(header, 28);
  scratch.resize(name + extra);
  SW_ASSIGN(const std::size_t got,
            file.read(entry.header + kLocal, std::as_writable_bytes(std::span(scratch))));
  member.data = entry.header + kLocal + name + extra;
  if (got < scratch.size() || member.data > end || end - member.data < member.stored) {
    return refuse("expected ", member.stored, " bytes before the directory at ", end, ", found ",
                  end - std::min(end, member.data));
  }
  if (std::string_view(scratch.data(), name) != member.name) {
    return refuse("its header names it '", std::string_view(scratch.data(), name), "'");
  }
  Sizes sizes{u32(header, 22), u32(header, 18), 0};
  if (!read_extra64(std::as_bytes(std::span(scratch)).subspan(name), sizes)) {
    return refuse("expected its sizes in a zip64 field");
  }
  // Written in one go they stand behind the content, and here nothing.
  const bool later = (entry.flags & 8U) != 0 && sizes.size == 0 && sizes.stored == 0;
  const bool agree =
      sizes.size == member.size && sizes.stored == member.stored && u32(header, 14) == member.crc;
  if (!later && !agree) {
    return refuse("its header and the directory must agree: ", sizes.stored, " and ", member.stored,
                  " bytes of ", sizes.size, " and ", member.size);
  }
  if ((u16(header, 8) == 8) != member.deflated) return refuse("header and directory differ");
  const bool possible = member.deflated ? member.size / kMostExpansion <= member.stored
                                        : member.size == member.stored;
  if (!possible) {
    return refuse(member.stored, member.deflated ? " deflated" : " stored", " bytes cannot hold ",
                  member.size);
  }
  return {};
}

}  // namespace

Result<std::vector<ZipMember>> read_zip_directory(const File& file, const AccountPtr& account) {
  SW_ASSIGN(const Directory directory, find_directory(file, account));
  if (directory.size > kMostDirectory) {
    return corrupt(file, directory.begin, "a directory has at most ", kMostDirectory,
                   " bytes: found ", directory.size);
  }
  // Its bytes, and room for what is made of them.
  SW_ASSIGN(Buffer buffer,
            Buffer::allocate(account, 5 * directory.size + 1, Buffer::Ask::kPressing));
  const auto size = static_cast<std::size_t>(directory.size);
  SW_RETURN_IF_ERROR(file.read(directory.begin, std::span(buffer.data(), size)).status());
  Bytes bytes(buffer.data(), size);
  std::vector<Entry> entries;
  while (entries.size() < directory.members) {
    std::size_t length = 0;
    const std::uint64_t at = directory.end - bytes.size();
    SW_ASSIGN(Entry entry, parse_entry(file, bytes, at, length));
    entries.push_back(std::move(entry));
    bytes = bytes.subspan(length);
  }
  if (!bytes.empty()) {
    return corrupt(file, directory.end - bytes.size(), "a directory of ", directory.members,
                   " members has ", bytes.size(), " bytes behind them");
  }
  // Each behind the other: a member that is part of another one could be expanded many times.
  std::vector<Entry*> order;
  order.reserve(entries.size());
  for (Entry& entry : entries) order.push_back(&entry);
  std::ranges::sort(order, {}, &Entry::header);
  std::vector<char> scratch;
  for (std::size_t i = 0; i < order.size(); ++i) {
    SW_RETURN_IF_ERROR(check_header(file, *order[i], directory.begin, scratch));
    const ZipMember& member = order[i]->member;
    if (i + 1 < order.size() && order[i + 1]->header < member.data + member.stored) {
      return corrupt(file, order[i + 1]->header, "'", order[i + 1]->member.name,
                     "' begins within '", member.name, "', which ends at ",
                     member.data + member.stored);
    }
  }
  std::vector<ZipMember> out;
  for (Entry& entry : entries) {
    if (!entry.member.name.ends_with('/')) out.push_back(std::move(entry.member));
  }
  return out;
}

}  // namespace spillway
