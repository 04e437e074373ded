#include <algorithm>
#include <chrono>
#include <deque>

#include "spillway/base/bytes.h"
#include "spillway/base/clock.h"
#include "spillway/base/interrupt.h"
#include "spillway/base/mutant.h"
#include "spillway/base/test_point.h"
#include "spillway/base/workers.h"
#include "spillway/memory/activity.h"
#include "spillway/memory/slab_pool.h"
#include "spillway/pipeline/access.h"
#include "spillway/pipeline/awaited_function.h"
#include "spillway/pipeline/batch_blocks.h"
#include "spillway/pipeline/call.h"
#include "spillway/pipeline/guarded_function.h"
#include "spillway/pipeline/input.h"
#include "spillway/pipeline/order_log.h"
#include "spillway/pipeline/row_gatherer.h"
#include "spillway/pipeline/run.h"

namespace spillway {
namespace {

constexpr std::int64_t kAutotune = -1;
constexpr std::int64_t kSequential = 0;
// num_parallel_calls=None means kSequential; AUTOTUNE is kAutotune.
constexpr std::int64_t kMostTuned = 64;
constexpr std::int64_t kMostTogether = 8;  // native rows of a call
constexpr std::size_t kLeastRow = 1;       // bytes a result is taken for
constexpr std::size_t kMostRows = std::size_t{1} << 40U;
constexpr std::size_t kMostPulled = 4 * kMiB;  // bytes of what they work on
constexpr std::int64_t kAloneNs = 100'000'000;
constexpr auto kCancelFor = std::chrono::milliseconds(150);
// A worker process may answer with what it has so far.
constexpr Demand kInParts{kMostTogether, SIZE_MAX, 3'600'000'000'000};

Result<Inferred> infer(const Node& node) {
  const std::int64_t calls = node.int_param("num_parallel_calls", kAutotune);
  if (calls < kAutotune || calls == 0) {
    return invalid_argument("num_parallel_calls must be greater than zero.");
  }
  return Inferred{node.function_param("map_func")->output(), node.inputs()[0]->cardinality()};
}

// Stands before the state of a map that hands on what is ready first.
constexpr std::int64_t kOrder = -1;

bool any_order(const OpenContext& context) {
  const Value& chosen = context.node().param("deterministic");
  const bool by_stage = !is_none(chosen);
  return by_stage ? !context.node().bool_param("deterministic")
                  : !context.run().options().deterministic;
}

std::unique_ptr<OrderLog> order_log(const OpenContext& context) {
  std::string name = context.stage()->name() + ", epoch " + std::to_string(context.epoch());
  if (context.outer().scope != nullptr) name += " of " + context.outer().describe();
  return std::make_unique<OrderLog>(context.run().orders().shared_from_this(), std::move(name));
}

// Whether a state has kOrder; then reads it.
Result<bool> begins_with_order(StateReader& in) {
  StateReader ahead = in;
  std::int64_t first = 0;
  SW_RETURN_IF_ERROR(ahead.get(first));
  if (first != kOrder) return false;
  in = ahead;
  return true;
}

// Waits for room for a result. False: there is none, but nothing left either that would need it.
Result<bool> admit_next(Stage& stage, Input& input) {
  Status admitted = stage.admit();
  if (admitted.ok()) return true;
  if (admitted.kind() != ErrorKind::kResource) return admitted;
  Next next = input.next(Demand::one());
  if (next.ok() && !next.value()) return false;
  input.unread(std::move(next));
  return admitted;
}

// One call after the other, a chunk at a time.
class MapIterator final : public Iterator {
 public:
  MapIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input)),
        function_(context.node().function_param("map_func")) {
    if (FunctionPtr both = input_.below().merge_into(*function_)) function_ = std::move(both);
  }

  FunctionPtr merge_into(Function& outer) override {
    FunctionPtr both = outer.after(function_);
    if (both != nullptr) function_ = nullptr;
    return both;
  }
  void make_into(RowGatherer* batch) override { batch_ = batch; }

  Next pull(const Demand& demand) override {
    if (!error_.ok()) return std::exchange(error_, Status());
    SW_ASSIGN(const bool more, admit_next(stage(), input_));
    if (!more) return end_of_data();
    Next next = input_.next(demand);
    if (!next.ok() || !next.value() || function_ == nullptr) return next;
    const Chunk& rows = *next.value();
    const std::int64_t first = input_.position() - rows.rows();
    Function::Outcome outcome =
        call_rows(stage(), *function_, rows, first, epoch(), &demand, batch_);
    const std::int64_t made = outcome.out.rows();
    const bool failed =
        !outcome.error.ok() && (is_position(outcome.error) || mutant("lost_when_refused"));
    const std::int64_t done = made + (failed ? 1 : 0);
    if (done < rows.rows()) input_.unread(rows.slice(done, rows.rows()));
    if (made == 0 && !outcome.error.ok()) return std::move(outcome.error);
    if (failed) error_ = std::move(outcome.error);
    return std::optional<Chunk>(std::move(outcome.out));
  }

  Status save(StateWriter& out) const override {
    return input_.save(out, input_.position() - (error_.ok() ? 0 : 1));
  }
  Status restore(StateReader& in) override {
    SW_ASSIGN(const bool reordered, begins_with_order(in));
    if (reordered) {
      return Status::error(ErrorKind::kUser, Code::kFailedPrecondition,
                           "restore: the state was saved where map handed on what was ready first; "
                           "restore it with num_parallel_calls of 2 or more");
    }
    return input_.restore(in);
  }

 private:
  Input input_;
  FunctionPtr function_;  // null: the stage behind this one applies it
  RowGatherer* batch_ = nullptr;
  Status error_;
};

// Up to `window` calls at once; results leave in input order, or, where that was asked for, as they
// are ready. The consumer's thread pulls inputs
// and waits; pool threads only call (R12), and calls that can be awaited need none. Beyond the
// oldest, a call starts only while the pool has room for its results (R1, R3): the estimate is the
// largest seen, and the first runs alone. Where a batch follows, rows are made side by side in a
// block that becomes the batch. Rows for worker processes travel several to a call, and a second
// call for each worker stands ready.
class ParallelMapIterator final : public Iterator {
 public:
  ParallelMapIterator(const OpenContext& context, IteratorPtr input, std::int64_t calls)
      : Iterator(context.stage(), context.epoch()),
        context_(context),
        shared_(std::make_shared<Shared>(context)),
        input_(std::move(input), Input::Habit::kHolds),
        blocks_(context.stage()->account(), context.node().inputs()[0]->cardinality()),
        guarded_(shared_->guarded),
        any_order_(any_order(context)),
        log_(any_order_ ? order_log(context) : nullptr),
        tuned_(calls == kAutotune && guarded_ == nullptr),
        rows_a_call_(rows_of(*shared_->function, calls)),
        window_(first_window(calls)) {}

  // Calls on an event loop are told to end; waits a little, so that their `finally` blocks have
  // run.
  ~ParallelMapIterator() override {
    if (shared_->awaited == nullptr) return;
    for (const auto& task : tasks_) {
      if (!take_finished(*task)) shared_->awaited->cancel(task->begun);
    }
    const Parked parked(shared_->run->budget());
    const auto give_up = std::chrono::steady_clock::now() + kCancelFor;
    const MutexLock lock(shared_->mutex);
    while (std::chrono::steady_clock::now() < give_up &&
           !std::ranges::all_of(tasks_, [](const auto& task) { return ended(*task); })) {
      shared_->finished.wait_for(shared_->mutex, std::chrono::milliseconds(5));
    }
  }

  void make_into(RowGatherer* batch) override {
    if (batch != nullptr && shared_->function->row_by_row() && !any_order_) {
      blocks_.begin_batch(oldest(), batch->most());
    }
  }

  Next pull(const Demand& demand) override {
    SW_RETURN_IF_ERROR(fill());
    if (tasks_.empty()) {
      if (!input_error_.ok()) {
        note_order(input_.position() - 1, 1);
        input_.forget_before(input_.position());
        return std::exchange(input_error_, Status());
      }
      return end_of_data();
    }
    SW_ASSIGN(std::size_t next, wait_for_next());
    std::vector<Chunk> ready;
    std::int64_t rows = 0;
    std::size_t bytes = 0;
    // Everything that is finished goes out together, up to the demand.
    while (next != kNone && rows < demand.rows && (rows == 0 || bytes < demand.bytes)) {
      Function::Outcome& outcome = tasks_[next]->ready.front();
      if (outcome.out.rows() == 0) {
        if (rows > 0) break;
        Status error = std::move(outcome.error);
        if (is_position(error)) {
          pop(next, 1);
        } else {
          again_ = tasks_[next];
        }
        return error;
      }
      const std::int64_t some = std::min({outcome.out.rows(), demand.rows - rows, rows_due(next)});
      ready.push_back(outcome.out.slice(0, some));
      outcome.out =
          some == outcome.out.rows() ? Chunk() : outcome.out.slice(some, outcome.out.rows());
      rows += some;
      bytes += ready.back().footprint();
      pop(next, some);
      next = choose();
    }
    largest_ =
        std::max(largest_, bytes / static_cast<std::size_t>(std::max<std::int64_t>(1, rows)));
    blocks_.note(ready.back());
    const StructurePtr structure = ready[0].structure();
    return std::optional<Chunk>(join_rows(structure, ready));
  }

  Status save(StateWriter& out) const override {
    if (log_ != nullptr) save_order(out);
    return input_.save(out, oldest());
  }
  Status restore(StateReader& in) override {
    SW_ASSIGN(const bool reordered, begins_with_order(in));
    std::deque<std::int64_t> lengths;
    if (reordered) SW_RETURN_IF_ERROR(restore_order(in, lengths));
    SW_RETURN_IF_ERROR(input_.restore(in));
    // In turn rows that were handed on and rows that are still to be made.
    left_.clear();
    done_before_ = input_.position();
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      if (i % 2 == 1) left_.push_back({done_before_, lengths[i]});
      done_before_ += lengths[i];
    }
    return {};
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  static constexpr std::size_t kMostReplayed = 1 << 16;

  // What a call needs, also when the iterator is gone before it returns.
  struct Shared {
    explicit Shared(const OpenContext& context)
        : run(context.run().shared_from_this()),
          stage(context.stage()),
          epoch(context.epoch()),
          function(context.node().function_param("map_func")),
          awaited(dynamic_cast<AwaitedFunction*>(function.get())),
          guarded(dynamic_cast<const GuardedFunction*>(function.get())) {}
    const std::shared_ptr<Run> run;
    const StagePtr stage;
    const std::int64_t epoch;
    const FunctionPtr function;
    AwaitedFunction* const awaited;        // `function`, where its calls need no threads; or null
    const GuardedFunction* const guarded;  // `function`, where it runs in worker processes; or null
    Mutex mutex;
    CondVar finished;
  };
  struct Task {
    Chunk rows;
    std::int64_t index = 0;      // of the first
    std::int64_t next = 0;       // of the first that was not handed on; the consumer's
    bool passed_over = false;    // refused memory while an earlier one was not finished
    std::vector<Tensor> places;  // [rows, ...] for each component, or none
    Reservation room;            // for the result, until it is charged; none for the eldest (R3)
    // What has been finished, under Shared's lock: one more for each row that failed, and for each
    // part that a worker process answered with. Before the last one the rest of the task is its
    // thread's.
    std::deque<Function::Outcome> outcomes;
    std::deque<Function::Outcome> ready;  // those that the consumer took, and takes rows off
    std::int64_t left = 0;                // rows not handed on yet; the consumer's
    AwaitedFunction::Begun begun;         // the consumer's
    std::int64_t begun_ns = 0;
    std::int64_t wall_ns = 0;
    std::int64_t cpu_ns = 0;
  };

  // Native rows come several to a call, where there are calls enough for all CPUs all the same.
  static std::int64_t rows_of(const Function& function, std::int64_t calls) {
    if (!function.row_by_row()) return 1;
    const std::int64_t share = calls / (std::int64_t{2} * Workers::usable_cpus());
    return calls == kAutotune ? kMostTogether : std::clamp<std::int64_t>(share, 1, kMostTogether);
  }

  std::int64_t first_window(std::int64_t calls) const {
    if (guarded_ != nullptr) return std::int64_t{2} * guarded_->most_calls();
    return tuned_ ? 2 : std::max<std::int64_t>(1, calls / rows_a_call_);
  }

  static void call(Shared& shared, Task& task) {
    const Working working(shared.run->budget());
    const RoomForResult room(task.room);
    const std::int64_t cpu = thread_cpu_ns();
    task.begun_ns = now_ns();
    const std::int64_t rows = task.rows.rows();
    const bool placed = !task.places.empty();
    RowGatherer places(std::move(task.places));
    const Demand* const parts = shared.guarded == nullptr ? nullptr : &kInParts;
    for (std::int64_t at = 0; at < rows;) {
      Function::Outcome outcome;
      if (shared.run->stop()) {
        outcome.error = cancelled();
      } else {
        outcome = call_rows(*shared.stage, *shared.function, task.rows.slice(at, rows),
                            task.index + at, shared.epoch, parts, placed ? &places : nullptr);
      }
      task.cpu_ns += outcome.cpu_ns;
      at += outcome.out.rows();
      // The rows from there on are called for another time.
      const bool refused = !outcome.error.ok() && !is_position(outcome.error);
      if (refused) {
        task.rows = task.rows.slice(at, rows);
        task.index += at;
        at = rows;
      } else if (!outcome.error.ok()) {
        ++at;
      }
      if (at >= rows) {
        task.cpu_ns += thread_cpu_ns() - cpu;
        end(task, refused);
      }
      hand_over(shared, task, std::move(outcome));
    }
  }

  // The same without a thread: the call is begun here and goes on when the function's loop tells.
  static void begin(const std::shared_ptr<Shared>& shared, const std::shared_ptr<Task>& task) {
    task->begun_ns = now_ns();
    CallContext context{shared->stage->account(), task->index, shared->epoch};
    context.stop = &shared->run->stop();
    task->begun =
        shared->awaited->begin(task->rows, context, [shared, task](Function::Outcome outcome) {
          if (outcome.error.ok() || shared->stage->policy().retries == 0) {
            settle(*shared, *task, std::move(outcome));
            return;
          }
          // The loop must not wait for the pauses between attempts.
          Workers::blocking().run([shared, task, outcome = std::move(outcome)] {
            const Working working(shared->run->budget());
            settle(*shared, *task, outcome);
          });
        });
  }

  static void settle(Shared& shared, Task& task, Function::Outcome outcome) {
    task.cpu_ns += outcome.cpu_ns;
    if (!outcome.error.ok()) {
      outcome = settle_row(*shared.stage, *shared.function, task.rows, 0, task.index, shared.epoch,
                           std::move(outcome.error));
      task.cpu_ns += outcome.cpu_ns;
    }
    if (outcome.error.ok()) outcome.out = outcome.out.with_origins(task.rows.origins());
    end(task, !outcome.error.ok() && !is_position(outcome.error));
    hand_over(shared, task, std::move(outcome));
  }

  // Of an awaited call, which has one outcome. Under Shared's lock.
  static bool ended(const Task& task) { return !task.ready.empty() || !task.outcomes.empty(); }

  // Before the last outcome is handed over: from then on the task is the consumer's.
  static void end(Task& task, bool refused) {
    task.room.release();
    if (!refused) task.rows = Chunk();
    task.wall_ns = now_ns() - task.begun_ns;
  }
  static void hand_over(Shared& shared, Task& task, Function::Outcome outcome) {
    const MutexLock lock(shared.mutex);
    task.outcomes.push_back(std::move(outcome));
    shared.finished.notify_all();
  }

  // Whether rows of the task, or an error, can be handed on.
  bool take_finished(Task& task) const {
    if (!task.ready.empty()) return true;
    const MutexLock lock(shared_->mutex);
    task.ready.swap(task.outcomes);
    return !task.ready.empty();
  }

  bool may_start() const {
    if (tasks_.empty()) return true;
    if (static_cast<std::int64_t>(tasks_.size()) >= window_) return false;
    if (size_unknown()) return now_ns() - first_started_ns_ > kAloneNs;
    return affordable() > held_;
  }

  // Rows that there is room for now, with their results.
  std::int64_t affordable() const {
    const std::size_t each =
        largest_input_ +
        std::max({largest_, static_cast<std::size_t>(std::max<std::int64_t>(0, known_bytes())),
                  kLeastRow});
    const std::size_t rows = within_reach_ahead(shared_->run->budget()) / each;
    return static_cast<std::int64_t>(std::min(rows, kMostRows));
  }

  // R1: a call ahead of the eldest has the room for its result before it begins. Small results are
  // not worth the asking.
  std::optional<Reservation> room_for(std::int64_t rows) const {
    const std::size_t bytes = largest_ * static_cast<std::size_t>(rows);
    if (tasks_.empty() || largest_ < SlabPool::kLeast) return Reservation();
    return shared_->stage->account()->try_ahead(bytes);
  }

  // Results nobody has seen yet: the first call runs alone, but not for long. It may wait for
  // another one, and a function that waits was given several calls for that.
  bool size_unknown() const { return largest_ == 0 && known_bytes() < 0; }

  std::int64_t known_bytes() const {
    const StructurePtr out = shared_->function->output();
    return out == nullptr ? -1 : out->static_bytes();
  }

  Workers& workers() const {
    return shared_->function->holds_interpreter() ? Workers::blocking() : Workers::compute();
  }
  void start(const std::shared_ptr<Task>& task) const {
    if (shared_->awaited != nullptr) {
      begin(shared_, task);
    } else {
      workers().run([shared = shared_, task] { call(*shared, *task); });
    }
  }

  Status fill() {
    if (const auto task = std::exchange(again_, nullptr)) start_again(task);
    if (tasks_.empty() && input_error_.ok() && !ended_) {
      SW_ASSIGN(const bool more, admit_next(*shared_->stage, input_));
      ended_ = !more;
    }
    while (input_error_.ok() && !ended_) {
      // An element whose turn it is in the order of the first time is no look-ahead.
      const bool due = is_due_unread();
      if (!due && !may_start()) break;
      const Demand demand = wish();
      auto room = due ? std::optional<Reservation>(std::in_place) : room_for(demand.rows);
      if (!room) break;
      Next next = next_input(demand);
      if (!next.ok()) {
        if (!is_position(next.error())) {
          // No room to look ahead is no reason to fail: what is under way comes first.
          const bool ahead = !due && !tasks_.empty() && next.error().kind() == ErrorKind::kResource;
          return ahead ? Status() : std::move(next).status();
        }
        input_error_ = std::move(next).status();
        break;
      }
      if (!next.value()) {
        ended_ = true;
        break;
      }
      auto task = std::make_shared<Task>();
      task->room = std::move(*room);
      task->rows = std::move(*next.value());
      task->left = task->rows.rows();
      largest_input_ =
          std::max(largest_input_, task->rows.footprint() / static_cast<std::size_t>(task->left));
      task->index = input_.position() - task->left;
      task->next = task->index;
      task->places = blocks_.places(task->index, task->left);
      if (first_started_ns_ == 0) first_started_ns_ = now_ns();
      tasks_.push_back(task);
      held_ += task->left;
      // Those that stand ready for a worker wait for their turn.
      const auto calls = static_cast<std::int64_t>(tasks_.size());
      const std::int64_t most = guarded_ == nullptr ? calls : guarded_->most_calls();
      stats().parallelism = std::max(stats().parallelism.load(), std::min(calls, most));
      start(task);
    }
    return {};
  }

  // The rows of the next call. A first one of unknown size comes alone.
  Demand wish() const {
    const std::int64_t most = guarded_ == nullptr ? rows_a_call_ : guarded_->rows_together();
    if (most == 1 || size_unknown()) return Demand::one();
    const std::int64_t rows = std::clamp<std::int64_t>(affordable() - held_, 1, most);
    return {blocks_.rows_until_end(input_.position(), rows), kMostPulled, Demand().time_ns};
  }

  // Rows that no pass before this one has handed on.
  Next next_input(Demand demand) {
    for (;; demand.rows = std::min(demand.rows, wish().rows)) {
      const std::int64_t before = input_.position();
      Next next = input_.next(demand);
      if (before >= done_before_) return next;
      if (!next.ok()) {
        if (is_position(next.error()) && !is_left(before)) continue;
        return next;
      }
      if (!next.value()) return next;
      const Chunk rows = std::move(*next.value());
      const std::int64_t some = std::min(rows.rows(), same_until(before) - before);
      if (some < rows.rows()) input_.unread(rows.slice(some, rows.rows()));
      if (is_left(before)) return std::optional<Chunk>(rows.slice(0, some));
      use(rows.amount(some));
    }
  }
  // Of positions before done_before_.
  bool is_left(std::int64_t position) const {
    return std::ranges::any_of(left_, [position](const OrderBook::Run& run) {
      return run.first <= position && position < run.first + run.rows;
    });
  }
  // The first position from there on of which is_left() says otherwise.
  std::int64_t same_until(std::int64_t position) const {
    for (const OrderBook::Run& run : left_) {
      if (position < run.first) return run.first;
      if (position < run.first + run.rows) return run.first + run.rows;
    }
    return done_before_;
  }

  // The call whose rows go out next, in tasks_; kNone: it is not finished.
  std::size_t choose() {
    if (const auto due = due_now()) {
      const std::size_t at = task_at(due->first);
      return at != kNone && take_finished(*tasks_[at]) ? at : kNone;
    }
    const bool in_order = !any_order_ || log_->full();
    const std::size_t most = in_order ? std::min<std::size_t>(1, tasks_.size()) : tasks_.size();
    std::size_t refused = kNone;
    for (std::size_t i = 0; i < most; ++i) {
      const auto& task = tasks_[i];
      if (!take_finished(*task)) continue;
      const Function::Outcome& outcome = task->ready.front();
      const bool is_result = outcome.out.rows() > 0 || is_position(outcome.error);
      if (is_result) return i;
      // Refused memory: its turn comes when it is the oldest, and others may free some before.
      if (i > 0) {
        task->passed_over = true;
      } else if (std::exchange(task->passed_over, false)) {
        start_again(task);
      } else {
        refused = i;
      }
    }
    return refused;
  }
  std::optional<OrderBook::Run> due_now() const {
    return log_ == nullptr ? std::nullopt : log_->due();
  }
  std::size_t task_at(std::int64_t position) const {
    const auto found = std::ranges::find(tasks_, position, [](const auto& t) { return t->next; });
    return found == tasks_.end() ? kNone : static_cast<std::size_t>(found - tasks_.begin());
  }
  bool is_due_unread() const {
    const auto due = due_now();
    return due && due->first >= input_.position() && tasks_.size() < kMostReplayed;
  }
  std::int64_t rows_due(std::size_t at) const {
    const auto due = due_now();
    return due && due->first == tasks_[at]->next ? due->rows : INT64_MAX;
  }
  void start_again(const std::shared_ptr<Task>& task) const {
    task->ready.clear();
    start(task);
  }

  Result<std::size_t> wait_for_next() {
    for (;;) {
      const std::size_t at = choose();
      if (at != kNone) return at;
      if (shared_->run->stop() || interrupted()) return cancelled();
      if (size_unknown()) SW_RETURN_IF_ERROR(fill());
      if (const auto due = due_now(); due && task_at(due->first) == kNone) {
        log_->give_up();
        return invalid_argument("checkpoint: map: element ", due->first, " is not there any more");
      }
      SW_TEST_POINT("map.wait");
      const Parked parked(shared_->run->budget());
      const MutexLock lock(shared_->mutex);
      if (!has_news()) {
        shared_->finished.wait_for(shared_->mutex, std::chrono::milliseconds(20));
      }
    }
  }
  // Whether choose() would find more than it did. Under Shared's lock.
  bool has_news() const {
    const auto is_news = [](const auto& task) {
      return task->ready.empty() && !task->outcomes.empty();
    };
    if (const auto due = due_now()) {
      const std::size_t at = task_at(due->first);
      return at != kNone && is_news(tasks_[at]);
    }
    return any_order_ && !log_->full() ? std::ranges::any_of(tasks_, is_news)
                                       : is_news(tasks_.front());
  }

  // The position of the first row that was not handed on.
  std::int64_t oldest() const {
    if (!tasks_.empty()) return tasks_.front()->next;
    return input_.position() - (input_error_.ok() ? 0 : 1);
  }

  void note_order(std::int64_t first, std::int64_t rows) const {
    if (log_ != nullptr) log_->add(first, rows);
  }
  // From the oldest row on, in turn: how many were handed on, how many are still to be made.
  void save_order(StateWriter& out) const {
    out.put(kOrder);
    log_->save(out);
    std::vector<OrderBook::Run> left;
    left.reserve(tasks_.size() + left_.size() + 1);
    for (const auto& task : tasks_) left.push_back({task->next, task->left});
    const std::int64_t read = input_.position();
    if (!input_error_.ok()) left.push_back({read - 1, 1});
    for (const OrderBook::Run& run : left_) {
      const std::int64_t first = std::max(run.first, read);
      if (first < run.first + run.rows) left.push_back({first, run.first + run.rows - first});
    }
    std::vector<std::int64_t> lengths;
    std::int64_t at = oldest();
    for (const OrderBook::Run& run : left) {
      lengths.push_back(run.first - at);
      lengths.push_back(run.rows);
      at = run.first + run.rows;
    }
    lengths.push_back(std::max(read, done_before_) - at);
    out.put(static_cast<std::int64_t>(lengths.size()));
    for (const std::int64_t length : lengths) out.put(length);
  }
  Status restore_order(StateReader& in, std::deque<std::int64_t>& lengths) {
    if (log_ == nullptr) log_ = order_log(context_);
    SW_RETURN_IF_ERROR(log_->restore(in));
    std::int64_t count = 0;
    SW_RETURN_IF_ERROR(in.get_count(count));
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t& length = lengths.emplace_back();
      SW_RETURN_IF_ERROR(in.get_count(length, INT64_MAX / 4 / std::max<std::int64_t>(count, 1)));
    }
    return {};
  }

  // The first rows that call `at` has left were handed on.
  void pop(std::size_t at, std::int64_t rows) {
    Task& task = *tasks_[at];
    note_order(task.next, rows);
    task.next += rows;
    held_ -= rows;
    task.left -= rows;
    const Function::Outcome& outcome = task.ready.front();
    if (outcome.out.rows() == 0 && outcome.error.ok()) task.ready.pop_front();
    if (task.left == 0) {
      tune(task);
      tasks_.erase(tasks_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    input_.forget_before(oldest());
  }

  // A function that waits gets more calls at once, one that computes no more than there are CPUs.
  void tune(const Task& task) {
    if (!tuned_) return;
    constexpr double kWeight = 0.2;
    wall_ += kWeight * (static_cast<double>(task.wall_ns) - wall_);
    cpu_ += kWeight * (static_cast<double>(task.cpu_ns) - cpu_);
    const double waits = wall_ / std::max(cpu_, 1000.0);
    const double cpus = Workers::usable_cpus();
    // Native rows leave the CPU to nobody: a second one each is ready when the first is done.
    const double least = shared_->function->holds_interpreter() ? cpus : 2 * cpus;
    window_ = std::clamp(static_cast<std::int64_t>(cpus * waits), static_cast<std::int64_t>(least),
                         kMostTuned);
  }

  const OpenContext context_;
  const std::shared_ptr<Shared> shared_;
  Input input_;
  BatchBlocks blocks_;
  const GuardedFunction* const guarded_;
  const bool any_order_;
  std::unique_ptr<OrderLog> log_;    // null: in order, and what was restored was, too
  std::deque<OrderBook::Run> left_;  // restored: rows that are still to be made, and then
  std::int64_t done_before_ = 0;     // from where on all are; others before were handed on
  const bool tuned_;
  const std::int64_t rows_a_call_;  // at most
  std::int64_t window_;             // calls
  std::deque<std::shared_ptr<Task>> tasks_;
  std::int64_t held_ = 0;  // rows of them
  Status input_error_;
  std::shared_ptr<Task> again_;  // was refused memory: it is called once more
  bool ended_ = false;
  std::size_t largest_ = 0;        // bytes of a result
  std::size_t largest_input_ = 0;  // of what a call works on
  std::int64_t first_started_ns_ = 0;
  double wall_ = 0;
  double cpu_ = 0;
};

class MapIndexed final : public Indexed {
 public:
  MapIndexed(const OpenContext& context, IndexedPtr input)
      : Indexed(context), input_(std::move(input)), function_(node().function_param("map_func")) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    SW_RETURN_IF_ERROR(stage().admit());
    SW_ASSIGN(const Chunk rows, input_->at(indices));
    std::vector<Chunk> parts;
    // A call is told the index of its first row: it gets rows that follow each other.
    for (std::size_t begin = 0, end = 1; begin < indices.size(); begin = end++) {
      while (end < indices.size() && indices[end] == indices[end - 1] + 1) ++end;
      const Chunk some =
          rows.slice(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end));
      Function::Outcome outcome = call_rows(stage(), *function_, some, indices[begin], epoch());
      if (!outcome.error.ok()) return std::move(outcome.error);
      parts.push_back(std::move(outcome.out));
    }
    const StructurePtr structure = parts[0].structure();
    return join_rows(structure, parts);
  }

 private:
  const IndexedPtr input_;
  const FunctionPtr function_;
};

constexpr ParamDef kParams[] = {
    {"map_func", ParamType::kFunction, "", "called once an element, in order"},
    {"num_parallel_calls", ParamType::kInt, "None",
     "calls at a time; AUTOTUNE: as many as help and fit", true},
    {"deterministic", ParamType::kBool, "None",
     "False, with parallel calls: results as they are ready; None: what the options say", true},
};

}  // namespace

extern constexpr OperatorDef map_operator{
    .name = "map",
    .summary = "Applies `map_func` to every element.",
    .example =
        ">>> list(sw.Dataset.range(3).map(lambda x: x * 2).as_numpy_iterator())\n"
        "[np.int64(0), np.int64(2), np.int64(4)]",
    .params = kParams,
    .effects = Effects::kUserCode,
    .fallible = true,
    .functions_only = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0, context.epoch(), context.bound()));
      const std::int64_t calls = context.node().int_param("num_parallel_calls", kSequential);
      // A traced function runs on whole chunks and spreads over the CPUs by itself.
      const FunctionPtr function = context.node().function_param("map_func");
      const bool spreads =
          function->pure() && !function->holds_interpreter() && !function->row_by_row();
      if (calls == kSequential || calls == 1 || spreads) {
        return IteratorPtr(std::make_unique<MapIterator>(context, std::move(input)));
      }
      return IteratorPtr(std::make_unique<ParallelMapIterator>(context, std::move(input), calls));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      SW_ASSIGN(IndexedPtr input, context.index_input(0));
      return IndexedPtr(std::make_unique<MapIndexed>(context, std::move(input)));
    }};

}  // namespace spillway
