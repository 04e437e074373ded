#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace spillway::testing {

// A header with its checksum. `size` goes into its field as it is given.
inline std::string tar_header(std::string_view name, std::string_view size, char type = '0',
                              std::string_view prefix = "") {
  std::string out(512, '\0');
  out.replace(0, name.size(), name);
  out.replace(100, 8, std::string_view("0000644\0", 8));
  out.replace(124, size.size(), size);
  out[156] = type;
  out.replace(257, 8,
              std::string_view("ustar\0"
                               "00",
                               8));
  out.replace(345, prefix.size(), prefix);
  out.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : out) sum += static_cast<unsigned char>(c);
  char digits[8] = {};
  std::snprintf(digits, sizeof digits, "%06o", sum);
  out.replace(148, 8, std::string_view(digits, 8));
  out[155] = ' ';
  return out;
}

inline std::string octal(std::size_t size) {
  char digits[12] = {};
  std::snprintf(digits, sizeof digits, "%011o", static_cast<unsigned>(size));
  return digits;
}

// A member: header, content, padding.
inline std::string tar_member(std::string_view name, std::string_view content, char type = '0') {
  std::string out = tar_header(name, octal(content.size()), type) + std::string(content);
  out.resize((out.size() + 511) / 512 * 512, '\0');
  return out;
}
inline std::string pax_member(std::string_view records) { return tar_member("pax", records, 'x'); }
inline std::string tar_end() { return std::string(1024, '\0'); }

}  // namespace spillway::testing
