#include <algorithm>

#include "spillway/pipeline/cache_store.h"
#include "spillway/pipeline/row_store.h"
#include "spillway/pipeline/run.h"
#include "spillway/pipeline/spilled_list.h"

namespace spillway {
namespace {

struct Rows {
  Rows(AccountPtr account, Budget& budget, std::string began)
      : store(account, budget, spilled),
        slots(std::move(account), budget, spilled),
        start(std::move(began)) {}

  // The node keeps the rows, and a stage keeps its node: the rows must not keep a stage.
  void report(StageStats& stats) const { stats.spilled_bytes += spilled->exchange(0); }

  const LazySpill::Counter spilled = std::make_shared<std::atomic<std::int64_t>>(0);
  RowStore store;
  SpilledList<RowStore::Slot> slots;
  const std::string start;
  StructurePtr structure;
  std::size_t bytes = 0;
  // Readers may not be in the store while it is dropped.
  Mutex mutex;
  int readers SW_GUARDED_BY(mutex) = 0;
  bool dropped SW_GUARDED_BY(mutex) = false;
};

// What the node keeps, and what a pass that fills it may still give it.
struct Kept {
  Mutex mutex;
  std::shared_ptr<Rows> rows SW_GUARDED_BY(mutex);
};

class MemorySource final : public CacheSource {
 public:
  MemorySource(std::shared_ptr<Rows> rows, StagePtr stage)
      : rows_(std::move(rows)), stage_(std::move(stage)) {}

  Next read(std::int64_t row, const Demand& demand) override {
    {
      const MutexLock lock(rows_->mutex);
      if (rows_->dropped) return internal_bug("cache: read after it was dropped");
      ++rows_->readers;
    }
    Next next = read_kept(row, demand);
    rows_->report(stage_->stats());
    const MutexLock lock(rows_->mutex);
    --rows_->readers;
    return next;
  }
  bool gone() const override {
    const MutexLock lock(rows_->mutex);
    return rows_->dropped;
  }
  std::string start() const override { return rows_->start; }

 private:
  Next read_kept(std::int64_t row, const Demand& demand) {
    const std::int64_t count = rows_->slots.end();
    if (row >= count) return end_of_data();
    const auto each = static_cast<std::int64_t>(rows_->bytes) / count + 1;
    const std::int64_t most =
        std::min(std::max<std::int64_t>(
                     1, std::min(static_cast<std::int64_t>(demand.bytes) / each, demand.rows)),
                 count - row);
    std::vector<RowStore::Slot> wanted;
    wanted.reserve(static_cast<std::size_t>(most));
    for (std::int64_t i = 0; i < most; ++i) {
      SW_ASSIGN(const RowStore::Slot slot, rows_->slots.read(row + i));
      wanted.push_back(slot);
    }
    const std::span<const RowStore::Slot> slots(wanted);
    const AccountPtr& payer = stage_->account();
    auto chunk = rows_->store.peek_rows(
        rows_->structure, slots, most > 1 ? Buffer::Ask::kOptional : Buffer::Ask::kRequired, payer);
    // Too much at a time? One row is all that must fit.
    if (!chunk.ok() && most > 1) {
      chunk =
          rows_->store.peek_rows(rows_->structure, slots.first(1), Buffer::Ask::kRequired, payer);
    }
    if (!chunk.ok()) return std::move(chunk).status();
    return std::optional<Chunk>(std::move(chunk).value());
  }

  const std::shared_ptr<Rows> rows_;
  const StagePtr stage_;
};

class MemorySink final : public CacheSink {
 public:
  MemorySink(std::shared_ptr<Kept> kept, std::shared_ptr<Rows> rows, StagePtr stage)
      : kept_(std::move(kept)), rows_(std::move(rows)), stage_(std::move(stage)) {}

  Status put(const Chunk& rows, std::int64_t row) override {
    if (rows_->structure == nullptr) rows_->structure = rows.structure();
    auto put = rows_->store.put(rows, row);
    rows_->report(stage_->stats());
    SW_ASSIGN(const RowStore::Slot slot, std::move(put));
    if (Status listed = rows_->slots.append(slot); !listed.ok()) {
      rows_->store.erase(slot);
      return listed;
    }
    rows_->bytes += rows.footprint() / static_cast<std::size_t>(rows.rows());
    return {};
  }
  // The first pass to finish fills the cache; the rows of another are let go.
  Status finish() override {
    const MutexLock lock(kept_->mutex);
    if (kept_->rows == nullptr) kept_->rows = rows_;
    return {};
  }
  std::unique_ptr<CacheSource> so_far() const override {
    return std::make_unique<MemorySource>(rows_, stage_);
  }

 private:
  const std::shared_ptr<Kept> kept_;
  const std::shared_ptr<Rows> rows_;
  const StagePtr stage_;
};

class MemoryCache final : public CacheStore {
 public:
  MemoryCache(Budget& budget, std::string name, std::string line, bool repeatable)
      : account_(budget.open_account(std::move(name), std::move(line))) {
    if (!repeatable) return;
    pressure_ = budget.on_pressure(ReclaimOrder::kDroppableCache,
                                   [kept = kept_](std::size_t) { return drop(*kept); });
  }

  Result<std::unique_ptr<CacheSource>> source(const OpenContext& context) override {
    std::shared_ptr<Rows> gone;  // dies outside the lock
    const MutexLock lock(kept_->mutex);
    if (kept_->rows != nullptr) {
      const MutexLock inner(kept_->rows->mutex);
      if (kept_->rows->dropped) gone = std::move(kept_->rows);
    }
    if (kept_->rows == nullptr) return std::unique_ptr<CacheSource>();
    return std::unique_ptr<CacheSource>(
        std::make_unique<MemorySource>(kept_->rows, context.stage()));
  }
  Result<std::unique_ptr<CacheSink>> sink(const OpenContext& context, std::string start) override {
    return std::unique_ptr<CacheSink>(std::make_unique<MemorySink>(
        kept_, std::make_shared<Rows>(account_, context.run().budget(), std::move(start)),
        context.stage()));
  }
  bool finishes_by_count() const override { return true; }

 private:
  // Rows that were spilled already are cheaper to read than to make again: they stay. The store
  // itself must not die here, where the budget asks: it would wait for this very call.
  static std::size_t drop(Kept& kept) {
    if (!kept.mutex.try_lock()) return 0;
    const std::size_t freed = kept.rows == nullptr ? 0 : drop_rows(*kept.rows);
    kept.mutex.unlock();
    return freed;
  }

  static std::size_t drop_rows(Rows& rows) {
    if (!rows.mutex.try_lock()) return 0;
    std::size_t freed = 0;
    if (!rows.dropped && rows.readers == 0 && rows.store.bytes_on_disk() == 0) {
      freed = rows.store.drop_all();
      rows.dropped = freed > 0;
      if (rows.dropped) rows.slots.clear();
    }
    rows.mutex.unlock();
    return freed;
  }

  const AccountPtr account_;
  const std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
  Budget::Registration pressure_;
};

}  // namespace

std::shared_ptr<CacheStore> memory_cache(Budget& budget, std::string name, std::string line,
                                         bool repeatable) {
  return std::make_shared<MemoryCache>(budget, std::move(name), std::move(line), repeatable);
}

}  // namespace spillway
