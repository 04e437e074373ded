#include <algorithm>
#include <limits>

#include "spillway/pipeline/access.h"
#include "spillway/pipeline/input.h"
#include "spillway/pipeline/row_store.h"
#include "spillway/pipeline/run.h"
#include "spillway/pipeline/shuffle_order.h"
#include "spillway/pipeline/spilled_ring.h"

namespace spillway {
namespace {

Result<Inferred> infer(const Node& node) {
  const std::int64_t size = node.int_param("buffer_size");
  if (size < 1 && size != kUnknownCount) {
    return invalid_argument("buffer_size must be greater than zero or UNKNOWN_CARDINALITY");
  }
  return infer_same(node);
}

std::int64_t buffer_size(const Node& node) {
  const std::int64_t size = node.int_param("buffer_size");
  return size == kUnknownCount ? std::numeric_limits<std::int64_t>::max() : size;
}

std::shared_ptr<SeedSource> seed_source(const Node& node) {
  return node.shared<SeedSource>([&] {
    return std::make_shared<SeedSource>(Seeds{static_cast<std::uint64_t>(node.int_param("seed")),
                                              static_cast<std::uint64_t>(node.int_param("seed2"))},
                                        node.bool_param("reshuffle_each_iteration", true));
  });
}

// ---- Over inputs with random access

// The buffer algorithm over indices, the rows gathered straight into blocks: no row is ever held.
class IndexShuffle final : public Iterator {
 public:
  IndexShuffle(const OpenContext& context, IndexedPtr input, Reservation paid)
      : Iterator(context.stage(), context.epoch()),
        source_(seed_source(context.node())),
        input_(std::move(input)),
        size_(context.node().cardinality()),
        buffer_(std::min(buffer_size(context.node()), std::max<std::int64_t>(size_, 1))),
        paid_(std::move(paid)),
        ring_(buffer_) {
    progress_.seeds = source_->draw();
    random_ = PhiloxStream(progress_.seeds.first, progress_.seeds.second);
    stats().effective = context.node().int_param("buffer_size");
    ring_.reserve(static_cast<std::size_t>(buffer_));
  }

  Next pull(const Demand& demand) override {
    if (drawn_ == drawn_end_) draw(demand);
    const std::span<const std::int64_t> left(indices_.data() + drawn_,
                                             static_cast<std::size_t>(drawn_end_ - drawn_));
    if (left.empty()) return end_of_data();
    auto rows = input_->at(
        left.first(std::min<std::size_t>(left.size(), static_cast<std::size_t>(demand.rows))));
    // Too much at a time? One row is all that must fit.
    if (!rows.ok() && left.size() > 1) rows = input_->at(left[0]);
    SW_ASSIGN(Chunk chunk, std::move(rows));
    drawn_ += chunk.rows();
    progress_.emitted += chunk.rows();
    return std::optional<Chunk>(std::move(chunk));
  }

  Status skip(std::int64_t rows) override {
    const std::int64_t drawn = std::min(rows, drawn_end_ - drawn_);
    drawn_ += drawn;
    progress_.emitted += drawn;
    for (std::int64_t i = drawn; i < rows && advance() >= 0; ++i) ++progress_.emitted;
    return {};
  }

  Status save(StateWriter& out) const override {
    ShuffleProgress progress = progress_;
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
    if (progress_.shrunk) {
      for (const std::int64_t index : progress_.ring) {
        if (index < 0 || index >= size_ || ring_.full()) {
          return invalid_argument("checkpoint: shuffle: bad index");
        }
        ring_.push(static_cast<std::uint32_t>(index));
      }
      entered_ = progress_.pushed;
      random_ = PhiloxStream::at(progress_.seeds.first, progress_.seeds.second,
                                 static_cast<std::uint64_t>(progress_.emitted));
      progress_.ring.clear();
      progress_.shrunk = false;
      return {};
    }
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
    const auto by_bytes = static_cast<std::int64_t>(demand.bytes) /
                          std::max<std::int64_t>(bytes < 0 ? 1024 : bytes, 1);
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

  const std::shared_ptr<SeedSource> source_;
  const IndexedPtr input_;
  const std::int64_t size_;
  const std::int64_t buffer_;
  const Reservation paid_;  // for the ring
  Ring<std::uint32_t> ring_;
  ShuffleProgress progress_;
  PhiloxStream random_;
  std::int64_t entered_ = 0;
  std::vector<std::int64_t> indices_;  // drawn and not yet handed on: [drawn_, drawn_end_)
  std::int64_t drawn_ = 0;
  std::int64_t drawn_end_ = 0;
};

// ---- Over any input

struct Held {
  RowStore::Slot slot = -1;   // -1: to be read again after a restore
  std::int64_t position = 0;  // in the input
};

// Rows wait in a store that spills, so a seeded order holds at every memory limit. Pulls exactly
// what TensorFlow pulls: the buffer full, then one for one.
class BufferShuffle final : public Iterator {
 public:
  explicit BufferShuffle(const OpenContext& context)
      : Iterator(context.stage(), context.epoch()),
        source_(seed_source(context.node())),
        input_(context, 0, Input::Habit::kHolds),
        may_shrink_(
            context.node().bool_param("shrink") ||
            (context.node().int_param("seed") == 0 && context.node().int_param("seed2") == 0)),
        ring_(buffer_size(context.node()), account(), context.run().budget(),
              LazySpill::Counter(context.stage(), &stats().spilled_bytes)),
        rows_(context.stage()) {
    progress_.seeds = source_->draw();
    random_ = PhiloxStream(progress_.seeds.first, progress_.seeds.second);
    stats().effective = context.node().int_param("buffer_size");
  }

  Next pull(const Demand& demand) override {
    if (restoring_) SW_RETURN_IF_ERROR(read_again());
    for (;;) {
      drop_lost();
      if (!popped_.empty()) return hand_on(demand);
      if (ring_.full() || (ended_ && ring_.size() > 0)) {
        SW_RETURN_IF_ERROR(pop(ended_ ? rows_within(demand) : 1));
        continue;
      }
      if (ended_) return end_of_data();
      SW_RETURN_IF_ERROR(step(demand));
      if (direct_) return std::exchange(direct_, std::nullopt);
    }
  }

  Status save(StateWriter& out) const override;
  Status restore(StateReader& in) override;

 private:
  std::int64_t rows_within(const Demand& demand) const {
    const std::size_t each =
        std::max<std::size_t>(1, seen_bytes_ / std::max<std::size_t>(1, seen_));
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(demand.bytes / each), 1, demand.rows);
  }
  Status pop(std::int64_t rows) {
    for (; rows > 0 && ring_.size() > 0; --rows) {
      SW_ASSIGN(const Held held, ring_.pop(random_));
      popped_.push_back(held);
    }
    return {};
  }
  // Rows that could not be read again after a restore; their errors were told then.
  void drop_lost() {
    while (!popped_.empty() && popped_.front().slot < 0) {
      popped_.erase(popped_.begin());
      ++progress_.emitted;
    }
  }
  Status step(const Demand& demand);
  Status no_room(Chunk rest, Status why);
  Next hand_on(const Demand& demand);
  // Rows of a restored buffer that have to be read again.
  struct Missing {
    struct Row {
      std::int64_t position;  // in the input
      std::int64_t place;     // in the ring
    };
    std::vector<Row> rows;
    std::int64_t end = std::numeric_limits<std::int64_t>::max();
    Reservation paid;
  };
  static constexpr std::size_t kLeastMissing = 64 * 1024;
  Status replay();
  Result<Missing> missing();
  Status read_again();
  Status read_again(const Missing& missing);
  Status keep_again(const Chunk& chunk, std::int64_t i, const Missing::Row& row);
  Result<std::int64_t> oldest() const;
  Status forget();

  const std::shared_ptr<SeedSource> source_;
  Input input_;
  const bool may_shrink_;
  ShuffleProgress progress_;
  PhiloxStream random_;
  mutable SpilledRing<Held> ring_;  // sixteen bytes a row
  std::vector<Held> popped_;        // chosen, not yet handed on
  std::optional<Chunk> direct_;     // passed the buffer by: there was no room even for it
  RowStore rows_;
  StructurePtr structure_;
  std::size_t seen_ = 0;  // rows, and their bytes
  std::size_t seen_bytes_ = 0;
  std::int64_t consumed_ = 0;  // positions of the input that are done with or held
  std::int64_t forgotten_at_ = 0;
  bool ended_ = false;
  bool shrunk_ = false;
  bool restoring_ = false;
};

// Pulls as many rows as the missing places and the demand want; each that finds the buffer full
// sends one out.
Status BufferShuffle::step(const Demand& demand) {
  const auto missing = static_cast<std::uint64_t>(ring_.most() - ring_.size() - 1);
  Demand wanted = demand;
  if (missing > 0) {
    constexpr std::uint64_t kMost = 1 << 20;
    const std::size_t share = stage().run().budget().effective_limit() / 64;
    wanted = {static_cast<std::int64_t>(std::min(missing, kMost)) + demand.rows,
              std::max(demand.bytes, std::min(RowPages::kPage, share)), demand.time_ns};
  }
  const std::int64_t before = input_.position();
  Next next = input_.next(wanted);
  consumed_ = input_.position();
  if (!next.ok()) {
    if (consumed_ > before) progress_.recent_errors.push_back(before);
    return std::move(next).status();
  }
  if (!next.value()) {
    ended_ = true;
    return {};
  }
  const Chunk& chunk = *next.value();
  structure_ = chunk.structure();
  seen_ += static_cast<std::size_t>(chunk.rows());
  seen_bytes_ += chunk.footprint();
  for (std::int64_t i = 0; i < chunk.rows(); ++i) {
    auto slot = rows_.put(chunk, i);
    if (!slot.ok()) return no_room(chunk.slice(i, chunk.rows()), std::move(slot).status());
    if (Status pushed = ring_.push({slot.value(), before + i}); !pushed.ok()) {
      rows_.erase(slot.value());
      return no_room(chunk.slice(i, chunk.rows()), std::move(pushed));
    }
    ++progress_.pushed;
    if (!ring_.full()) continue;
    if (Status popped = pop(1); !popped.ok()) {
      if (i + 1 < chunk.rows()) input_.unread(chunk.slice(i + 1, chunk.rows()));
      consumed_ = input_.position();
      return popped;
    }
  }
  return forget();
}

// Neither memory nor disk takes another row. What left the buffer goes out first; then a smaller
// buffer where that is allowed, else the error: the row itself stays for another try.
Status BufferShuffle::no_room(Chunk rest, Status why) {
  if (popped_.empty() && !may_shrink_) {
    input_.unread(std::move(rest));
    consumed_ = input_.position();
    return why;
  }
  if (popped_.empty() && ring_.size() == 0) {
    direct_ = rest.slice(0, 1);
    use(direct_->amount());
    random_.next();
    ++progress_.emitted;
    ++progress_.pushed;
    if (rest.rows() > 1) input_.unread(rest.slice(1, rest.rows()));
  } else {
    if (popped_.empty()) {
      ring_.hold_no_more();
      stats().effective = ring_.most();
    }
    input_.unread(std::move(rest));
  }
  shrunk_ |= popped_.empty();
  consumed_ = input_.position();
  return {};
}

Next BufferShuffle::hand_on(const Demand& demand) {
  std::vector<RowStore::Slot> slots;
  for (const Held& held : popped_) {
    if (held.slot < 0 || slots.size() == static_cast<std::size_t>(demand.rows)) break;
    slots.push_back(held.slot);
  }
  std::size_t rows = slots.size();
  auto chunk = rows_.take_rows(structure_, slots,
                               rows > 1 ? Buffer::Ask::kOptional : Buffer::Ask::kRequired);
  // Too much at a time? One row is all that must fit.
  if (!chunk.ok() && rows > 1) {
    rows = 1;
    chunk = rows_.take_rows(structure_, std::span(slots).first(1));
  }
  if (chunk.ok() || chunk.error().kind() != ErrorKind::kResource) {
    popped_.erase(popped_.begin(), popped_.begin() + static_cast<std::ptrdiff_t>(rows));
    progress_.emitted += static_cast<std::int64_t>(rows);
  }
  if (!chunk.ok()) {
    const auto lost = static_cast<std::int64_t>(rows);
    return losing(std::move(chunk).status(), {lost, lost});
  }
  use(chunk.value().amount());
  return std::optional<Chunk>(std::move(chunk).value());
}

Result<std::int64_t> BufferShuffle::oldest() const {
  std::int64_t position = consumed_;
  SW_RETURN_IF_ERROR(ring_.each([&](std::int64_t, const Held& held) {
    position = std::min(position, held.position);
    return true;
  }));
  for (const Held& held : popped_) position = std::min(position, held.position);
  return position;
}

// Looking for the oldest row costs the buffer's size: once in so many rows.
Status BufferShuffle::forget() {
  const auto every = std::max<std::int64_t>(1024, ring_.size());
  if (progress_.emitted - forgotten_at_ < every) return {};
  forgotten_at_ = progress_.emitted;
  SW_ASSIGN(const std::int64_t needed, oldest());
  input_.forget_before(needed);
  progress_.forget_errors_before(needed);
  return {};
}

Status BufferShuffle::save(StateWriter& out) const {
  ShuffleProgress progress = progress_;
  SW_ASSIGN(const std::int64_t needed, oldest());
  if (shrunk_) {
    for (const Held& held : popped_) progress.ring.push_back(held.position);
    SW_RETURN_IF_ERROR(ring_.each([&](std::int64_t, const Held& held) {
      progress.ring.push_back(held.position);
      return true;
    }));
  } else {
    // Chosen rows that were not handed on go back: as many fewer have entered.
    progress.pushed =
        progress.emitted + std::min<std::int64_t>(progress.pushed - progress.emitted, ring_.most());
  }
  progress.shrunk = shrunk_;
  progress.forget_errors_before(needed);
  StateWriter below;
  SW_RETURN_IF_ERROR(input_.save(below, std::min(needed, input_.position())));
  progress.input = std::move(below).take();
  source_->save(out);
  progress.save(out);
  return {};
}

Status BufferShuffle::restore(StateReader& in) {
  SW_RETURN_IF_ERROR(source_->restore(in));
  SW_RETURN_IF_ERROR(progress_.restore(in));
  random_ = PhiloxStream(progress_.seeds.first, progress_.seeds.second);
  const std::int64_t held = progress_.shrunk ? static_cast<std::int64_t>(progress_.ring.size())
                                             : progress_.pushed - progress_.emitted;
  if (held > buffer_size(stage().node())) return invalid_argument("checkpoint: shuffle: bad count");
  if (progress_.shrunk) {
    shrunk_ = true;
    random_ = PhiloxStream::at(progress_.seeds.first, progress_.seeds.second,
                               static_cast<std::uint64_t>(progress_.emitted));
    for (const std::int64_t position : progress_.ring) {
      SW_RETURN_IF_ERROR(ring_.push({-1, position}));
    }
    progress_.ring.clear();
  } else {
    SW_RETURN_IF_ERROR(replay());
  }
  consumed_ = progress_.pushed + progress_.errors +
              static_cast<std::int64_t>(progress_.recent_errors.size());
  restoring_ = true;
  forgotten_at_ = progress_.emitted;
  // Without a state of the input (saved where it offered random access) it starts at its beginning.
  const std::string below = std::exchange(progress_.input, "");
  if (below.empty()) return {};
  StateReader reader(below);
  SW_RETURN_IF_ERROR(input_.restore(reader));
  bool before = false;
  SW_RETURN_IF_ERROR(ring_.each([&](std::int64_t, const Held& held) {
    before = held.position < input_.position();
    return !before;
  }));
  if (!before) return {};
  return invalid_argument("checkpoint: shuffle: holds an element before its input's position");
}

// The buffer as it was after `emitted` rows, by their numbers, then their positions.
Status BufferShuffle::replay() {
  std::int64_t next = 0;
  for (std::int64_t step = 0; step <= progress_.emitted; ++step) {
    for (; next < progress_.pushed && !ring_.full(); ++next) {
      SW_RETURN_IF_ERROR(ring_.push({-1, next}));
    }
    if (step < progress_.emitted) SW_RETURN_IF_ERROR(ring_.pop(random_).status());
  }
  for (std::int64_t i = 0; i < ring_.size(); ++i) {
    SW_ASSIGN(Held held, ring_.at(i));
    held.position = progress_.position_of(held.position);
    SW_RETURN_IF_ERROR(ring_.put(i, held));
  }
  return {};
}

// The oldest rows of the buffer that were not read again yet, ascending: all of them, or as many as
// there is room to know of. What is not among them is not before `end`.
Result<BufferShuffle::Missing> BufferShuffle::missing() {
  Missing out;
  std::size_t most = static_cast<std::size_t>(ring_.size());
  auto paid = account()->try_reserve(most * sizeof(Missing::Row));
  if (!paid) {
    most = std::min(most, kLeastMissing);
    paid = account()->owe(most * sizeof(Missing::Row));
  }
  out.paid = std::move(*paid);
  out.rows.reserve(most);
  const auto older = [](const Missing::Row& a, const Missing::Row& b) {
    return a.position < b.position;
  };
  // A heap of the oldest: the youngest of them is on top, and makes room for an older one.
  SW_RETURN_IF_ERROR(ring_.each([&](std::int64_t i, const Held& held) {
    if (held.slot >= 0 || held.position < input_.position()) return true;
    if (out.rows.size() == most) {
      out.end = std::min(out.end, std::max(held.position, out.rows.front().position));
      if (held.position >= out.rows.front().position) return true;
      std::ranges::pop_heap(out.rows, older);
      out.rows.pop_back();
    }
    out.rows.push_back({held.position, i});
    std::ranges::push_heap(out.rows, older);
    return true;
  }));
  std::ranges::sort_heap(out.rows, older);
  return out;
}

// Reads the rows of the restored buffer again, passing over the others. Errors met before were
// told before.
Status BufferShuffle::read_again() {
  while (input_.position() < consumed_) {
    const std::int64_t from = input_.position();
    SW_ASSIGN(const Missing some, missing());
    SW_RETURN_IF_ERROR(read_again(some));
    if (input_.position() == from) break;  // the end
  }
  restoring_ = false;
  return {};
}

Status BufferShuffle::read_again(const Missing& missing) {
  auto row = missing.rows.begin();
  const std::int64_t end = std::min(missing.end, consumed_);
  while (input_.position() < end) {
    const std::int64_t at = input_.position();
    while (row != missing.rows.end() && row->position < at) ++row;
    Next next = input_.next(
        {end - at, std::min(RowPages::kPage, stage().run().budget().effective_limit() / 64),
         1'000'000});
    if (!next.ok()) {
      if (input_.position() == at) return std::move(next).status();
      const bool known = std::ranges::binary_search(progress_.recent_errors, at);
      if (!known && row != missing.rows.end() && row->position == at) {
        return std::move(next).status();
      }
      continue;
    }
    if (!next.value()) break;
    const Chunk& chunk = *next.value();
    structure_ = chunk.structure();
    seen_ += static_cast<std::size_t>(chunk.rows());
    seen_bytes_ += chunk.footprint();
    Amount passed = chunk.amount();
    for (; row != missing.rows.end() && row->position < at + chunk.rows(); ++row) {
      const std::int64_t i = row->position - at;
      Status kept = keep_again(chunk, i, *row);
      if (!kept.ok()) {
        passed = passed - chunk.slice(i, chunk.rows()).amount();
        use(passed);
        input_.unread(chunk.slice(i, chunk.rows()));
        return kept;
      }
      passed = passed - Amount{1, chunk.origins().weight(i)};
    }
    use(passed);
  }
  return {};
}

Status BufferShuffle::keep_again(const Chunk& chunk, std::int64_t i, const Missing::Row& row) {
  SW_ASSIGN(const RowStore::Slot slot, rows_.put(chunk, i));
  Status written = ring_.put(row.place, {slot, row.position});
  if (!written.ok()) rows_.erase(slot);
  return written;
}

// Passes that differ inside one pass (repeat) need each row's own epoch: random access has none.
bool is_one_pass(const Node& node) {
  return node.op().name != "repeat" &&
         std::ranges::all_of(node.inputs(), [](const NodePtr& n) { return is_one_pass(*n); });
}

Result<IteratorPtr> open(const OpenContext& context) {
  const Node& input = *context.node().inputs()[0];
  const std::int64_t rows = input.cardinality();
  if (is_pure(input) && is_one_pass(input) && rows >= 0 && rows <= UINT32_MAX) {
    if (auto indexed = context.index_input(0); indexed.ok()) {
      const std::int64_t places = std::min(buffer_size(context.node()), rows);
      auto paid = context.stage()->account()->try_reserve(static_cast<std::size_t>(places) *
                                                          sizeof(std::uint32_t));
      // No room even for the indices: the other form spills.
      if (paid) {
        return IteratorPtr(
            std::make_unique<IndexShuffle>(context, std::move(indexed).value(), std::move(*paid)));
      }
    }
  }
  return IteratorPtr(std::make_unique<BufferShuffle>(context));
}

// ---- Random access

// All elements in one order, whatever the buffer and the pass: that of a full buffer with the
// node's own seeds, as TensorFlow has it.
class ShuffleIndexed final : public Indexed {
 public:
  static Result<IndexedPtr> open(const OpenContext& context) {
    const Node& node = context.node();
    SW_RETURN_IF_ERROR(must_be_counted(node, node));
    SW_ASSIGN(IndexedPtr input, context.index_input(0));
    const auto rows = static_cast<std::size_t>(node.cardinality());
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(rows, sizeof(std::int64_t), &bytes)) bytes = SIZE_MAX;
    SW_ASSIGN(Reservation paid, context.stage()->account()->reserve(bytes));
    return IndexedPtr(new ShuffleIndexed(context, std::move(input), std::move(paid)));
  }

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    std::vector<std::int64_t> inner(indices.begin(), indices.end());
    for (std::int64_t& index : inner) index = order_[static_cast<std::size_t>(index)];
    return input_->at(inner);
  }

 private:
  ShuffleIndexed(const OpenContext& context, IndexedPtr input, Reservation paid)
      : Indexed(context),
        input_(std::move(input)),
        paid_(std::move(paid)),
        order_(permutation(seed_source(node())->own(), node().cardinality())) {}

  const IndexedPtr input_;
  const Reservation paid_;  // for the order
  const std::vector<std::int64_t> order_;
};

constexpr ParamDef kParams[] = {
    {"buffer_size", ParamType::kInt, "", "elements to choose from; -2: all of them"},
    {"seed", ParamType::kInt, "0", "first half of the seed; both 0: a new one each time", false,
     true},
    {"seed2", ParamType::kInt, "0", "second half of the seed", false, true},
    {"reshuffle_each_iteration", ParamType::kBool, "True", "whether each pass has its own order"},
    {"shrink", ParamType::kBool, "False",
     "with a seed: rather use a smaller buffer than fail when memory and disk are full"},
};

}  // namespace

extern constexpr OperatorDef shuffle_operator{
    .name = "shuffle",
    .summary = "Hands on elements in random order, each chosen among the next `buffer_size`.",
    .example =
        ">>> list(sw.Dataset.range(5).shuffle(5, seed=42).as_numpy_iterator())\n"
        "[np.int64(0), np.int64(4), np.int64(1), np.int64(3), np.int64(2)]",
    .params = kParams,
    .effects = Effects::kSharedState,
    .fallible = true,
    .ratio = Ratio::kCounted,
    .infer = infer,
    .open = open,
    .index = ShuffleIndexed::open,
    .shared = [](const Node& node) -> std::shared_ptr<SharedState> { return seed_source(node); }};

}  // namespace spillway
