#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/pipeline/row_store.h"
#include "spillway/pipeline/spec.h"
#include "spillway/pipeline/spilled_list.h"

namespace spillway {

// Rows that belong together and go together: those of some pulls, or those of one group. In memory
// as they came while few bytes are held so, else in a row store, which spills. Rows may be added
// while others read those before them, by one thread; read on any thread.
class HeldBlock {
 public:
  ~HeldBlock();
  HeldBlock(const HeldBlock&) = delete;
  HeldBlock& operator=(const HeldBlock&) = delete;

  std::int64_t rows() const { return rows_; }
  bool grows() const { return store_ != nullptr; }
  // Rows begin, begin + stride, … below `end`, at most `most` and about `bytes`, at least one.
  Result<Chunk> read(std::int64_t begin, std::int64_t end, std::int64_t stride, std::int64_t most,
                     std::size_t bytes) const;
  // An error is one of the disk.
  Result<Origin> origin(std::int64_t row) const;
  const Origin& first_origin() const { return first_; }
  // Of rows begin, begin + stride, … below `end`; of a block with rows of several weights, all.
  Amount amount(std::int64_t begin, std::int64_t end, std::int64_t stride = 1) const;
  Amount amount() const { return {rows_, weight_}; }
  // Copies one more row in. Not for a block that was made of a chunk.
  Status add(const Chunk& rows, std::int64_t row);
  // As many of the rows as belong here, up to `most` in the block: those of the same weight. How
  // many they are; an error when there is no room for the first of them.
  Result<std::int64_t> add_alike(const Chunk& rows, std::int64_t most);

 private:
  friend class RowKeeper;
  HeldBlock() = default;
  bool alike(const Chunk& rows, std::int64_t row) const;

  std::atomic<std::int64_t> rows_{0};
  Chunk kept_;  // or:
  std::shared_ptr<RowStore> store_;
  mutable Mutex mutex_;
  std::unique_ptr<LongList<RowStore::Slot>> slots_ SW_GUARDED_BY(mutex_);
  StructurePtr structure_;
  Origin first_;
  std::int64_t weight_ = 0;  // of all; whoever adds reads it
  std::atomic<std::size_t> bytes_{0};
  Reservation paid_;  // for the block itself
  std::size_t in_memory_bytes_ = 0;
  std::shared_ptr<std::atomic<std::size_t>> in_memory_;
};
using HeldBlockPtr = std::shared_ptr<const HeldBlock>;

// Makes the blocks of one iterator. The blocks may outlive it.
class RowKeeper {
 public:
  explicit RowKeeper(StagePtr stage);
  // The rows, in memory as they came; null where too many are held so already.
  std::shared_ptr<HeldBlock> keep(const Chunk& rows);
  // For rows that are added.
  std::shared_ptr<HeldBlock> empty();
  // The same for one of many, which is paid for.
  std::shared_ptr<HeldBlock> one_of_many();

 private:
  const StagePtr stage_;
  const std::shared_ptr<std::atomic<std::size_t>> in_memory_;
  std::shared_ptr<RowStore> store_;  // made when first needed
  const std::shared_ptr<RowStore>& store();
};

// Every `stride`-th row of a block.
struct RowRun {
  HeldBlockPtr block;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t stride = 1;
  std::int64_t rows() const { return end <= begin ? 0 : (end - begin - 1) / stride + 1; }
  Amount amount() const;
};

// What a dataset made of held rows is made of.
class HeldRows final : public Object {
 public:
  HeldRows(StructurePtr element, std::vector<RowRun> runs);
  const StructurePtr& element() const { return element_; }
  const std::vector<RowRun>& runs() const { return runs_; }
  std::int64_t rows() const { return rows_; }
  Amount amount() const;
  std::string describe() const override;

 private:
  const StructurePtr element_;
  const std::vector<RowRun> runs_;
  std::int64_t rows_ = 0;
};
using HeldRowsPtr = std::shared_ptr<HeldRows>;

// A component's leaf as an element of its own.
StructurePtr component_structure(const Structure& leaf);

// A dataset of the rows: of one component each, or (-1) of whole elements. As a tensor that a
// user's function takes.
Result<Tensor> dataset_of(const HeldRowsPtr& rows, std::int64_t component, const Node& maker);

}  // namespace spillway
