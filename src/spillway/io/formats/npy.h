#pragma once

#include <vector>

#include "spillway/io/file.h"
#include "spillway/memory/buffer.h"
#include "spillway/tensor/dtype.h"
#include "spillway/tensor/shape.h"

namespace spillway {

// What an .npy file says of itself (versions 1 to 3). Plain types of either byte order; arrays of
// objects are refused, as nothing is ever unpickled, and so are records, dates and text.
struct NpyHeader {
  DType dtype = DType::kFloat32;
  bool swapped = false;  // the other byte order
  bool fortran = false;  // the first index varies fastest
  Shape shape;
  std::uint64_t data = 0;  // where the items begin

  std::int64_t rows() const { return shape[0]; }
  Shape row() const { return shape.without_leading(); }
  bool operator==(const NpyHeader&) const = default;
  std::size_t row_bytes() const { return static_cast<std::size_t>(row().count()) * size_of(dtype); }
};

// Every claim is compared with the file's size before it is believed; a file that is too short is
// CorruptFile with expected and found. An array without dimensions has no rows: InvalidArgument.
Result<NpyHeader> read_npy_header(const File& file);

// Rows [first, first + rows) to `out`, row after row, in this machine's byte order. A file in
// Fortran's order is read column by column, through a buffer of the account's.
Status read_npy_rows(const File& file, const NpyHeader& header, std::int64_t first,
                     std::int64_t rows, std::byte* out, const AccountPtr& account);

}  // namespace spillway
