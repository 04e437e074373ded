#include "spillway/io/formats/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>

namespace spillway {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostHeader = 64 * 1024;  // NumPy's own files have a few hundred bytes

// The dictionary of a header, a Python literal of a fixed form: parsed, never evaluated.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : rest_(text) {}

  bool take(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  std::optional<std::string> string() {
    skip_space();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == rest_.npos) return std::nullopt;
    std::string out(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return out;
  }
  std::optional<std::vector<std::int64_t>> tuple() {
    if (!take("(")) return std::nullopt;
    std::vector<std::int64_t> out;
    while (!take(")")) {
      skip_space();
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      if (error != std::errc() || value < 0) return std::nullopt;
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      take("L");  // long integers of Python 2
      out.push_back(value);
      if (!take(",") && !rest_.starts_with(')')) return std::nullopt;
    }
    return out;
  }
  // What a value that was not understood begins with.
  std::string_view here() const { return rest_.substr(0, 60); }
  bool at_end() {
    skip_space();
    return rest_.empty();
  }

 private:
  void skip_space() {
    const std::size_t first = rest_.find_first_not_of(" \t\n");
    rest_.remove_prefix(first == rest_.npos ? rest_.size() : first);
  }
  std::string_view rest_;
};

std::optional<DType> plain_type(std::string_view kind) {
  constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"b1", DType::kBool},      {"i1", DType::kInt8},       {"i2", DType::kInt16},
      {"i4", DType::kInt32},     {"i8", DType::kInt64},      {"u1", DType::kUInt8},
      {"u2", DType::kUInt16},    {"u4", DType::kUInt32},     {"u8", DType::kUInt64},
      {"f2", DType::kFloat16},   {"f4", DType::kFloat32},    {"f8", DType::kFloat64},
      {"c8", DType::kComplex64}, {"c16", DType::kComplex128}};
  for (const auto& [name, dtype] : kTypes) {
    if (name == kind) return dtype;
  }
  return std::nullopt;
}

// The message says what was found; the caller adds the file.
Result<NpyHeader> parse_dictionary(std::string_view text) {
  NpyHeader header;
  HeaderText in(text);
  if (!in.take("{")) return invalid_argument("a dictionary must follow the magic: ", in.here());
  std::optional<std::vector<std::int64_t>> shape;
  bool typed = false;
  bool ordered = false;
  while (!in.take("}")) {
    const auto key = in.string();
    if (!key || !in.take(":")) return invalid_argument("a key must be text: ", in.here());
    if (*key == "descr") {
      const auto descr = in.string();
      const std::string kind = descr && descr->size() > 1 ? descr->substr(1) : "";
      const auto dtype = plain_type(kind);
      if (!descr || !dtype) {
        const std::string found = descr ? *descr : std::string(in.here());
        return invalid_argument(found.starts_with("|O")
                                    ? "arrays of objects are refused: nothing is unpickled: descr "
                                    : "the items must be numbers or bools: descr ",
                                found);
      }
      header.dtype = *dtype;
      header.swapped = (*descr)[0] == '>';
      typed = true;
    } else if (*key == "fortran_order") {
      header.fortran = in.take("True");
      if (!header.fortran && !in.take("False")) {
        return invalid_argument("fortran_order must be True or False: ", in.here());
      }
      ordered = true;
    } else if (*key == "shape") {
      shape = in.tuple();
      if (!shape) return invalid_argument("shape must be a tuple of sizes: ", in.here());
    } else {
      return invalid_argument("the keys are descr, fortran_order and shape: ", *key);
    }
    in.take(",");
  }
  if (!typed || !ordered || !shape || !in.at_end()) {
    return invalid_argument("descr, fortran_order and shape must all be there: ",
                            text.substr(0, 80));
  }
  header.shape = Shape(std::span<const std::int64_t>(*shape));
  return header;
}

// Items times size, where that can be said.
std::optional<std::uint64_t> data_bytes(const NpyHeader& header) {
  std::uint64_t bytes = size_of(header.dtype);
  for (const std::int64_t dim : header.shape.dims()) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dim), &bytes)) return std::nullopt;
  }
  return bytes;
}

void swap_bytes(std::byte* data, std::size_t bytes, DType dtype) {
  const bool complex = dtype == DType::kComplex64 || dtype == DType::kComplex128;
  const std::size_t item = size_of(dtype) / (complex ? 2 : 1);
  for (std::size_t at = 0; at + item <= bytes && item > 1; at += item) {
    std::reverse(data + at, data + at + item);
  }
}

Status read_all(const File& file, std::uint64_t offset, std::span<std::byte> out) {
  SW_ASSIGN(const std::size_t got, file.read(offset, out));
  if (got == out.size()) return {};
  return corrupt_file(file.path(), offset + got, file.path(), ": the file is too short: expected ",
                      offset + out.size(), " bytes, found ", file.size());
}

// Rows of a file that has its columns one after the other, `most` rows of them at a time.
Status read_columns(const File& file, const NpyHeader& header, std::int64_t first,
                    std::int64_t rows, std::byte* out, std::span<std::byte> buffer) {
  const std::size_t item = size_of(header.dtype);
  const Shape row = header.row();
  const std::int64_t columns = row.count();
  const auto most = static_cast<std::int64_t>(buffer.size() / item);
  // The file's k-th column in the row's own order: the first index of a row varies fastest.
  const std::span<const std::int64_t> dims = row.dims();
  std::vector<std::int64_t> index(dims.size(), 0);
  for (std::int64_t k = 0; k < columns; ++k) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) place = place * dims[d] + index[d];
    for (std::int64_t done = 0; done < rows; done += most) {
      const std::int64_t some = std::min(most, rows - done);
      const auto part = buffer.first(static_cast<std::size_t>(some) * item);
      const auto at = static_cast<std::uint64_t>(k * header.rows() + first + done) * item;
      SW_RETURN_IF_ERROR(read_all(file, header.data + at, part));
      for (std::int64_t r = 0; r < some; ++r) {
        std::memcpy(out + static_cast<std::size_t>((done + r) * columns + place) * item,
                    part.data() + static_cast<std::size_t>(r) * item, item);
      }
    }
    for (std::size_t d = 0; d < dims.size() && ++index[d] == dims[d]; ++d) index[d] = 0;
  }
  return {};
}

}  // namespace

Result<NpyHeader> read_npy_header(const File& file) {
  std::array<std::byte, 12> begin{};
  SW_ASSIGN(const std::size_t got, file.read(0, begin));
  const std::string_view magic(reinterpret_cast<const char*>(begin.data()),
                               std::min(got, kMagic.size()));
  if (magic.starts_with("PK\x03\x04")) {
    return corrupt_file(file.path(), 0, file.path(), ": expected an .npy file, found a zip ",
                        "archive: from_npz reads .npz files");
  }
  if (got < 10 || magic != kMagic) {
    return corrupt_file(file.path(), 0, file.path(), ": not an .npy file: expected the magic ",
                        "\\x93NUMPY, found ", got, " other bytes");
  }
  const auto version = static_cast<unsigned>(begin[6]);
  if (version < 1 || version > 3) {
    return corrupt_file(file.path(), 6, file.path(), ": expected version 1 to 3, found ", version);
  }
  const std::size_t at = version == 1 ? 10 : 12;
  std::size_t length = 0;
  for (std::size_t i = 8; i < at; ++i)
    length |= static_cast<std::size_t>(begin[i]) << (8 * (i - 8));
  if (got < at || length > file.size() - at || length > kMostHeader) {
    return corrupt_file(file.path(), 8, file.path(), ": a header of ", length,
                        " bytes does not fit a file of ", file.size());
  }
  std::string text(length, '\0');
  SW_RETURN_IF_ERROR(read_all(file, at, std::as_writable_bytes(std::span(text))));
  auto parsed = parse_dictionary(text);
  if (!parsed.ok()) {
    return corrupt_file(file.path(), at, file.path(), ": ", parsed.error().message());
  }
  NpyHeader header = std::move(parsed).value();
  header.data = at + length;
  if (header.shape.rank() == 0) {
    Status status =
        bad_data(Code::kInvalidArgument, file.path(), ": an array without dimensions has no rows");
    status.edit().file = file.path();
    return status;
  }
  const auto bytes = data_bytes(header);
  if (!bytes || *bytes > file.size() - header.data) {
    return corrupt_file(file.path(), file.size(), file.path(), ": the file is too short for ",
                        name_of(header.dtype), " ", header.shape.to_string(), ": expected ",
                        bytes ? header.data + *bytes : UINT64_MAX, " bytes, found ", file.size());
  }
  return header;
}

Status read_npy_rows(const File& file, const NpyHeader& header, std::int64_t first,
                     std::int64_t rows, std::byte* out, const AccountPtr& account) {
  const std::size_t bytes = static_cast<std::size_t>(rows) * header.row_bytes();
  if (bytes == 0) return {};
  if (!header.fortran || header.shape.rank() == 1) {
    SW_RETURN_IF_ERROR(
        read_all(file, header.data + static_cast<std::uint64_t>(first) * header.row_bytes(),
                 std::span(out, bytes)));
  } else {
    const std::size_t column = static_cast<std::size_t>(rows) * size_of(header.dtype);
    SW_ASSIGN(Buffer buffer, Buffer::allocate(account, std::min<std::size_t>(column, 64 * 1024),
                                              Buffer::Ask::kRequired));
    SW_RETURN_IF_ERROR(
        read_columns(file, header, first, rows, out, std::span(buffer.data(), buffer.size())));
  }
  if (header.swapped) swap_bytes(out, bytes, header.dtype);
  return {};
}

}  // namespace spillway
