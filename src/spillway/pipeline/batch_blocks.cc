#include "spillway/pipeline/batch_blocks.h"

#include <algorithm>

#include "spillway/base/bytes.h"
#include "spillway/memory/slab_pool.h"

namespace spillway {
namespace {

constexpr std::size_t kWorthAPlace = 16 * kKiB;  // bytes of a row
// A batch size may be a way to say "everything".
constexpr std::size_t kLargest = 256 * kMiB;
constexpr std::size_t kBlocksKnown = 8;
constexpr std::int64_t kMostElsewhere = 256;  // rows

}  // namespace

void BatchBlocks::begin_batch(std::int64_t position, std::int64_t size) {
  first_ = position;
  size_ = size;
}

void BatchBlocks::note(const Chunk& rows) {
  if (size_ == 0) return;
  like_.clear();
  bool placed = blocks_.empty();
  for (const Column& column : rows.columns()) {
    const Tensor row = column.row(rows.rows() - 1);
    like_.push_back({row.dtype(), row.shape()});
    placed |= std::ranges::find(blocks_, row.buffer().get()) != blocks_.end();
  }
  elsewhere_ = placed ? 0 : elsewhere_ + rows.rows();
}

std::int64_t BatchBlocks::rows_until_end(std::int64_t position, std::int64_t most) const {
  return size_ == 0 ? most : std::min(most, size_ - into_batch(position));
}

std::vector<Tensor> BatchBlocks::places(std::int64_t position, std::int64_t rows) {
  if (size_ <= 1 || like_.empty() || elsewhere_ > kMostElsewhere) return {};
  if (into_batch(position) == 0 && !make_block(position)) block_.clear();
  if (block_.empty() || position < block_at_ || position + rows > block_at_ + block_rows_) {
    block_.clear();
    return {};
  }
  std::vector<Tensor> out;
  out.reserve(block_.size());
  const std::int64_t at = position - block_at_;
  for (const Tensor& part : block_) {
    out.push_back(part.has_value() ? part.slice(at, at + rows) : Tensor());
  }
  if (at + rows == block_rows_) {  // the last ones
    for (const Tensor& part : block_) {
      if (part.has_value()) part.buffer()->touch();
    }
    block_.clear();
  }
  return out;
}

bool BatchBlocks::make_block(std::int64_t position) {
  block_.clear();
  block_at_ = position;
  block_rows_ = available_ < 0 ? size_ : std::min(size_, available_ - position);
  if (block_rows_ <= 1) return false;
  bool any = false;
  for (const Like& like : like_) {
    Tensor part;
    std::size_t bytes = 0;
    const bool large =
        is_plain(like.dtype) &&
        static_cast<std::size_t>(like.shape.count()) * size_of(like.dtype) >= kWorthAPlace;
    if (large &&
        !__builtin_mul_overflow(static_cast<std::size_t>(block_rows_),
                                static_cast<std::size_t>(like.shape.count()) * size_of(like.dtype),
                                &bytes) &&
        bytes <= kLargest && within_reach_ahead(account_->budget()) / 2 >= bytes) {
      auto made = make_tensor(account_, like.dtype, like.shape.with_leading(block_rows_),
                              Buffer::Ask::kOptional);
      if (made.ok()) part = std::move(made).value();
    }
    if (part.has_value()) blocks_.push_back(part.buffer().get());
    any |= part.has_value();
    block_.push_back(std::move(part));
  }
  while (blocks_.size() > kBlocksKnown) blocks_.erase(blocks_.begin());
  return any;
}

}  // namespace spillway
