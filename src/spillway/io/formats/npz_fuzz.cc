#include <vector>

#include "spillway/io/formats/npz.h"
#include "spillway/testing/format_fuzz.h"

// Any bytes as an .npz archive: refused with the file's name, or rows of its arrays.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spillway;
  const auto file =
      std::make_shared<testing::FuzzedFile>(std::string(reinterpret_cast<const char*>(data), size));
  Budget budget(std::size_t{4} << 20U);
  const AccountPtr account = budget.open_account("fuzz");
  const auto names = npz_names(*file, account);
  if (!names.ok()) return 0;
  for (const std::string& name : names.value()) {
    const auto array = open_npz(file, name, account);
    if (!array.ok()) {
      if (array.error().info().file.empty()) std::abort();
      continue;
    }
    const NpyHeader& header = array.value().header;
    if (header.rows() == 0 || header.row_bytes() > 1'000'000) continue;
    std::vector<std::byte> out(header.row_bytes());
    for (const std::int64_t row : {std::int64_t{0}, header.rows() / 2, header.rows() - 1}) {
      const Status read = read_npy_rows(*array.value().file, header, row, 1, out.data(), account);
      if (!read.ok() && read.info().file.empty()) std::abort();
    }
  }
  return 0;
}
