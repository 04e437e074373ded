#include "spillway/pipeline/consumer.h"

#include <algorithm>

#include "spillway/base/clock.h"
#include "spillway/base/interruption.h"
#include "spillway/memory/activity.h"
#include "spillway/memory/slab_pool.h"
#include "spillway/pipeline/deep_call.h"
#include "spillway/pipeline/order_log.h"
#include "spillway/pipeline/sealed_state.h"
#include "spillway/pipeline/watched_run.h"

namespace spillway {
namespace {

constexpr std::int64_t kMostRows = 1 << 16;
constexpr std::size_t kChunkBytes = 256 * 1024;
// What a state is of: a pass under way, one that has ended, or one under way some of whose stages
// hand on what is ready first: then the orders in which they did stand before.
constexpr std::int64_t kUnderWay = 0;
constexpr std::int64_t kEnded = 1;
constexpr std::int64_t kWithOrders = 2;

}  // namespace

Consumer::Consumer(std::shared_ptr<Run> run)
    : run_(std::move(run)),
      timeline_(std::make_shared<Timeline>(run_->budget(), now_ns())),
      watched_(std::make_unique<WatchedRun>(*run_, timeline_)),
      begun_cpu_ns_(process_cpu_ns()) {}

Result<std::unique_ptr<Consumer>> Consumer::open(NodePtr root, RunOptions options, Budget& budget) {
  SW_RETURN_IF_ERROR(check_not_forked());
  SW_ASSIGN(std::shared_ptr<Run> run, Run::open(std::move(root), std::move(options), budget));
  std::unique_ptr<Consumer> consumer(new Consumer(run));
  SW_RETURN_IF_ERROR(consumer->open_input());
  consumer->structure_ = run->root()->structure();
  consumer->exact_ = run->options().read_ahead_ns == 0;
  return consumer;
}

Status Consumer::open_input() {
  Result<IteratorPtr> opened = cancelled();
  SW_RETURN_IF_ERROR(deep([&] { opened = run_->open_root(); }));
  SW_ASSIGN(IteratorPtr it, std::move(opened));
  input_ = std::make_unique<Input>(std::move(it), Input::Habit::kHolds);
  return {};
}

void Consumer::start_early() {
  if (closed_ || ended_ || ahead_ != nullptr) return;
  early_ = true;
  ahead_ = std::make_unique<Ahead>(*run_->stage_of(*run_->root()), std::move(input_),
                                   Ahead::Limits{.rows = 1, .rows_a_pull = 1});
  ahead_->start();
}

// As it was before start_early(): what was read ahead is forgotten, in the audit as well.
Status Consumer::start_over() {
  const RunOptions options = run_->options();
  Budget& budget = run_->budget();
  release();
  early_ = false;
  SW_ASSIGN(run_, Run::open(run_->root(), options, budget));
  watched_ = std::make_unique<WatchedRun>(*run_, timeline_);
  return open_input();
}

Consumer::~Consumer() { close(); }

void Consumer::close() {
  if (closed_) return;
  closed_ = true;
  stop_the_clock();
  if (!check_not_forked().ok()) {
    // The threads are not here: leave what they own alone.
    static_cast<void>(input_.release());  // NOLINT(bugprone-unused-return-value)
    static_cast<void>(ahead_.release());  // NOLINT(bugprone-unused-return-value)
    return;
  }
  if (!ended_) delivered_ += chunk_origins_.total_weight(handed_);
  chunk_rows_ = handed_ = 0;
  release();
}

// With a stack that has room for the pipeline.
Status Consumer::deep(const std::function<void()>& body) const {
  return with_stack_for(run_->root()->depth(), run_->budget(), body);
}

// What the pass holds: generators, files, threads, guarantees. Its numbers stay.
void Consumer::release() {
  told_ = nullptr;
  Board::process().forget_handed(run_.get());
  run_->request_stop();
  const auto let_go = [this] {
    ahead_.reset();
    input_.reset();
  };
  if (!deep(let_go).ok()) {
    // No thread to be had, and no stack to do without: it stays until the process ends.
    static_cast<void>(ahead_.release());  // NOLINT(bugprone-unused-return-value)
    static_cast<void>(input_.release());  // NOLINT(bugprone-unused-return-value)
  }
  watched_.reset();
  for (const StagePtr& stage : run_->stages()) stage->account()->drop_floor();
}

Next Consumer::pull() {
  const Consuming consuming(run_->budget());
  const Doing waiting(Phase::kConsumer, text_of(*run_->stages().back()), 0, position_, run_.get());
  const Demand demand{exact_ ? 1 : rows_, kChunkBytes, run_->options().read_ahead_ns};
  if (ahead_ != nullptr) return ahead_->next(demand);
  Next next = end_of_data();
  SW_RETURN_IF_ERROR(deep([&] { next = input_->next(demand); }));
  return next;
}

Next Consumer::next() {
  SW_RETURN_IF_ERROR(check_not_forked());
  if (closed_ || ended_) return end_of_data();
  position_ += chunk_rows_;
  delivered_ += chunk_origins_.total_weight(chunk_rows_);
  chunk_rows_ = handed_ = 0;
  chunk_origins_ = Origins();
  if (ahead_ == nullptr) input_->forget_before(position_);
  const std::int64_t start = now_ns();
  const std::int64_t away = left_at_ == 0 ? 0 : start - left_at_;
  away_ns_ += away;
  early_ = false;
  Next next = pull();
  left_at_ = now_ns();
  const std::int64_t took = left_at_ - start;
  if (!next.ok()) {
    if (is_interruption(next.error())) tell(next.error());
    if (!is_position(next.error())) return next;
    ++position_;
    if (ahead_ == nullptr) input_->forget_before(position_);
    return next;
  }
  if (!next.value()) {
    ended_ = true;
    stop_the_clock();
    release();
    return next;
  }
  const Chunk& chunk = *next.value();
  leave_guarantees(chunk);
  chunk_rows_ = chunk.rows();
  chunk_origins_ = chunk.origins();
  const Origin first = chunk_origins_.at(0);
  told_ = Board::process().note_handed(run_.get(), text_of(*run_->stages().back()), position_,
                                       first.scope == nullptr ? "" : first.scope->file);
  if (structure_ == nullptr) structure_ = chunk.structure();
  // Grow towards a millisecond's worth, also where a filter leaves fewer rows than were asked for;
  // shrink when one pull takes much longer.
  constexpr std::int64_t kLeft = 8;
  if (took < run_->options().read_ahead_ns / 2 && chunk_rows_ * kLeft >= rows_) {
    rows_ = std::min(rows_ * 2, kMostRows);
  } else if (took > run_->options().read_ahead_ns * 2) {
    rows_ = std::max<std::int64_t>(rows_ / 2, 1);
  }
  consider_working_ahead(took, away);
  return next;
}

// R6: what the user keeps leaves the guarantees, which are for the next element.
void Consumer::leave_guarantees(const Chunk& rows) {
  if (rows.footprint() < SlabPool::kLeast) return;
  for (const Column& column : rows.columns()) {
    if (column.is_block()) {
      if (column.block().dtype() != DType::kVariant) column.block().buffer()->leave_guarantee();
      continue;
    }
    for (const Tensor& row : column.each()) {
      if (row.dtype() != DType::kVariant && row.has_value()) row.buffer()->leave_guarantee();
    }
  }
}

// A thread of its own pays only when both sides take their time: below that the hand-over costs
// more than it hides.
void Consumer::consider_working_ahead(std::int64_t took_ns, std::int64_t away_ns) {
  constexpr std::int64_t kWorth = 200'000;
  if (exact_ || ahead_ != nullptr || UserCodeScope::current() != nullptr) return;
  worth_it_ = took_ns >= kWorth && away_ns >= kWorth ? worth_it_ + 1 : 0;
  if (worth_it_ < 2 || run_->root()->op().name == "prefetch") return;
  // The driver continues from the very iterator: positions go on counting.
  const Ahead::Limits limits = {.rows = std::max<std::int64_t>(rows_, 1), .rows_a_pull = rows_};
  ahead_ = std::make_unique<Ahead>(*run_->stage_of(*run_->root()), std::move(input_), limits);
}

Result<std::string> Consumer::save() const {
  StateWriter out;
  if (ended_) {
    out.put(kEnded);
    save_shared(*run_->root(), out);
  } else {
    if (closed_)
      return Status::error(ErrorKind::kUser, Code::kFailedPrecondition,
                           "save: the iterator is closed");
    SW_RETURN_IF_ERROR(save_input(out));
  }
  SW_RETURN_IF_ERROR(out.status());
  return seal_state(run_->root()->hash(), out.bytes());
}

Status Consumer::save_input(StateWriter& out) const {
  const std::int64_t at = position_ + handed_;
  const auto save_below = [&](StateWriter& to) -> Status {
    Status saved;
    SW_RETURN_IF_ERROR(
        deep([&] { saved = ahead_ != nullptr ? ahead_->save(to, at) : input_->save(to, at); }));
    return saved;
  };
  const OrderBook::Mark all = run_->orders().keep_all();
  StateWriter body;
  SW_RETURN_IF_ERROR(save_below(body));
  SW_RETURN_IF_ERROR(body.status());
  if (run_->orders().empty()) {
    out.put(kUnderWay);
    return save_below(out);
  }
  out.put(kWithOrders);
  run_->orders().save(out);
  out.put(body.bytes());
  return {};
}

Status Consumer::restore_input(StateReader& in) {
  half_restored_ = true;
  Status restored;
  SW_RETURN_IF_ERROR(deep([&] { restored = input_->restore(in); }));
  SW_RETURN_IF_ERROR(restored);
  half_restored_ = false;
  position_ = input_->position();
  return {};
}

Status Consumer::restore(std::string_view state) {
  SW_ASSIGN(const OpenedState opened, open_state(state));
  if (opened.pipeline != run_->root()->hash()) {
    return Status::error(ErrorKind::kUser, Code::kNotFound,
                         "restore: the state was saved by another pipeline. Make sure the dataset "
                         "definition has not changed since; this one is\n",
                         run_->root()->to_string());
  }
  StateReader in(opened.content);
  std::int64_t kind = 0;
  SW_RETURN_IF_ERROR(in.get_count(kind, kWithOrders));
  if (kind == kEnded) {
    ended_ = true;
    return restore_shared(*run_->root(), in);
  }
  if (early_) {
    half_restored_ = true;
    SW_RETURN_IF_ERROR(start_over());
    half_restored_ = false;
  }
  if (position_ != 0 || chunk_rows_ != 0 || ahead_ != nullptr) {
    return Status::error(ErrorKind::kUser, Code::kFailedPrecondition,
                         "restore: the iterator has begun; restore a fresh one");
  }
  const Consuming consuming(run_->budget());
  if (kind == kUnderWay) return restore_input(in);
  std::string bytes;
  half_restored_ = true;
  SW_RETURN_IF_ERROR(run_->orders().read(in));
  SW_RETURN_IF_ERROR(in.get(bytes));
  StateReader body(bytes);
  return restore_input(body);
}

void Consumer::stop_the_clock() {
  if (stopped_ns_ != 0) return;
  stopped_ns_ = now_ns();
  stopped_cpu_ns_ = process_cpu_ns();
}

Audit Consumer::audit() const {
  Audit audit =
      audit_of(*run_, delivered_ + chunk_origins_.total_weight(ended_ ? 0 : handed_), ended_);
  Budget& budget = run_->budget();
  audit.pass = {
      .elapsed_ns = (stopped_ns_ == 0 ? now_ns() : stopped_ns_) - timeline_->begun_ns(),
      .away_ns = away_ns_,
      .cpu_ns = (stopped_ns_ == 0 ? process_cpu_ns() : stopped_cpu_ns_) - begun_cpu_ns_,
      .peak_bytes = static_cast<std::int64_t>(run_->account()->peak()),
      .limit = static_cast<std::int64_t>(budget.limit()),
      .effective = static_cast<std::int64_t>(budget.effective_limit()),
      .ended = ended_,
  };
  return audit;
}

}  // namespace spillway
