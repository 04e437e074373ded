#include <algorithm>
#include <deque>

#include "spillway/base/bytes.h"
#include "spillway/base/workers.h"
#include "spillway/pipeline/ahead.h"
#include "spillway/pipeline/call.h"

namespace spillway {
namespace {

constexpr std::int64_t kAutotune = -1;
// Of all inner rows pulled beyond what was asked for.
constexpr std::size_t kMostSurplus = kMiB;
constexpr std::size_t kSurplusPull = 64 * kKiB;

Result<Inferred> infer(const Node& node) {
  const std::int64_t cycle = node.int_param("cycle_length");
  const std::int64_t block = node.int_param("block_length", 1);
  const bool parallel = !is_none(node.param("num_parallel_calls"));
  if (cycle <= 0) return invalid_argument("cycle_length must be greater than zero: ", cycle);
  if (block <= 0) return invalid_argument("block_length must be greater than zero: ", block);
  if (parallel) {
    const std::int64_t calls = node.int_param("num_parallel_calls");
    if (calls <= 0 && calls != kAutotune) {
      return invalid_argument("num_parallel_calls must be greater than zero: ", calls);
    }
    if (calls > cycle) {
      return invalid_argument(
          "If `cycle_length` is set to a fixed value, `num_parallel_calls` must be either "
          "`tf.data.AUTOTUNE` or a value less than or equal to `cycle_length`. However, "
          "`num_parallel_calls` is ",
          calls, " and `cycle_length` is ", cycle);
    }
  }
  const bool endless = parallel && node.inputs()[0]->cardinality() == kInfinite;
  const std::int64_t cardinality = endless ? kInfinite : kUnknownCount;
  const StructurePtr out = node.function_param("map_func")->output();
  if (out == nullptr) return Inferred{nullptr, cardinality};
  if (out->kind() != Structure::Kind::kDataset || out->shape().rank() != 0) {
    Status status = invalid_argument("The `map_func` argument must return a `Dataset` object. Got ",
                                     out->to_string(), ".");
    status.edit().type = "TypeError";
    return status;
  }
  return Inferred{out->children()[0], cardinality};
}

// Something below may wait: a file, user code. Pure passes gain nothing from a thread each.
bool may_wait(const Node& node) {
  return effects_of(node) != Effects::kNone ||
         std::ranges::any_of(node.inputs(), [](const NodePtr& input) { return may_wait(*input); });
}

// The outer element that a dataset was made from.
struct Place {
  std::int64_t position;
  Amount amount;
};

// One inner dataset being walked. Its rows come from an Input on the consumer's thread, or from a
// driver's look-ahead.
class Pass {
 public:
  Pass(const Place& outer, IteratorPtr rows, bool overpull)
      : outer_(outer), overpull_(overpull), input_(std::in_place, std::move(rows)) {}
  Pass(const Place& outer, Stage& stage, IteratorPtr rows, Ahead::Limits limits)
      : outer_(outer),
        overpull_(false),
        ahead_(std::in_place, stage, std::make_unique<Input>(std::move(rows), Input::Habit::kHolds),
               limits) {}

  std::int64_t outer() const { return outer_.position; }
  const Amount& element() const { return outer_.amount; }
  bool ready() const { return ahead_ ? ahead_->ready() : input_->unread_rows() > 0; }
  std::size_t surplus() const { return surplus_; }
  void start() {
    if (ahead_) ahead_->start();
  }

  // At most `rows`; with `beyond`, pulls up to that and keeps the rest.
  Next next(std::int64_t rows, const Demand& beyond) {
    if (ahead_) return ahead_->next(beyond.with_rows(rows));
    const bool more = overpull_ && beyond.rows > rows;
    Next next = input_->next(more ? beyond : beyond.with_rows(rows));
    if (!next.ok() || !next.value()) return next;
    const Chunk& chunk = *next.value();
    if (chunk.rows() > rows) {
      Chunk rest = chunk.slice(rows, chunk.rows());
      surplus_ = rest.footprint();
      input_->unread(std::move(rest));
      return std::optional<Chunk>(chunk.slice(0, rows));
    }
    if (input_->unread_rows() == 0) surplus_ = 0;
    return next;
  }

  Status save(StateWriter& out) const { return ahead_ ? ahead_->save(out) : input_->save(out); }
  Status restore(StateReader& in) { return ahead_ ? ahead_->restore(in) : input_->restore(in); }

 private:
  const Place outer_;
  const bool overpull_;
  std::optional<Input> input_;
  std::optional<Ahead> ahead_;
  std::size_t surplus_ = 0;
};
using PassPtr = std::unique_ptr<Pass>;

// A cycle of slots, each with a pass or empty. The cursor takes up to `block_length` rows from a
// slot and goes to the next; a pass that ends leaves its slot empty, and the slot gets the next
// outer element when the cursor comes by again. An error does not move the cursor.
class InterleaveIterator final : public Iterator {
 public:
  InterleaveIterator(const OpenContext& context, IteratorPtr outer)
      : Iterator(context.stage(), context.epoch()),
        context_(context),
        outer_(std::move(outer), Input::Habit::kHolds),
        function_(context.node().function_param("map_func")),
        overpull_(may_overpull(*context.node().inputs()[0])),
        cycle_(context.node().int_param("cycle_length")),
        block_(context.node().int_param("block_length", 1)),
        parallel_(parallelism(context.node())) {}

  Next pull(const Demand& demand) override {
    std::vector<Chunk> parts;
    std::int64_t rows = 0;
    while (rows < demand.rows && (!ended_ || open_ > 0)) {
      if (at_ >= slots_.size() && !ended_) slots_.resize(at_ + 1);
      PassPtr* slot = at_ < slots_.size() ? &slots_[at_] : nullptr;
      if (slot == nullptr || (*slot == nullptr && ended_)) {
        advance();
        continue;
      }
      // What is finished is not held back for what must be waited for.
      if (!parts.empty() && (*slot == nullptr || !(*slot)->ready())) break;
      if (*slot == nullptr) {
        SW_RETURN_IF_ERROR(fill(*slot));
        continue;
      }
      Next next = take(**slot, demand.with_rows(demand.rows - rows));
      if (!next.ok()) return next;
      if (!next.value()) {
        close(*slot);
        advance();
        continue;
      }
      rows += next.value()->rows();
      in_block_ += next.value()->rows();
      if (in_block_ >= block_ && cycle_ > 1) advance();
      parts.push_back(std::move(*next.value()));
    }
    if (parts.empty()) return end_of_data();
    const StructurePtr& known = stage().node().structure();
    const StructurePtr structure = known != nullptr ? known : parts[0].structure();
    return std::optional<Chunk>(join_rows(structure, parts).with_structure(structure));
  }

  Status save(StateWriter& out) const override {
    std::int64_t oldest = consumed_;
    for (const PassPtr& slot : slots_) {
      if (slot != nullptr) oldest = std::min(oldest, slot->outer());
    }
    out.put(ended_ ? 1 : 0);
    out.put(static_cast<std::int64_t>(at_));
    out.put(in_block_);
    out.put(consumed_ - oldest);
    out.put(static_cast<std::int64_t>(slots_.size()));
    for (const PassPtr& slot : slots_) out.put(slot == nullptr ? 0 : slot->outer() - oldest + 1);
    SW_RETURN_IF_ERROR(outer_.save(out, oldest));
    for (const PassPtr& slot : slots_) {
      if (slot != nullptr) SW_RETURN_IF_ERROR(slot->save(out));
    }
    return {};
  }

  Status restore(StateReader& in) override {
    std::int64_t ended = 0;
    std::int64_t at = 0;
    std::int64_t replay = 0;
    std::int64_t slots = 0;
    SW_RETURN_IF_ERROR(in.get(ended));
    SW_RETURN_IF_ERROR(in.get_count(at, cycle_ - 1));
    SW_RETURN_IF_ERROR(in.get_count(in_block_));
    SW_RETURN_IF_ERROR(in.get_count(replay));
    SW_RETURN_IF_ERROR(in.get_count(slots, cycle_));
    std::vector<std::int64_t> owner(static_cast<std::size_t>(slots));
    for (std::int64_t& each : owner) SW_RETURN_IF_ERROR(in.get(each));
    SW_RETURN_IF_ERROR(outer_.restore(in));
    slots_.resize(owner.size());
    SW_RETURN_IF_ERROR(reopen(owner, replay));
    for (const PassPtr& slot : slots_) {
      if (slot == nullptr) continue;
      SW_RETURN_IF_ERROR(slot->restore(in));
      slot->start();
    }
    ended_ = ended != 0;
    at_ = static_cast<std::size_t>(at);
    return {};
  }

 private:
  static std::int64_t parallelism(const Node& node) {
    if (is_none(node.param("num_parallel_calls"))) return 0;
    const std::int64_t calls = node.int_param("num_parallel_calls");
    if (calls != kAutotune) return calls;
    return std::min<std::int64_t>(node.int_param("cycle_length"),
                                  std::int64_t{4} * Workers::usable_cpus());
  }

  // The cursor goes to the next slot; slots never filled do not exist.
  void advance() {
    in_block_ = 0;
    const std::size_t last = ended_ ? slots_.size() : static_cast<std::size_t>(cycle_);
    if (++at_ >= last) at_ = 0;
  }

  Next take(Pass& pass, const Demand& demand) {
    const std::int64_t most = cycle_ == 1 ? demand.rows : std::min(demand.rows, block_ - in_block_);
    surplus_ -= pass.surplus();
    const bool roomy = surplus_ + kSurplusPull <= kMostSurplus;
    Demand beyond = demand;
    if (roomy) {
      beyond.bytes = std::min(beyond.bytes, kSurplusPull);
    } else {
      beyond.rows = most;
    }
    Next next = pass.next(most, beyond);
    surplus_ += pass.surplus();
    return next;
  }

  void close(PassPtr& slot) {
    surplus_ -= slot->surplus();
    slot = nullptr;
    --open_;
    if (slots_.size() > 64 && open_ > 0) return;  // the oldest is looked for seldom in long cycles
    forget();
  }

  void forget() {
    std::int64_t oldest = consumed_;
    for (const PassPtr& slot : slots_) {
      if (slot != nullptr) oldest = std::min(oldest, slot->outer());
    }
    outer_.forget_before(oldest);
  }

  // Puts the next outer element's pass into the empty slot, or says that there is none.
  Status fill(PassPtr& slot) {
    look_ahead();
    if (ahead_.empty()) ahead_.push_back(next_pass());
    Entry entry = std::move(ahead_.front());
    ahead_.pop_front();
    consumed_ = entry.position;
    if (!entry.error.ok()) return std::move(entry.error);
    if (entry.pass == nullptr) {
      ended_ = true;
      if (at_ + 1 == slots_.size()) slots_.pop_back();
      if (at_ >= slots_.size()) at_ = 0;
      return {};
    }
    slot = std::move(entry.pass);
    ++open_;
    use(slot->element());
    return {};
  }

  // Passes for the next outer elements, begun before the cursor wants them: as many as may run.
  // Only where asking for outer elements early is not observable and does not wait for long.
  void look_ahead() {
    if (!overpull_) return;
    while (static_cast<std::int64_t>(ahead_.size()) < std::min(parallel_, cycle_ - open_)) {
      if (!ahead_.empty() && ahead_.back().pass == nullptr) return;
      ahead_.push_back(next_pass());
    }
  }

  struct Entry {
    PassPtr pass;  // null with an error, or at the end
    Status error;
    std::int64_t position;  // behind it
  };

  Entry next_pass() {
    Next next = outer_.next(Demand::one());
    if (!next.ok()) return {nullptr, std::move(next).status(), outer_.position()};
    if (!next.value()) return {nullptr, {}, outer_.position()};
    auto pass = open_pass(*next.value());
    if (!pass.ok()) {
      Status error = outer_.pass(std::move(pass).status(), *next.value());
      return {nullptr, std::move(error), outer_.position()};
    }
    pass.value()->start();
    return {std::move(pass).value(), {}, outer_.position()};
  }

  Result<PassPtr> open_pass(const Chunk& row) {
    const std::int64_t position = outer_.position() - 1;
    auto outcome = call_rows(stage(), *function_, row, position, epoch());
    if (!outcome.error.ok()) return std::move(outcome.error);
    auto made = dataset_result(outcome.out.columns()[0].row(0), "map_func");
    if (!made.ok()) return of_row(std::move(made).status(), row, 0);
    const NodePtr dataset = std::move(made).value();
    auto opened = context_.open_nested(dataset, row.origins().at(0));
    if (!opened.ok()) return of_row(std::move(opened).status(), row, 0);
    IteratorPtr rows = std::move(opened).value();
    const Place place{position, row.amount()};
    const bool pure = may_overpull(*dataset);
    if (parallel_ > 1 && open_ + static_cast<std::int64_t>(ahead_.size()) < parallel_ &&
        may_wait(*dataset)) {
      const Ahead::Limits limits{.rows = pure ? std::max<std::int64_t>(block_, 16) : block_,
                                 .rows_a_pull = pure ? 16 : 1,
                                 .bytes = 4 * kMiB};
      return std::make_unique<Pass>(place, stage(), std::move(rows), limits);
    }
    return std::make_unique<Pass>(place, std::move(rows), pure);
  }

  // Comes back over `replay` outer elements, opening those that slots still walk.
  Status reopen(const std::vector<std::int64_t>& owner, std::int64_t replay) {
    for (std::int64_t i = 0; i < replay; ++i) {
      const auto slot = std::ranges::find(owner, i + 1);
      Next next = outer_.next(Demand::one());
      if (next.ok() && next.value()) use(next.value()->amount());
      if (slot == owner.end()) continue;
      if (!next.ok()) return std::move(next).status();
      if (!next.value()) return invalid_argument("checkpoint: interleave: an element is gone");
      SW_ASSIGN(slots_[static_cast<std::size_t>(slot - owner.begin())], open_pass(*next.value()));
      ++open_;
    }
    consumed_ = outer_.position();
    return {};
  }

  const OpenContext context_;
  Input outer_;
  const FunctionPtr function_;
  const bool overpull_;
  const std::int64_t cycle_;
  const std::int64_t block_;
  const std::int64_t parallel_;  // passes with a driver of their own, at most
  std::vector<PassPtr> slots_;
  std::deque<Entry> ahead_;
  std::size_t at_ = 0;
  std::int64_t in_block_ = 0;
  std::int64_t open_ = 0;
  std::int64_t consumed_ = 0;  // outer positions the cursor has met
  std::size_t surplus_ = 0;
  bool ended_ = false;
};

constexpr ParamDef kParams[] = {
    {"map_func", ParamType::kFunction, "", "element -> dataset"},
    {"cycle_length", ParamType::kInt, "None",
     "datasets walked at a time; None: chosen by the CPUs"},
    {"block_length", ParamType::kInt, "None", "elements taken in a row from one dataset; None: 1"},
    {"num_parallel_calls", ParamType::kInt, "None",
     "datasets read ahead at a time; the order stays the same", true},
    {"deterministic", ParamType::kBool, "None", "accepted; results are always in order", true},
};

}  // namespace

extern constexpr OperatorDef interleave_operator{
    .name = "interleave",
    .summary = "Makes a dataset of each element and walks several of them in turn.",
    .example =
        ">>> ds = sw.Dataset.range(1, 4)\n"
        ">>> ds = ds.interleave(lambda x: sw.Dataset.from_tensors(x).repeat(2), "
        "cycle_length=2)\n"
        ">>> [int(x) for x in ds.as_numpy_iterator()]\n"
        "[1, 2, 1, 2, 3, 3]",
    .params = kParams,
    .effects = Effects::kUserCode,
    .fallible = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr outer, context.open_input(0));
      return IteratorPtr(std::make_unique<InterleaveIterator>(context, std::move(outer)));
    }};

}  // namespace spillway
