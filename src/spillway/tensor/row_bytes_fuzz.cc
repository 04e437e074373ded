#include <cstdint>
#include <cstdlib>
#include <vector>

#include "spillway/tensor/chunk.h"

// An element from any bytes: refused, or written again as the same bytes, within the budget.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spillway;
  Budget budget(1 << 20);
  const AccountPtr account = budget.open_account("fuzz");
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto values = parse_row_bytes(account, bytes, Buffer::Ask::kOptional);
  if (!values.ok()) return 0;
  std::vector<std::byte> again;
  if (!append_row_bytes(values.value(), again).ok()) std::abort();
  if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) std::abort();
  return 0;
}
