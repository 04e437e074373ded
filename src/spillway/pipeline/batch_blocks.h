#pragma once

#include <cstdint>
#include <vector>

#include "spillway/tensor/chunk.h"

namespace spillway {

// Room for the batches that a stage behind us will make of our rows, so that rows which are made
// ahead and out of order lie side by side: RowGatherer then hands the block on as the batch, and
// copies nothing. Only an offer: where there is not plenty of room, or a row turns out to be
// another than those before it, rows are made anywhere and copied. One thread; places may be
// written from others.
class BatchBlocks {
 public:
  // `available`: rows in all; negative: unknown.
  BatchBlocks(AccountPtr account, std::int64_t available)
      : account_(std::move(account)), available_(available) {}

  // The row at `position` is the first of a batch of `size`, and so is every size-th after it.
  void begin_batch(std::int64_t position, std::int64_t size);
  // Rows on their way to the batch: the next ones will be like these. Where none of them is made in
  // its place, places are no longer offered.
  void note(const Chunk& rows);

  // At most `most` rows from `position` on that end with their batch.
  std::int64_t rows_until_end(std::int64_t position, std::int64_t most) const;
  // [rows, ...] for each component, no value for those that are small or strings. Empty: anywhere.
  // Asked for in order of positions.
  std::vector<Tensor> places(std::int64_t position, std::int64_t rows);

 private:
  std::int64_t into_batch(std::int64_t position) const { return (position - first_) % size_; }
  bool make_block(std::int64_t position);

  const AccountPtr account_;
  const std::int64_t available_;
  std::int64_t first_ = 0;  // of some batch
  std::int64_t size_ = 0;   // 0: none was begun
  struct Like {
    DType dtype;
    Shape shape;
  };
  std::vector<Like> like_;
  std::vector<Tensor> block_;  // empty: none
  std::int64_t block_at_ = 0;  // position of its first row
  std::int64_t block_rows_ = 0;
  std::vector<const Buffer*> blocks_;  // the latest: only compared, they may be gone
  std::int64_t elsewhere_ = 0;         // rows in a row that lay in none of them
};

}  // namespace spillway
