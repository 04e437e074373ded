#include "spillway/graph/rows.h"

#include <algorithm>
#include <cstring>

#include "spillway/memory/slab_pool.h"

namespace spillway::graph {

std::size_t charge_of(std::size_t bytes) {
  if (bytes >= SIZE_MAX / 4) return SIZE_MAX / 2;
  return bytes >= SlabPool::kLeast ? SlabPool::capacity_for(bytes)
                                   : (bytes / Buffer::kAlignment + 2) * Buffer::kAlignment;
}

Status KnownRows::make(std::int64_t first, std::int64_t n, std::byte* to) {
  std::memcpy(to, at(first), static_cast<std::size_t>(n) * row_bytes());
  return {};
}

Status RowsOnDisk::append(std::int64_t first, std::int64_t rows, const std::byte* data,
                          std::size_t row_bytes) {
  for (std::int64_t done = 0; done < rows; done += block) {
    const std::int64_t n = std::min(block, rows - done);
    SW_ASSIGN(const SpillSlot slot, file->write({data + static_cast<std::size_t>(done) * row_bytes,
                                                 static_cast<std::size_t>(n) * row_bytes}));
    records.push_back({first + done, n, slot});
  }
  return {};
}

Status DiskRows::begin(std::int64_t /*most*/, const Paying& paying) {
  SW_ASSIGN(record_,
            Buffer::allocate(paying.account, static_cast<std::size_t>(value_->block) * row_bytes(),
                             paying.ask));
  return {};
}

Status DiskRows::make(std::int64_t first, std::int64_t n, std::byte* to) {
  auto record = std::upper_bound(
      value_->records.begin(), value_->records.end(), first,
      [](std::int64_t row, const RowsOnDisk::Record& each) { return row < each.first; });
  --record;
  for (std::int64_t done = 0; done < n; ++record) {
    const std::int64_t skip = first + done - record->first;
    const std::int64_t some = std::min(record->rows - skip, n - done);
    std::byte* out = to + static_cast<std::size_t>(done) * row_bytes();
    const bool whole = some == record->rows;
    SW_RETURN_IF_ERROR(value_->file->read(record->slot, whole ? out : record_->data()));
    if (!whole) {
      std::memcpy(out, record_->data() + static_cast<std::size_t>(skip) * row_bytes(),
                  static_cast<std::size_t>(some) * row_bytes());
    }
    done += some;
  }
  return {};
}

}  // namespace spillway::graph
