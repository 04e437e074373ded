#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "spillway/pipeline/row_message.h"

// What a worker with damaged memory may say: refused, or rows of the structure that it told, whose
// every byte can be read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spillway;
  static auto& budget = *new Budget(std::size_t{64} << 20U);
  static const AccountPtr& account = *new AccountPtr(budget.open_account("fuzz"));
  static auto& memory =
      *new std::shared_ptr<SharedMemory>(SharedMemory::create(budget, 1 << 20).value());
  SharedMemory::Piece room = memory->take(account, 1 << 17);
  if (!room) std::abort();
  std::memcpy(room.bytes().data(), data, std::min(size, room.bytes().size()));
  RowReceiver receiver;
  MessageReader in(std::string_view(reinterpret_cast<const char*>(data), size));
  const bool copies = size > 0 && data[size - 1] % 2 == 1;
  const auto rows = copies ? receiver.copy(in, account, std::move(room))
                           : receiver.own(in, account, std::move(room));
  if (!rows.ok()) return 0;
  std::size_t sum = 0;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(rows.value().rows(), 64); ++i) {
    const Row row = rows.value().row(i);
    if (rows.value().structure() != nullptr &&
        !check_values(*rows.value().structure(), row.values).ok()) {
      std::abort();
    }
    for (const Tensor& value : row.values) {
      if (value.dtype() == DType::kString) {
        for (std::int64_t k = 0; k < value.count(); ++k) sum += value.string_at(k).size();
      } else {
        for (std::size_t k = 0; k < value.bytes(); ++k)
          sum += static_cast<std::size_t>(value.data()[k]);
      }
    }
  }
  return sum == SIZE_MAX ? 1 : 0;
}
