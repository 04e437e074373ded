#include <algorithm>
#include <chrono>
#include <deque>

#include "spillway/base/bytes.h"
#include "spillway/base/clock.h"
#include "spillway/base/interrupt.h"
#include "spillway/base/mutant.h"
#include "spillway/base/workers.h"
#include "spillway/memory/activity.h"
#include "spillway/memory/slab_pool.h"
#include "spillway/pipeline/access.h"
#include "spillway/pipeline/awaited_function.h"
#include "spillway/pipeline/batch_blocks.h"
#include "spillway/pipeline/call.h"
#include "spillway/pipeline/guarded_function.h"
#include "spillway/pipeline/input.h"
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
  Status restore(StateReader& in) override { return input_.restore(in); }

 private:
  Input input_;
  FunctionPtr function_;  // null: the stage behind this one applies it
  RowGatherer* batch_ = nullptr;
  Status error_;
};

// Up to `window` calls at once; results leave in input order. The consumer's thread pulls inputs
// and waits; pool threads only call (R12), and calls that can be awaited need none. Beyond the
// oldest, a call starts only while the pool has room for its results (R1, R3): the estimate is the
// largest seen, and the first runs alone. Where a batch follows, rows are made side by side in a
// block that becomes the batch. Rows for worker processes travel several to a call, and a second
// call for each worker stands ready.
class ParallelMapIterator final : public Iterator {
 public:
  ParallelMapIterator(const OpenContext& context, IteratorPtr input, std::int64_t calls)
      : Iterator(context.stage(), context.epoch()),
        shared_(std::make_shared<Shared>(context)),
        input_(std::move(input), Input::Habit::kHolds),
        blocks_(context.stage()->account(), context.node().inputs()[0]->cardinality()),
        guarded_(shared_->guarded),
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
    if (batch != nullptr && shared_->function->row_by_row()) {
      blocks_.begin_batch(oldest(), batch->most());
    }
  }

  Next pull(const Demand& demand) override {
    SW_RETURN_IF_ERROR(fill());
    if (tasks_.empty()) {
      if (!input_error_.ok()) {
        input_.forget_before(input_.position());
        return std::exchange(input_error_, Status());
      }
      return end_of_data();
    }
    SW_RETURN_IF_ERROR(wait_for_oldest());
    std::vector<Chunk> ready;
    std::int64_t rows = 0;
    std::size_t bytes = 0;
    // Everything finished in order goes out together, up to the demand.
    while (!tasks_.empty() && rows < demand.rows && (rows == 0 || bytes < demand.bytes) &&
           take_finished(*tasks_.front())) {
      Function::Outcome& outcome = tasks_.front()->ready.front();
      if (outcome.out.rows() == 0) {
        if (rows > 0) break;
        Status error = std::move(outcome.error);
        if (is_position(error)) {
          pop(1);
        } else {
          again_ = true;
        }
        return error;
      }
      const std::int64_t some = std::min(outcome.out.rows(), demand.rows - rows);
      ready.push_back(outcome.out.slice(0, some));
      outcome.out =
          some == outcome.out.rows() ? Chunk() : outcome.out.slice(some, outcome.out.rows());
      rows += some;
      bytes += ready.back().footprint();
      pop(some);
    }
    largest_ =
        std::max(largest_, bytes / static_cast<std::size_t>(std::max<std::int64_t>(1, rows)));
    blocks_.note(ready.back());
    const StructurePtr structure = ready[0].structure();
    return std::optional<Chunk>(join_rows(structure, ready));
  }

  Status save(StateWriter& out) const override { return input_.save(out, oldest()); }
  Status restore(StateReader& in) override { return input_.restore(in); }

 private:
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
    std::vector<Tensor> places;  // [rows, ...] for each component, or none
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

  // Rows whose results there is room for now.
  std::int64_t affordable() const {
    const std::size_t each = std::max(
        {largest_, static_cast<std::size_t>(std::max<std::int64_t>(0, known_bytes())), kLeastRow});
    const std::size_t rows = within_reach(shared_->run->budget()) / each;
    return static_cast<std::int64_t>(std::min(rows, kMostRows));
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
    if (std::exchange(again_, false)) {
      tasks_.front()->ready.clear();
      start(tasks_.front());
    }
    if (tasks_.empty() && input_error_.ok() && !ended_) {
      SW_ASSIGN(const bool more, admit_next(*shared_->stage, input_));
      ended_ = !more;
    }
    while (input_error_.ok() && !ended_ && may_start()) {
      Next next = input_.next(wish());
      if (!next.ok()) {
        if (!is_position(next.error())) return std::move(next).status();
        input_error_ = std::move(next).status();
        break;
      }
      if (!next.value()) {
        ended_ = true;
        break;
      }
      auto task = std::make_shared<Task>();
      task->rows = std::move(*next.value());
      task->left = task->rows.rows();
      task->index = input_.position() - task->left;
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

  Status wait_for_oldest() {
    Task& task = *tasks_.front();
    while (!take_finished(task)) {
      if (shared_->run->stop() || interrupted()) return cancelled();
      if (size_unknown()) SW_RETURN_IF_ERROR(fill());
      const Parked parked(shared_->run->budget());
      const MutexLock lock(shared_->mutex);
      if (task.outcomes.empty()) {
        shared_->finished.wait_for(shared_->mutex, std::chrono::milliseconds(20));
      }
    }
    return {};
  }

  // The position of the next row to hand on.
  std::int64_t oldest() const { return input_.position() - held_ - (input_error_.ok() ? 0 : 1); }

  // The first rows of the oldest call were handed on.
  void pop(std::int64_t rows) {
    Task& task = *tasks_.front();
    held_ -= rows;
    task.left -= rows;
    const Function::Outcome& outcome = task.ready.front();
    if (outcome.out.rows() == 0 && outcome.error.ok()) task.ready.pop_front();
    if (task.left == 0) {
      tune(task);
      tasks_.pop_front();
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

  const std::shared_ptr<Shared> shared_;
  Input input_;
  BatchBlocks blocks_;
  const GuardedFunction* const guarded_;
  const bool tuned_;
  const std::int64_t rows_a_call_;  // at most
  std::int64_t window_;             // calls
  std::deque<std::shared_ptr<Task>> tasks_;
  std::int64_t held_ = 0;  // rows of them
  Status input_error_;
  bool again_ = false;  // the oldest was refused memory: it is called once more
  bool ended_ = false;
  std::size_t largest_ = 0;  // bytes of a row
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
    {"deterministic", ParamType::kBool, "None", "accepted; results are always in order", true},
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
