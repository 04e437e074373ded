#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::testing {

inline std::string raw_deflated(std::string_view content) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// A zip archive with every field as told, so that tests may lie in any of them.
class ZipArchive {
 public:
  struct Claims {
    std::uint16_t method = 0;
    std::uint16_t flags = 0;
    std::int64_t size = -1;       // of the content, in the directory; -1: the truth
    std::int64_t stored = -1;     // likewise
    std::int64_t header = -1;     // where it begins
    std::string local_name = {};  // empty: the same NOLINT(readability-redundant-member-init)
    std::int64_t local_size = -1;
    std::uint32_t crc_xor = 0;
    bool zip64 = false;  // sizes in extra fields
  };

  void add(std::string_view name, std::string_view content, bool deflate, Claims claims) {
    const std::string data = deflate ? raw_deflated(content) : std::string(content);
    if (deflate) claims.method = 8;
    const auto crc = static_cast<std::uint32_t>(::crc32(
        0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
    const std::int64_t size =
        claims.size < 0 ? static_cast<std::int64_t>(content.size()) : claims.size;
    const std::int64_t stored =
        claims.stored < 0 ? static_cast<std::int64_t>(data.size()) : claims.stored;
    const auto at = claims.header < 0 ? static_cast<std::int64_t>(bytes_.size()) : claims.header;
    const std::string_view local = claims.local_name.empty() ? name : claims.local_name;
    const std::int64_t local_size = claims.local_size < 0 ? size : claims.local_size;
    std::string extra;
    put(extra, 1, 2), put(extra, 16, 2), put(extra, local_size, 8), put(extra, stored, 8);
    if (!claims.zip64) extra.clear();
    put(bytes_, 0x04034b50, 4), put(bytes_, 20, 2), put(bytes_, claims.flags, 2);
    put(bytes_, claims.method, 2), put(bytes_, 0, 4), put(bytes_, crc ^ claims.crc_xor, 4);
    put(bytes_, claims.zip64 ? UINT32_MAX : stored, 4);
    put(bytes_, claims.zip64 ? UINT32_MAX : local_size, 4);
    put(bytes_, static_cast<std::int64_t>(local.size()), 2);
    put(bytes_, static_cast<std::int64_t>(extra.size()), 2);
    bytes_ += std::string(local) + extra + data;
    put(directory_, 0x02014b50, 4), put(directory_, 20, 2), put(directory_, 20, 2);
    put(directory_, claims.flags, 2), put(directory_, claims.method, 2), put(directory_, 0, 4);
    put(directory_, crc ^ claims.crc_xor, 4), put(directory_, stored, 4), put(directory_, size, 4);
    put(directory_, static_cast<std::int64_t>(name.size()), 2), put(directory_, 0, 2);
    put(directory_, 0, 2), put(directory_, 0, 2), put(directory_, 0, 2), put(directory_, 0, 4);
    put(directory_, at, 4);
    directory_ += name;
    ++members_;
  }
  void add(std::string_view name, std::string_view content, bool deflate = false) {
    add(name, content, deflate, Claims());
  }

  // `zip64`: with the end of a large archive.
  std::string finished(bool zip64 = false, std::string_view comment = "") const {
    std::string out = bytes_ + directory_;
    const auto begin = static_cast<std::int64_t>(bytes_.size());
    const auto size = static_cast<std::int64_t>(directory_.size());
    if (zip64) {
      const auto at = static_cast<std::int64_t>(out.size());
      put(out, 0x06064b50, 4), put(out, 44, 8), put(out, 45, 2), put(out, 45, 2);
      put(out, 0, 4), put(out, 0, 4), put(out, members_, 8), put(out, members_, 8);
      put(out, size, 8), put(out, begin, 8);
      put(out, 0x07064b50, 4), put(out, 0, 4), put(out, at, 8), put(out, 1, 4);
    }
    put(out, 0x06054b50, 4), put(out, 0, 2), put(out, 0, 2);
    put(out, zip64 ? UINT16_MAX : members_, 2), put(out, zip64 ? UINT16_MAX : members_, 2);
    put(out, zip64 ? UINT32_MAX : size, 4), put(out, zip64 ? UINT32_MAX : begin, 4);
    put(out, static_cast<std::int64_t>(comment.size()), 2);
    return out + std::string(comment);
  }

 private:
  static void put(std::string& out, std::int64_t value, std::size_t bytes) {
    out.append(reinterpret_cast<const char*>(&value), bytes);
  }

  std::string bytes_;
  std::string directory_;
  std::int64_t members_ = 0;
};

}  // namespace spillway::testing
