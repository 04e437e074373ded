#include "spillway/pipeline/waiting_rows.h"

#include "spillway/memory/slab_pool.h"

namespace spillway {

void count_as_output(const Tensor& rows, const AccountPtr& account) {
  if (!rows.has_value() || rows.dtype() == DType::kVariant) return;
  const BufferPtr& buffer = rows.buffer();
  if (buffer.use_count() == 1 && buffer->charged() >= SlabPool::kLeast) {
    buffer->enter_guarantee(account);
  }
}

void count_as_output(const Chunk& rows, const AccountPtr& account) {
  for (const Column& column : rows.columns()) {
    if (column.is_block()) {
      count_as_output(column.block(), account);
      continue;
    }
    for (const Tensor& row : column.each()) count_as_output(row, account);
  }
}

}  // namespace spillway
