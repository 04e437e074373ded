#include <algorithm>
#include <limits>
#include <unordered_map>

#include "spillway/base/random.h"
#include "spillway/pipeline/input.h"
#include "spillway/pipeline/row_store.h"
#include "spillway/pipeline/run.h"

namespace spillway {
namespace {

using Limits = std::numeric_limits<std::int64_t>;

Result<Inferred> infer(const Node& node) {
  const std::int64_t size = node.int_param("buffer_size");
  if (size < 1 && size != kUnknownCount) {
    return invalid_argument("buffer_size must be greater than zero or UNKNOWN_CARDINALITY");
  }
  return infer_same(node);
}

// ---- Seeds

struct Seeds {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

// The node's own generator: every new pass draws its pair from it, or uses the pair itself when
// each pass is to be alike. Without a seed from the user both are drawn once, for the node's life.
class SeedSource {
 public:
  SeedSource(Seeds seeds, bool reshuffle) : reshuffle_(reshuffle), seeds_(seeds) {
    if (seeds_.first == 0 && seeds_.second == 0) seeds_ = {entropy64(), entropy64()};
    stream_ = PhiloxStream(seeds_.first, seeds_.second);
  }
  Seeds draw() {
    const MutexLock lock(mutex_);
    if (!reshuffle_) return seeds_;
    const std::uint64_t first = stream_.next();
    return {first, stream_.next()};
  }
  void save(StateWriter& out) const {
    const MutexLock lock(mutex_);
    out.put(static_cast<std::int64_t>(seeds_.first));
    out.put(static_cast<std::int64_t>(seeds_.second));
    out.put(static_cast<std::int64_t>(stream_.draws()));
  }
  Status restore(StateReader& in) {
    std::int64_t first = 0;
    std::int64_t second = 0;
    std::int64_t draws = 0;
    SW_RETURN_IF_ERROR(in.get(first));
    SW_RETURN_IF_ERROR(in.get(second));
    SW_RETURN_IF_ERROR(in.get(draws));
    const MutexLock lock(mutex_);
    seeds_ = {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(second)};
    stream_ = PhiloxStream::at(seeds_.first, seeds_.second, static_cast<std::uint64_t>(draws));
    return {};
  }

 private:
  const bool reshuffle_;
  mutable Mutex mutex_;
  Seeds seeds_ SW_GUARDED_BY(mutex_);
  PhiloxStream stream_ SW_GUARDED_BY(mutex_);
};

std::shared_ptr<SeedSource> seed_source(const Node& node) {
  return node.shared<SeedSource>([&] {
    return std::make_shared<SeedSource>(Seeds{static_cast<std::uint64_t>(node.int_param("seed")),
                                              static_cast<std::uint64_t>(node.int_param("seed2"))},
                                        node.bool_param("reshuffle_each_iteration", true));
  });
}

// ---- The buffer

// TensorFlow's shuffle buffer: a ring of which a random one leaves, its place taken by the oldest.
// Grows as it is filled, up to `capacity`.
template <class T>
class Ring {
 public:
  explicit Ring(std::int64_t capacity) : capacity_(static_cast<std::uint64_t>(capacity)) {}
  std::uint64_t size() const { return size_; }
  bool full() const { return size_ == capacity_; }
  void push(T item) {
    std::uint64_t at = head_ + size_;
    if (at >= capacity_) at -= capacity_;
    if (at == items_.size()) {
      items_.push_back(item);
    } else {
      items_[at] = item;
    }
    ++size_;
  }
  T pop(PhiloxStream& random) {
    const std::uint32_t number = random.next();
    // A size of 32 bits divides four times faster.
    std::uint64_t at = size_ <= UINT32_MAX ? number % static_cast<std::uint32_t>(size_) : number;
    at += head_;
    if (at >= capacity_) at -= capacity_;
    const T out = std::exchange(items_[at], items_[head_]);
    if (++head_ == capacity_) head_ = 0;
    --size_;
    return out;
  }
  // In order of age. Fewer places from now on: for a buffer that found no room.
  void shrink_to_fit() {
    std::vector<T> rest;
    for_each([&](T& item) { rest.push_back(item); });
    items_ = std::move(rest);
    head_ = 0;
    capacity_ = std::max<std::uint64_t>(size_, 1);
  }
  template <class Fn>
  void for_each(Fn&& fn) {
    for (std::uint64_t i = 0; i < size_; ++i) {
      std::uint64_t at = head_ + i;
      if (at >= capacity_) at -= capacity_;
      fn(items_[at]);
    }
  }
  std::uint64_t capacity() const { return capacity_; }
  std::size_t bytes() const { return items_.capacity() * sizeof(T); }
  void reserve(std::size_t items) { items_.reserve(items); }

 private:
  std::uint64_t capacity_;
  std::uint64_t head_ = 0;
  std::uint64_t size_ = 0;
  std::vector<T> items_;
};

// What both forms of the iterator save: a checkpoint of one restores into the other, as memory
// allows.
struct Progress {
  Seeds seeds;                // of this pass
  std::int64_t emitted = 0;   // rows handed on: one random number each
  std::int64_t pushed = 0;    // rows that entered the buffer
  std::int64_t errors = 0;    // positions of the input without a row, before the oldest needed
  std::vector<std::int64_t> recent_errors;  // and since, ascending
  std::vector<std::int64_t> ring;  // ordinals in the buffer, when a shrunk one cannot be replayed
  std::string input;               // how to come back to the oldest needed row

  void save(StateWriter& out) const {
    for (const std::int64_t value :
         {static_cast<std::int64_t>(seeds.first), static_cast<std::int64_t>(seeds.second), emitted,
          pushed, errors}) {
      out.put(value);
    }
    for (const auto* list : {&recent_errors, &ring}) {
      out.put(static_cast<std::int64_t>(list->size()));
      for (std::size_t i = 0; i < list->size(); ++i) {
        out.put((*list)[i] - (i > 0 ? (*list)[i - 1] : 0));
      }
    }
    out.put(input);
  }
  Status restore(StateReader& in) {
    std::int64_t first = 0;
    std::int64_t second = 0;
    for (std::int64_t* value : {&first, &second, &emitted, &pushed, &errors}) {
      SW_RETURN_IF_ERROR(in.get(*value));
    }
    seeds = {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(second)};
    for (auto* list : {&recent_errors, &ring}) {
      std::int64_t count = 0;
      SW_RETURN_IF_ERROR(in.get(count));
      std::int64_t last = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t step = 0;
        SW_RETURN_IF_ERROR(in.get(step));
        list->push_back(last += step);
      }
    }
    if (emitted < 0 || pushed < emitted) return invalid_argument("checkpoint: shuffle: bad count");
    return in.get(input);
  }
};

// Runs the first `emitted` steps again. What enters the k-th time is make(k).
template <class T, class Make>
void replay(Ring<T>& ring, PhiloxStream& random, std::int64_t emitted, std::int64_t pushed,
            Make&& make) {
  std::int64_t next = 0;
  for (std::int64_t step = 0; step <= emitted; ++step) {
    while (next < pushed && !ring.full()) ring.push(make(next++));
    if (step < emitted) ring.pop(random);
  }
}

// ---- Over inputs with random access

// The buffer algorithm over indices, the rows gathered straight into blocks: no row is ever held.
class IndexShuffle final : public Iterator {
 public:
  IndexShuffle(const OpenContext& context, IndexedPtr input, Reservation paid)
      : Iterator(context.stage(), context.epoch()),
        source_(seed_source(context.node())),
        input_(std::move(input)),
        size_(input_->size()),
        buffer_(std::min(context.node().int_param("buffer_size") == kUnknownCount
                             ? Limits::max()
                             : context.node().int_param("buffer_size"),
                         std::max<std::int64_t>(size_, 1))),
        paid_(std::move(paid)),
        ring_(buffer_),
        epoch_outer_(context.outer()) {
    progress_.seeds = source_->draw();
    random_ = PhiloxStream(progress_.seeds.first, progress_.seeds.second);
    collect_sources(context.stage()->node());
    stats().effective = buffer_;
  }

  Next pull(const Demand& demand) override {
    if (drawn_ == drawn_end_) draw(demand);
    const std::span<const std::int64_t> left(indices_.data() + drawn_,
                                             static_cast<std::size_t>(drawn_end_ - drawn_));
    if (left.empty()) return end_of_data();
    auto rows = input_->at(left.first(std::min<std::size_t>(
                               left.size(), static_cast<std::size_t>(demand.rows))),
                           account());
    // Too much at a time? One row is all that must fit.
    if (!rows.ok() && left.size() > 1) rows = input_->at(left.first(1), account());
    if (!rows.ok()) return std::move(rows).status();
    Chunk& chunk = rows.value();
    drawn_ += chunk.rows();
    progress_.emitted += chunk.rows();
    return std::optional<Chunk>(chunk.with_origins(
        chunk.origins().rescoped([this](const ScopePtr& scope) { return in_this_pass(scope); })));
  }

  Status skip(std::int64_t rows) override {
    const std::int64_t drawn = std::min(rows, drawn_end_ - drawn_);
    drawn_ += drawn;
    progress_.emitted += drawn;
    for (std::int64_t i = drawn; i < rows && advance() >= 0; ++i) ++progress_.emitted;
    return {};
  }

  Status save(StateWriter& out) const override {
    Progress progress = progress_;
    progress.pushed = progress.emitted + std::min(buffer_, size_ - progress.emitted);
    source_->save(out);
    progress.save(out);
    return {};
  }
  Status restore(StateReader& in) override {
    SW_RETURN_IF_ERROR(source_->restore(in));
    SW_RETURN_IF_ERROR(progress_.restore(in));
    if (progress_.emitted > size_) return invalid_argument("checkpoint: shuffle: bad count");
    random_ = PhiloxStream(progress_.seeds.first, progress_.seeds.second);
    for (std::int64_t i = 0; i < progress_.emitted; ++i) advance();
    return {};
  }

 private:
  std::int64_t advance() {
    while (entered_ < size_ && !ring_.full()) ring_.push(static_cast<std::uint32_t>(entered_++));
    return ring_.size() == 0 ? -1 : static_cast<std::int64_t>(ring_.pop(random_));
  }
  void draw(const Demand& demand) {
    const StructurePtr& structure = stage().node().structure();
    const std::int64_t bytes = structure == nullptr ? -1 : structure->static_bytes();
    const auto by_bytes =
        static_cast<std::int64_t>(demand.bytes) / std::max<std::int64_t>(bytes < 0 ? 1024 : bytes, 1);
    const std::int64_t rows = std::clamp<std::int64_t>(by_bytes, 1, demand.rows);
    indices_.clear();
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t index = advance();
      if (index < 0) break;
      indices_.push_back(index);
    }
    drawn_ = 0;
    drawn_end_ = static_cast<std::int64_t>(indices_.size());
  }

  // Random access knows the operator and the ordinal; the pass adds stage, epoch and outer element.
  void collect_sources(const Node& node) {
    if (node.inputs().empty()) {
      const StagePtr found = stage().run().stage_of(node);
      const std::string op(node.op().name);
      names_.emplace(op, found != nullptr ? found->name() : stage().name() + "/" + op);
    }
    for (const NodePtr& input : node.inputs()) collect_sources(*input);
  }
  ScopePtr in_this_pass(const ScopePtr& scope) {
    ScopePtr& mine = scopes_[scope];
    if (mine == nullptr) {
      OriginScope copy = *scope;
      if (const auto name = names_.find(copy.source); name != names_.end()) {
        copy.source = name->second;
      }
      copy.epoch = epoch();
      copy.outer = epoch_outer_;
      mine = std::make_shared<OriginScope>(std::move(copy));
    }
    return mine;
  }

  const std::shared_ptr<SeedSource> source_;
  const IndexedPtr input_;
  const std::int64_t size_;
  const std::int64_t buffer_;
  const Reservation paid_;  // for the ring
  Ring<std::uint32_t> ring_;
  const Origin epoch_outer_;
  Progress progress_;
  PhiloxStream random_;
  std::int64_t entered_ = 0;
  std::vector<std::int64_t> indices_;  // drawn and not yet handed on: [drawn_, drawn_end_)
  std::int64_t drawn_ = 0;
  std::int64_t drawn_end_ = 0;
  std::unordered_map<std::string, std::string> names_;
  std::unordered_map<ScopePtr, ScopePtr> scopes_;
};

// ---- Over any input

struct Held {
  RowStore::Slot slot = -1;     // -1: not read again yet after a restore
  std::int64_t position = 0;    // in the input
};

class BufferShuffle final : public Iterator {
 public:
  BufferShuffle(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        source_(seed_source(context.node())),
        input_(std::move(input), Input::Habit::kHolds),
        may_shrink_(context.node().bool_param("shrink") ||
                    (context.node().int_param("seed") == 0 &&
                     context.node().int_param("seed2") == 0)),
        ring_(context.node().int_param("buffer_size") == kUnknownCount
                  ? Limits::max()
                  : context.node().int_param("buffer_size")),
        rows_(context.stage()) {
    progress_.seeds = source_->draw();
    random_ = PhiloxStream(progress_.seeds.first, progress_.seeds.second);
    if (ring_.capacity() < static_cast<std::uint64_t>(Limits::max())) {
      stats().effective = static_cast<std::int64_t>(ring_.capacity());
    }
  }

  Next pull(const Demand& demand) override {
    if (!missing_.empty()) SW_RETURN_IF_ERROR(read_again());
    if (popped_.empty()) {
      SW_RETURN_IF_ERROR(fill(demand));
      SW_RETURN_IF_ERROR(step(demand));
    }
    if (direct_) return std::exchange(direct_, std::nullopt);
    if (popped_.empty()) return end_of_data();
    return hand_on(demand);
  }

  Status save(StateWriter& out) const override {
    // Rows that left the buffer and were not handed on go back into it: so many fewer had to enter.
    Progress progress = progress_;
    const auto popped = static_cast<std::int64_t>(popped_.size());
    std::int64_t oldest = consumed_;
    ring_.for_each([&](const Held& held) { oldest = std::min(oldest, held.position); });
    for (const Held& held : popped_) oldest = std::min(oldest, held.position);
    if (shrunk_) {
      for (const Held& held : popped_) progress.ring.push_back(held.position);
      ring_.for_each([&](const Held& held) { progress.ring.push_back(held.position); });
    } else if (popped > 0) {
      const std::int64_t most =
          progress.emitted + std::min<std::int64_t>(progress.pushed - progress.emitted,
                                                    static_cast<std::int64_t>(ring_.capacity()));
      progress.pushed = most;
    }
    while (!progress.recent_errors.empty() && progress.recent_errors.front() < oldest) {
      ++progress.errors;
      progress.recent_errors.erase(progress.recent_errors.begin());
    }
    StateWriter below;
    SW_RETURN_IF_ERROR(input_.save(below, oldest));
    progress.input = std::move(below).take();
    source_->save(out);
    progress.save(out);
    return {};
  }

  Status restore(StateReader& in) override {
    SW_RETURN_IF_ERROR(source_->restore(in));
    SW_RETURN_IF_ERROR(progress_.restore(in));
    random_ = PhiloxStream(progress_.seeds.first, progress_.seeds.second);
    const std::string input = std::exchange(progress_.input, "");
    if (!progress_.ring.empty()) {
      return resume_shrunk(input);
    }
    replay(ring_, random_, progress_.emitted, progress_.pushed,
           [](std::int64_t ordinal) { return Held{-1, ordinal}; });
    const auto total = progress_.pushed + progress_.errors +
                       static_cast<std::int64_t>(progress_.recent_errors.size());
    return resume(input, total, false);
  }

 private:
  // From ordinals to positions: each error before a row moves it by one.
  std::int64_t position_of(std::int64_t ordinal) const {
    std::int64_t position = ordinal + progress_.errors;
    for (const std::int64_t error : progress_.recent_errors) {
      if (error > position) break;
      ++position;
    }
    return position;
  }
  Status resume_shrunk(const std::string& input) {
    shrunk_ = true;
    random_ = PhiloxStream::at(progress_.seeds.first, progress_.seeds.second,
                               static_cast<std::uint64_t>(progress_.emitted));
    for (const std::int64_t position : progress_.ring) ring_.push({-1, position});
    ring_.shrink_to_fit();
    progress_.ring.clear();
    stats().effective = static_cast<std::int64_t>(ring_.capacity());
    return resume(input, progress_.pushed + progress_.errors +
                             static_cast<std::int64_t>(progress_.recent_errors.size()),
                  true);
  }
  Status resume(const std::string& input, std::int64_t total, bool are_positions) {
    consumed_ = total;
    std::int64_t oldest = total;
    ring_.for_each([&](Held& held) {
      if (!are_positions) held.position = position_of(held.position);
      oldest = std::min(oldest, held.position);
      missing_.push_back(&held);
    });
    std::ranges::sort(missing_, std::greater(), [](const Held* held) { return held->position; });
    if (input.empty()) {  // saved where the input offered random access
      if (oldest > 0) return input_.skip(oldest);
      return {};
    }
    StateReader reader(input);
    return input_.restore(reader);
  }
};

constexpr ParamDef kParams[] = {
    {"buffer_size", ParamType::kInt, "", "elements to choose from; -2: all of them"},
    {"seed", ParamType::kInt, "0", "first half of the seed; both 0: a new one each time"},
    {"seed2", ParamType::kInt, "0", "second half of the seed"},
    {"reshuffle_each_iteration", ParamType::kBool, "True", "whether each pass has its own order"},
    {"shrink", ParamType::kBool, "False",
     "with a seed: rather use a smaller buffer than fail when memory and disk are full"},
};

}  // namespace
}  // namespace spillway
