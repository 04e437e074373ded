#include <algorithm>
#include <chrono>
#include <thread>

#include "spillway/base/interrupt.h"
#include "spillway/memory/activity.h"
#include "spillway/pipeline/access.h"
#include "spillway/pipeline/cache_store.h"
#include "spillway/pipeline/disk_failure.h"
#include "spillway/pipeline/order_log.h"
#include "spillway/pipeline/run.h"

namespace spillway {
namespace {

std::shared_ptr<CacheStore> store_of(const OpenContext& context) {
  const Node& node = context.node();
  return node.shared<CacheStore>([&]() -> std::shared_ptr<CacheStore> {
    const std::string path = node.string_param("filename");
    if (!path.empty()) return file_cache(path);
    return memory_cache(context.run().budget(), context.stage()->name(), node.line(),
                        may_overpull(*node.inputs()[0]));
  });
}

Result<std::string> state_of(const Iterator& input) {
  StateWriter writer;
  SW_RETURN_IF_ERROR(input.save(writer));
  SW_RETURN_IF_ERROR(writer.status());
  return std::move(writer).take();
}

// Fills the cache while handing rows on, or reads it. Rows that fail are not kept.
//
// A checkpoint is how the filling pass began and how far it came: whoever restores it without a
// finished cache fills one again from there, so that later passes read the same rows.
class CacheIterator final : public Iterator {
 public:
  explicit CacheIterator(const OpenContext& context)
      : Iterator(context.stage(), context.epoch()),
        context_(context),
        store_(store_of(context)),
        repeatable_(may_overpull(*context.node().inputs()[0])) {}

  Status open() {
    auto source = store_->source(context_);
    // A damaged file is told when a row is asked for, as any other error.
    if (!source.ok()) {
      broken_ = std::move(source).status();
      return {};
    }
    source_ = std::move(source).value();
    return source_ != nullptr ? Status() : open_input();
  }

  Next pull(const Demand& demand) override {
    if (!broken_.ok()) {
      if (std::exchange(broken_told_, true)) return end_of_data();
      return is_position(broken_) ? ending_source(broken_) : broken_;
    }
    if (source_ != nullptr) {
      if (!source_->gone()) {
        Next next = source_->read(rows_, demand);
        if (next.ok() && next.value()) rows_ += next.value()->rows();
        return next;
      }
      SW_RETURN_IF_ERROR(make_again());
    }
    for (;;) {
      const std::int64_t told = told_before();
      if (!pending_) {
        if (sink_ != nullptr) {
          if (Status begun = sink_->begin(); !begun.ok()) SW_RETURN_IF_ERROR(without_cache(begun));
        }
        Next next = input_->next(told > 0 ? Demand{told} : demand);
        if (!next.ok()) {
          if (!is_position(next.error())) return next;
          ++positions_;
          if (quiet_ || told > 0) continue;
          return next;
        }
        if (!next.value()) {
          SW_RETURN_IF_ERROR(finish());
          return next;
        }
        pending_ = std::move(next).value();
      }
      SW_ASSIGN(Chunk kept, keep());
      if (told == 0) return std::optional<Chunk>(std::move(kept));
    }
  }

  Status save(StateWriter& out) const override {
    out.put(source_ != nullptr || quiet_ ? 1 : 0);
    out.put(std::max(rows_, rows_told_));
    out.put(std::max(positions_, positions_told_));
    out.put(source_ != nullptr ? source_->start() : start_);
    orders_.pass_on();
    return broken_;
  }
  Status restore(StateReader& in) override {
    std::int64_t reading = 0;
    SW_RETURN_IF_ERROR(in.get(reading));
    SW_RETURN_IF_ERROR(in.get_count(rows_told_));
    SW_RETURN_IF_ERROR(in.get_count(positions_told_));
    SW_RETURN_IF_ERROR(in.get(start_));
    if (source_ != nullptr) {
      rows_ = rows_told_;
      return {};
    }
    SW_RETURN_IF_ERROR(broken_);
    quiet_ = reading != 0;
    SW_RETURN_IF_ERROR(open_sink());
    if (start_.empty()) return {};
    StateReader below(start_);
    SW_RETURN_IF_ERROR(input_->restore(below));
    return take_start();
  }

 private:
  Status open_input() {
    SW_ASSIGN(input_, context_.open_input(0));
    SW_RETURN_IF_ERROR(take_start());
    return open_sink();
  }
  Status take_start() {
    OrderMarks orders;
    {
      const OrderMarks::Taking here(context_.run().orders(), orders);
      SW_ASSIGN(start_, state_of(*input_));
    }
    orders_ = std::move(orders);
    return {};
  }
  Status open_sink() {
    SW_ASSIGN(sink_, store_->sink(context_, start_));
    return {};
  }

  // The cache gave its rows up under pressure: fills it again, from the first row on.
  Status make_again() {
    source_.reset();
    rows_told_ = std::exchange(rows_, 0);
    quiet_ = true;
    return open_input();
  }

  // How many of the next elements were handed on before, by the pass this one continues.
  std::int64_t told_before() const {
    return std::max<std::int64_t>(0, quiet_ ? rows_told_ - rows_ : positions_told_ - positions_);
  }

  // Puts the pending rows into the cache, and takes off those that may be handed on.
  Result<Chunk> keep() {
    const Chunk rows = *pending_;
    std::int64_t kept = 0;
    Status failed;
    for (; sink_ != nullptr && kept < rows.rows(); ++kept) {
      failed = sink_->put(rows, kept);
      if (!failed.ok()) break;
    }
    // No room for a cache: rows that can be made again need none. Others must be kept.
    if (!failed.ok() && repeatable_ && failed.kind() == ErrorKind::kResource) {
      if (!without_cache(failed).ok()) sink_.reset();
    } else if (!failed.ok()) {
      failed = without_cache(failed);
    }
    if (sink_ == nullptr) kept = rows.rows();
    if (kept == 0) return failed;
    pending_.reset();
    if (kept < rows.rows()) pending_ = rows.slice(kept, rows.rows());
    rows_ += kept;
    positions_ += kept;
    use(rows.amount(kept));
    if (store_->finishes_by_count() && rows_ == context_.node().inputs()[0]->cardinality()) {
      SW_RETURN_IF_ERROR(finish());
    }
    return rows.slice(0, kept);
  }
  Status finish() {
    if (sink_ == nullptr) return {};
    if (Status finished = sink_->finish(); !finished.ok()) return without_cache(finished);
    sink_.reset();
    return {};
  }
  // The disk of a cache's file is full or fails: the elements go on without it, and the next pass
  // tries again. Other errors come back.
  Status without_cache(const Status& failed) {
    const std::string path = context_.node().string_param("filename");
    if (path.empty() || !is_disk_failure(failed)) return failed;
    sink_.reset();
    context_.run().warn(
        Run::Warned::kSource,
        stage().name() + ", written at " + context_.node().line() + ": " +
            std::string(failed.message()) +
            ". The elements go on without the cache, and the partial file was removed: make room "
            "there or give cache() a path on another disk");
    return {};
  }

  const OpenContext context_;
  const std::shared_ptr<CacheStore> store_;
  const bool repeatable_;
  Status broken_;                        // the file is damaged
  bool broken_told_ = false;             // then the pass ends
  std::unique_ptr<CacheSource> source_;  // reading, when not null
  IteratorPtr input_;
  std::string start_;                // the state of the input when this pass began
  OrderMarks orders_;                // and what came behind it
  std::unique_ptr<CacheSink> sink_;  // null: finished, or given up
  std::optional<Chunk> pending_;     // pulled, not yet kept
  std::int64_t rows_ = 0;
  std::int64_t positions_ = 0;  // rows and errors
  std::int64_t rows_told_ = 0;  // by the pass this one continues
  std::int64_t positions_told_ = 0;
  bool quiet_ = false;  // errors were not part of what is read again
};

// One thread at a time, without a lock held while it works. Whoever has the turn already, because
// a function below asks for an element of its own cache, is refused.
class Turns {
 public:
  Status take(const Run& run) {
    const Parked parked(run.budget());
    const MutexLock lock(mutex_);
    while (taken_) {
      if (taker_ == std::this_thread::get_id()) {
        return Status::error(ErrorKind::kUser, Code::kFailedPrecondition,
                             "cache: a function must not ask for an element of the cache that is "
                             "being filled with its results");
      }
      if (run.stop() || interrupted()) return cancelled();
      given_back_.wait_for(mutex_, std::chrono::milliseconds(20));
    }
    taken_ = true;
    taker_ = std::this_thread::get_id();
    return {};
  }
  void give_back() {
    const MutexLock lock(mutex_);
    taken_ = false;
    given_back_.notify_one();
  }

 private:
  Mutex mutex_;
  CondVar given_back_;
  bool taken_ SW_GUARDED_BY(mutex_) = false;
  std::thread::id taker_ SW_GUARDED_BY(mutex_);
};

// Reads the finished cache, or fills one by an ordinary pass over the input up to the element that
// is asked for: so any input will do, and its functions are called once for an element, in order.
// At the input's end the cache is finished for iterators too.
class CacheIndexed final : public Indexed {
 public:
  explicit CacheIndexed(const OpenContext& context)
      : Indexed(context), context_(context), store_(store_of(context)) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    SW_RETURN_IF_ERROR(turns_.take(stage().run()));
    std::vector<Chunk> parts;
    Status failed;
    for (const std::int64_t index : indices) {
      Result<Chunk> row = one(index);
      if (!row.ok()) {
        failed = std::move(row).status();
        break;
      }
      parts.push_back(std::move(row).value());
    }
    turns_.give_back();
    if (!failed.ok()) return failed;
    const StructurePtr structure = parts[0].structure();
    return join_rows(structure, parts);
  }

 private:
  Result<Chunk> one(std::int64_t index) {
    for (;;) {
      if (source_ == nullptr || source_->gone()) SW_RETURN_IF_ERROR(open_source());
      if (sink_ != nullptr && index >= filled_) {
        SW_RETURN_IF_ERROR(fill(index));
        continue;
      }
      SW_ASSIGN(std::optional<Chunk> row, source_->read(index, Demand::one()));
      if (row) return std::move(*row);
      return out_of_range(index, rows_);
    }
  }

  Status open_source() {
    SW_ASSIGN(source_, store_->source(context_));
    if (source_ != nullptr) return {};
    SW_ASSIGN(input_, context_.open_input(0));
    SW_ASSIGN(std::string start, state_of(*input_));
    SW_ASSIGN(sink_, store_->sink(context_, std::move(start)));
    filled_ = 0;
    source_ = sink_->so_far();
    return sink_->begin();
  }

  Status fill(std::int64_t index) {
    const std::int64_t known = node().inputs()[0]->cardinality();
    while (filled_ <= index) {
      if (!pending_) {
        Next next = input_->next(Demand::one());
        if (!next.ok()) {
          // Without it the later ones would stand in wrong places: the next call begins anew.
          if (is_position(next.error())) abandon();
          return std::move(next).status();
        }
        if (!next.value()) return finish();
        pending_ = std::move(next).value();
      }
      SW_RETURN_IF_ERROR(sink_->put(*pending_, 0));
      pending_.reset();
      if (++filled_ == known) return finish();
    }
    return {};
  }

  // Another pass may have finished before: then its rows are the cache.
  Status finish() {
    rows_ = filled_;
    const Status finished = sink_->finish();
    abandon();
    return finished;
  }
  void abandon() {
    pending_.reset();
    source_.reset();
    sink_.reset();
    input_.reset();
  }

  const OpenContext context_;
  const std::shared_ptr<CacheStore> store_;
  Turns turns_;
  // Of whoever has the turn:
  std::unique_ptr<CacheSource> source_;
  IteratorPtr input_;                // while filling
  std::unique_ptr<CacheSink> sink_;  // the same
  std::optional<Chunk> pending_;     // pulled, not yet kept
  std::int64_t filled_ = 0;
  std::int64_t rows_ = kUnknownCount;  // known from the end on
};

constexpr ParamDef kParams[] = {
    {"filename", ParamType::kString, "''", "where to keep the rows; empty: in memory"},
};

}  // namespace

extern constexpr OperatorDef cache_operator{
    .name = "cache",
    .summary = "Keeps the elements of the first full pass for the passes that follow.",
    .example =
        ">>> list(sw.Dataset.range(3).cache().repeat(2).as_numpy_iterator())\n"
        "[np.int64(0), np.int64(1), np.int64(2), np.int64(0), np.int64(1), np.int64(2)]",
    .params = kParams,
    .effects = Effects::kSharedState,
    .fallible = true,
    .ratio = Ratio::kCounted,
    .infer = infer_same,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      auto it = std::make_unique<CacheIterator>(context);
      SW_RETURN_IF_ERROR(it->open());
      return IteratorPtr(std::move(it));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      if (!context.node().string_param("filename").empty()) {
        return no_random_access(context.node(), "in a file");
      }
      return IndexedPtr(std::make_unique<CacheIndexed>(context));
    }};

}  // namespace spillway
