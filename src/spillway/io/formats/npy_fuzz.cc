#include <vector>

#include "spillway/io/formats/npy.h"
#include "spillway/testing/format_fuzz.h"

// Any bytes as an .npy file: refused with the file's name, or rows that lie in the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spillway;
  const testing::FuzzedFile file(std::string(reinterpret_cast<const char*>(data), size));
  const auto header = read_npy_header(file);
  if (!header.ok()) {
    if (header.error().info().file.empty()) std::abort();
    return 0;
  }
  const NpyHeader& found = header.value();
  if (found.rows() == 0 || found.row_bytes() > size) return 0;
  Budget budget(std::size_t{4} << 20U);
  std::vector<std::byte> out(found.row_bytes());
  for (const std::int64_t row : {std::int64_t{0}, found.rows() / 2, found.rows() - 1}) {
    const Status read = read_npy_rows(file, found, row, 1, out.data(), budget.open_account("fuzz"));
    if (!read.ok()) std::abort();
  }
  return 0;
}
