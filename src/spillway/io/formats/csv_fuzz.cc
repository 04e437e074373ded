#include "spillway/io/formats/csv.h"
#include "spillway/testing/format_fuzz.h"

namespace spillway {
namespace {

// Columns of every type; the second byte chooses how the file is read.
std::shared_ptr<const CsvFormat> format_of(std::uint8_t choice, const AccountPtr& account) {
  auto format = std::make_shared<CsvFormat>();
  const bool required = (choice & 1U) != 0;
  for (const DType dtype : {DType::kInt32, DType::kFloat32, DType::kFloat64, DType::kInt64}) {
    Tensor fallback = make_tensor(account, dtype, Shape{required ? 0 : 1}).value();
    std::fill_n(fallback.mutable_data(), fallback.bytes(), std::byte{0});
    format->columns.push_back({dtype, std::move(fallback)});
  }
  const std::string_view word = "d";
  format->columns.push_back({DType::kString, make_strings(account, Shape{1}, {&word, 1}).value()});
  if ((choice & 2U) != 0) format->select = {0, 1, 3, 4, 7};
  if ((choice & 6U) == 4) format->exclude = {1, 5};
  format->quotes = (choice & 8U) == 0;
  format->header = (choice & 16U) != 0;
  constexpr char kDelimiters[] = {',', ';', '\n', '"', '\r', ',', ',', '\0'};
  format->delimiter = kDelimiters[choice >> 5U];
  format->na_value = "N";
  return format;
}

}  // namespace
}  // namespace spillway

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spillway;
  if (size < 2) return 0;
  static const AccountPtr& own = *new AccountPtr(Budget::process().open_account("formats"));
  const auto format = format_of(data[0], own);
  return testing::fuzz_rows(data + 1, size - 1, [&](std::unique_ptr<ByteStream> stream) {
    return read_csv(std::move(stream), format);
  });
}
