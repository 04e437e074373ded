#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "spillway/base/bytes.h"
#include "spillway/base/clock.h"
#include "spillway/base/interrupt.h"
#include "spillway/base/interruption.h"
#include "spillway/base/jitter.h"
#include "spillway/base/thread.h"
#include "spillway/guard/channel.h"
#include "spillway/memory/activity.h"
#include "spillway/memory/slab_pool.h"
#include "spillway/pipeline/generator.h"
#include "spillway/pipeline/operator.h"
#include "spillway/pipeline/run.h"
#include "spillway/pipeline/watched_run.h"
#include "spillway/tensor/fingerprint.h"

namespace spillway {
namespace {

using std::chrono::milliseconds;

constexpr int kRefusedInARow = 5;
constexpr auto kJoinFor = milliseconds(150);
constexpr std::int64_t kRestNs = 100'000'000;
constexpr std::int64_t kMostRowsOneByOne = 1024;
constexpr std::size_t kMostBlockBytes = 64 * kMiB;
constexpr std::size_t kMostLooseBytes = kMiB;

Result<Inferred> infer(const Node& node) {
  if (std::dynamic_pointer_cast<GeneratorFactory>(node.object_param("generator")) == nullptr) {
    Status status = invalid_argument("`generator` must be a Python callable.");
    status.edit().type = "TypeError";
    return status;
  }
  return Inferred{node.signature_param("output_signature"), kUnknownCount};
}

// How far a checkpoint was, and its last row's fingerprint.
struct Mark {
  std::int64_t position = 0;
  std::uint64_t print = 0;
};

// What the generator's thread and the consumer share. The thread owns a reference: stuck in user
// code it is left behind with everything it uses.
struct Shared {
  explicit Shared(const OpenContext& context)
      : run(context.run().shared_from_this()),
        stage(context.stage()),
        structure(context.node().structure()),
        row_bytes(structure == nullptr ? -1 : structure->static_bytes()),
        bound(context.bound()),
        epoch(context.epoch()),
        factory(
            std::static_pointer_cast<GeneratorFactory>(context.node().object_param("generator"))) {}
  // For another generator in the place of one that is over.
  explicit Shared(const Shared& other)
      : run(other.run),
        stage(other.stage),
        structure(other.structure),
        row_bytes(other.row_bytes),
        bound(other.bound),
        epoch(other.epoch),
        factory(other.factory),
        exact(other.exact),
        ahead_ns(other.ahead_ns) {}
  Shared& operator=(const Shared&) = delete;

  const std::shared_ptr<Run> run;
  const StagePtr stage;
  const StructurePtr structure;
  const std::int64_t row_bytes;  // -1: not static
  const std::int64_t bound;
  const std::int64_t epoch;
  const std::shared_ptr<GeneratorFactory> factory;
  bool exact = false;  // no look-ahead: advance only for rows asked for
  std::int64_t ahead_ns = 1'000'000;

  struct Item {
    std::shared_ptr<GrowingRows> block;
    Generator::Filled filled;
    bool closed = false;  // the maker is done with the block
    std::int64_t taken = 0;
  };
  Mutex mutex;
  CondVar changed;
  std::deque<Item> items SW_GUARDED_BY(mutex);
  std::int64_t hint SW_GUARDED_BY(mutex) = 1;   // rows asked for last
  std::int64_t asked SW_GUARDED_BY(mutex) = 0;  // exact: rows the consumer waits for
  std::int64_t skip SW_GUARDED_BY(mutex) = 0;   // restore: rows to pass over first
  Mark mark SW_GUARDED_BY(mutex);               // restore: what must be met among them
  std::size_t largest SW_GUARDED_BY(mutex) = 0;
  std::int64_t made SW_GUARDED_BY(mutex) = 0;  // rows; an error is none
  bool awaited SW_GUARDED_BY(mutex) = false;   // the consumer is in pull()
  bool started SW_GUARDED_BY(mutex) = false;
  bool finished SW_GUARDED_BY(mutex) = false;
  bool resting SW_GUARDED_BY(mutex) = false;  // the thread is in the generator's rest()
  Descriptor wake SW_GUARDED_BY(mutex);       // ends that
  std::atomic<bool> stop{false};
  std::int64_t passed = 0;  // elements that came out of the generator; its thread's

  // Says that something changed.
  void notify() SW_REQUIRES(mutex) {
    changed.notify_all();
    if (resting) eventfd_write(wake.get(), 1);
  }
};
using SharedPtr = std::shared_ptr<Shared>;

struct Wanted {
  std::int64_t rows = 0;  // of the next block; 0: not now
  bool ahead = false;     // nobody waits for them: only if there is room
  std::size_t each = 0;   // bytes of a row, as far as they are known
};

Wanted rows_wanted(Shared& shared) SW_REQUIRES(shared.mutex) {
  std::int64_t waiting = 0;
  for (const auto& item : shared.items) waiting += item.block->added() - item.taken;
  // Never ahead of the bound; beyond it only for a consumer that found rows before it to fail.
  const std::int64_t left =
      shared.bound < 0 ? INT64_MAX : std::max<std::int64_t>(shared.bound - shared.made, 0);
  if (left == 0 && (waiting > 0 || !shared.awaited)) return {};
  std::int64_t rows =
      shared.exact ? shared.asked - waiting : std::max<std::int64_t>(shared.hint, 1);
  if (rows <= 0) return {};
  const bool ahead = waiting > 0 || !shared.awaited;
  const std::size_t each = std::max<std::size_t>(
      shared.largest, static_cast<std::size_t>(std::max<std::int64_t>(0, shared.row_bytes)));
  if (ahead) {
    // One block ahead, if the pool has room for it.
    if (shared.exact || shared.items.size() > 1) return {};
    const std::size_t room = within_reach_ahead(shared.run->budget()) / 2;
    if (each > 0 && room < each) return {};
    if (each > 0) rows = std::min(rows, static_cast<std::int64_t>(room / each));
  }
  // A block stays until its last row was taken: where rows are large and memory is short, they are
  // made one by one.
  if (each >= SlabPool::kLeast) {
    const std::size_t room = within_reach_ahead(shared.run->budget()) / 4;
    rows = std::clamp<std::int64_t>(static_cast<std::int64_t>(room / each), 1, rows);
  }
  if (shared.row_bytes > 0) {
    rows = std::min(rows, std::max<std::int64_t>(
                              1, static_cast<std::int64_t>(kMostBlockBytes) / shared.row_bytes));
  } else {
    // The first row tells how large they are: it is made alone.
    rows = shared.made == 0 ? 1 : std::min(rows, kMostRowsOneByOne);
  }
  rows = std::min(rows, std::max<std::int64_t>(left, 1));
  return {rows, ahead, each};
}

// The generator's thread waits a while for a change. One that has something to do between rows does
// it meanwhile.
void pause(Shared& shared, Generator& generator) SW_REQUIRES(shared.mutex) {
  if (shared.stop) return;
  if (generator.rests() && !shared.wake) {
    shared.wake = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  }
  if (!generator.rests() || !shared.wake) {
    shared.changed.wait_for(shared.mutex, milliseconds(20));
    return;
  }
  const int wake = shared.wake.get();
  shared.resting = true;
  shared.mutex.unlock();
  generator.rest(wake, kRestNs);
  shared.mutex.lock();
  shared.resting = false;
  eventfd_t count = 0;
  eventfd_read(wake, &count);  // does not wait
}

// A block for as many rows, or for one when they do not all fit now.
Result<std::shared_ptr<GrowingRows>> make_block(Shared& shared, Wanted wanted) {
  const std::int64_t rows = wanted.rows;
  std::vector<Tensor> slots;
  if (shared.row_bytes > 0) {
    const AccountPtr& account = shared.stage->account();
    for (const bool whole : {true, false}) {
      const std::int64_t count = whole ? rows : 1;
      slots.clear();
      Status failed;
      for (const Structure* leaf : shared.structure->leaves()) {
        const bool last_try = !whole || rows == 1;
        auto slot =
            make_tensor(account, leaf->dtype(), leaf->shape().with_leading(count),
                        last_try && !wanted.ahead ? Buffer::Ask::kRequired : Buffer::Ask::kAhead);
        if (!slot.ok()) {
          failed = std::move(slot).status();
          if (last_try) return failed;
          break;
        }
        slot.value().buffer()->touch();  // soon; nobody else has it yet
        slots.push_back(std::move(slot).value());
      }
      if (failed.ok())
        return std::make_shared<GrowingRows>(shared.structure, count, std::move(slots));
    }
  }
  if (!wanted.ahead) SW_RETURN_IF_ERROR(shared.stage->admit());
  return std::make_shared<GrowingRows>(shared.structure, rows, std::move(slots), kMostLooseBytes);
}

// Rows whose size nobody knows before they are there: ahead of those that are waited for, the first
// one of a block is made only in room for one like the largest.
std::optional<Reservation> room_for(Shared& shared, Wanted wanted) {
  if (!wanted.ahead || shared.row_bytes > 0 || wanted.each < SlabPool::kLeast) return Reservation();
  return shared.stage->account()->try_ahead(wanted.each);
}

Status no_room_ahead() { return out_of_resource("no room to look ahead"); }

void finish(Shared& shared) {
  const MutexLock lock(shared.mutex);
  shared.finished = true;
  shared.changed.notify_all();
}

void fail(Shared& shared, Status error) {
  const MutexLock lock(shared.mutex);
  auto block = std::make_shared<GrowingRows>(shared.structure, 0, std::vector<Tensor>());
  shared.awaited = false;  // answered
  shared.items.push_back(
      {std::move(block), {Generator::More::kError, std::move(error), true}, true, 0});
  shared.changed.notify_all();
}

// Advances the generator, on the board.
Generator::Filled advance(Shared& shared, Generator& generator, GrowingRows& block,
                          std::int64_t ahead_ns) {
  const Doing doing(Phase::kGenerator, text_of(*shared.stage, shared.factory->describe()),
                    shared.epoch, shared.passed, shared.run.get());
  block.tell(doing.row());
  Generator::Filled filled = generator.fill(block, now_ns() + ahead_ns, shared.stop);
  block.tell(nullptr);
  return filled;
}

// What tells the row that a checkpoint ended with from another; 0: that was an error.
std::uint64_t print_of(const Chunk& chunk, std::int64_t row) {
  constexpr std::int64_t kItems = 64;
  Fnv64 hash;
  for (const Tensor& value : chunk.row(row).values) add_fingerprint(hash, value, kItems);
  return hash.value() | 1;
}

Status not_replayable(std::int64_t rows, std::int64_t passed, std::string_view found) {
  Status status = Status::error(
      ErrorKind::kUser, Code::kFailedPrecondition, "restore: the generator must yield again what ",
      "it did when the state was saved; element ", passed, " of ", rows, " ", found,
      ". Make it start from what it reads (seed its random numbers, open its files anew), or save "
      "where it begins");
  status.edit().type = "GeneratorNotReplayable";
  status.edit().index = passed;
  return status;
}

// Passes over rows that a checkpoint has behind it: up to `mark`, which must be met again (it was
// the last row of a chunk), and then up to `rows`.
Status fast_forward(Shared& shared, Generator& generator, const Mark& mark, std::int64_t rows) {
  std::int64_t passed = 0;
  while (passed < rows && !shared.stop) {
    const std::int64_t left = (passed < mark.position ? mark.position : rows) - passed;
    SW_ASSIGN(auto block, make_block(shared, {std::min<std::int64_t>(left, 64)}));
    const auto filled = advance(shared, generator, *block, 1'000'000'000);
    const std::int64_t made = block->added();
    shared.passed += made + (filled.more == Generator::More::kError ? 1 : 0);
    {
      const MutexLock lock(shared.mutex);
      shared.made += made;
    }
    passed += made + (filled.more == Generator::More::kError ? 1 : 0);
    const bool over = filled.more == Generator::More::kEnd || filled.finished;
    if (over && passed < rows) return not_replayable(rows, passed, "does not come");
    const bool ends_with_row = made > 0 && filled.more != Generator::More::kError;
    if (passed == mark.position && mark.print != 0 && ends_with_row &&
        print_of(block->take(made - 1, made), 0) != mark.print) {
      return not_replayable(rows, passed - 1, "is another");
    }
    if (over) return {};
  }
  return {};
}

// Fills the newest item's block, whole: rows taken from it in portions still lie side by side, and
// a batch of them is a view. What it has is enough for the time being when nobody waits for more.
Generator::Filled fill(Shared& shared, Generator& generator, GrowingRows& open) {
  for (;;) {
    Generator::Filled filled = advance(shared, generator, open, shared.ahead_ns);
    if (filled.more != Generator::More::kYes || open.full() || shared.stop) return filled;
    const MutexLock lock(shared.mutex);
    const Parked parked(shared.run->budget());
    while (!shared.stop && !shared.awaited &&
           (shared.exact || open.added() > shared.items.back().taken)) {
      pause(shared, generator);
    }
  }
}

// The generator's whole life: made, advanced and closed here.
void live(const SharedPtr& shared) {
  const UserCodeScope user_code(shared->stage->account());
  auto started = [&] {
    const Doing doing(Phase::kGenerator, text_of(*shared->stage, shared->factory->describe()),
                      shared->epoch, 0, shared->run.get());
    return shared->factory->start(shared->stage->account());
  }();
  if (!started.ok()) {
    return fail(*shared, std::move(started).status());
  }
  const std::unique_ptr<Generator> generator = std::move(started).value();
  std::int64_t skip = 0;
  Mark mark;
  {
    const MutexLock lock(shared->mutex);
    skip = shared->skip;
    mark = shared->mark;
  }
  if (Status status = fast_forward(*shared, *generator, mark, skip); !status.ok()) {
    return fail(*shared, std::move(status));
  }
  int refused = 0;
  while (!shared->stop) {
    Wanted wanted;
    {
      const MutexLock lock(shared->mutex);
      const Parked parked(shared->run->budget());
      while (!shared->stop && (wanted = rows_wanted(*shared)).rows == 0) {
        pause(*shared, *generator);
      }
    }
    if (shared->stop) break;
    jitter();
    auto block = make_block(*shared, wanted);
    std::optional<Reservation> room = block.ok() ? room_for(*shared, wanted) : std::nullopt;
    if (block.ok() && !room) block = no_room_ahead();
    if (!block.ok()) {
      // No memory now: whoever waits is told, and may ask again. The row before may still be on its
      // way into the room that a batch has for it.
      if (!wanted.ahead && ++refused % kRefusedInARow == 0) {
        fail(*shared, std::move(block).status());
      }
      const MutexLock lock(shared->mutex);
      const Parked parked(shared->run->budget());
      pause(*shared, *generator);
      continue;
    }
    refused = 0;
    GrowingRows& open = *block.value();
    {
      const MutexLock lock(shared->mutex);
      shared->items.push_back({block.value(), {}, false, 0});
    }
    const RoomForResult for_first(*room);
    Generator::Filled filled = fill(*shared, *generator, open);
    shared->passed += open.added() + (filled.more == Generator::More::kError ? 1 : 0);
    if (!filled.error.ok() && filled.error.info().file.empty()) {
      filled.error.edit().file = generator->last_file();
    }
    const MutexLock lock(shared->mutex);
    Shared::Item& item = shared->items.back();
    shared->made += open.added();
    if (open.added() > 0) {
      shared->largest =
          std::max(shared->largest, open.loose_bytes() / static_cast<std::size_t>(open.added()));
    }
    const bool over = filled.more == Generator::More::kEnd || filled.finished;
    item.filled = std::move(filled);
    item.closed = true;
    const std::int64_t ready = open.added() - item.taken;
    shared->stage->stats().in.add({ready, ready});
    shared->changed.notify_all();
    if (over) break;
  }
}

// Says that it is over only when the generator is gone, so that who waits for that can rely on it.
void generate(const SharedPtr& shared) {
  const Working working(shared->run->budget());
  live(shared);
  finish(*shared);
}

// While the consumer is in pull(), under the lock but for its waits.
class Awaited {
 public:
  explicit Awaited(Shared& shared) SW_REQUIRES(shared.mutex) : shared_(shared) {
    shared_.awaited = true;
  }
  ~Awaited() SW_NO_TSA { shared_.awaited = false; }
  Awaited(const Awaited&) = delete;
  Awaited& operator=(const Awaited&) = delete;

 private:
  Shared& shared_;
};

class GeneratorIterator final : public Iterator {
 public:
  explicit GeneratorIterator(const OpenContext& context)
      : Iterator(context.stage(), context.epoch()),
        scope_(context.source_scope()),
        shared_(std::make_shared<Shared>(context)) {
    const std::int64_t ahead = context.node().int_param("read_ahead", -1);
    shared_->ahead_ns = context.run().options().read_ahead_ns;
    shared_->exact = ahead == 0 || shared_->ahead_ns == 0;
    if (shared_->ahead_ns == 0) shared_->ahead_ns = 1'000'000;
  }

  // Closes the generator on its own thread; waits a little, so that `finally` blocks have run.
  ~GeneratorIterator() override {
    const MutexLock lock(shared_->mutex);
    shared_->stop = true;
    shared_->notify();
    if (!shared_->started) return;
    const Parked parked(shared_->run->budget());
    const auto give_up = std::chrono::steady_clock::now() + kJoinFor;
    while (!shared_->finished && std::chrono::steady_clock::now() < give_up) {
      shared_->changed.wait_for(shared_->mutex, milliseconds(5));
    }
  }

  Next pull(const Demand& demand) override {
    SW_RETURN_IF_ERROR(stage().kept_interruption(position_, epoch()));
    const SharedPtr held = shared_;
    Shared& shared = *held;
    const MutexLock lock(shared.mutex);
    const Awaited awaited(shared);
    // Asking for the rest of a block says nothing about the next one.
    const bool rest =
        !shared.items.empty() && shared.items.front().taken > 0 &&
        shared.items.front().block->capacity() - shared.items.front().taken == demand.rows;
    if (!rest) shared.hint = demand.rows;
    shared.asked = demand.rows;
    if (!shared.started) {
      SW_RETURN_IF_ERROR(start_thread([kept = shared_] { generate(kept); }));
      shared.started = true;
    }
    shared.notify();
    const std::int64_t begun = now_ns();
    for (;;) {
      if (shared.run->stop() || interrupted()) return cancelled();
      if (!shared.items.empty()) {
        Shared::Item& item = shared.items.front();
        const std::int64_t ready = item.block->published() - item.taken;
        // An open block's rows are taken only when they have kept us waiting: a generator that
        // is merely fast fills its block first.
        const bool waited = now_ns() - begun >= 1'000'000;
        if (ready > 0 && (item.closed || waited)) return take(item, std::min(ready, demand.rows));
        if (ready == 0 && item.closed) {
          const Generator::Filled filled = item.filled;
          shared.items.pop_front();
          if (filled.more == Generator::More::kError && is_interruption(filled.error)) {
            start_again();
            return stage().keep_interruption(filled.error, position_, epoch());
          }
          if (filled.more == Generator::More::kError && !is_position(filled.error)) {
            return filled.error;
          }
          if (filled.more == Generator::More::kError) {
            ++position_;
            print_ = 0;
            Status error = filled.error;
            if (error.info().index < 0) error.edit().index = position_ - 1;
            if (error.info().origin.empty()) {
              error.edit().origin = Origin{scope_, position_ - 1}.describe();
            }
            if (filled.finished) return ending_source(std::move(error));
            if (filled.unsure) failed_last_ = error;
            return error;
          }
          if (filled.more == Generator::More::kEnd) {
            if (!failed_last_.ok()) stage().ended_after(failed_last_);
            return end_of_data();
          }
          continue;
        }
      } else if (shared.finished) {
        return end_of_data();
      }
      const Parked parked(shared.run->budget());
      shared.changed.wait_for(shared.mutex, milliseconds(shared.items.empty() ? 20 : 1));
    }
  }

  Status save(StateWriter& out) const override {
    out.put(position_);
    out.put(static_cast<std::int64_t>(print_));
    return {};
  }
  // The generator starts anew and passes over what was delivered, if that is the same again.
  Status restore(StateReader& in) override {
    std::int64_t print = 0;
    SW_RETURN_IF_ERROR(in.get_count(position_));
    SW_RETURN_IF_ERROR(in.get(print));
    print_ = static_cast<std::uint64_t>(print);
    const MutexLock lock(shared_->mutex);
    shared_->skip = position_;
    shared_->mark = {position_, print_};
    return {};
  }
  Status skip(std::int64_t rows) override {
    {
      const MutexLock lock(shared_->mutex);
      if (!shared_->started) {
        shared_->skip += rows;
        position_ += rows;
        print_ = 0;  // nobody saw that row
        return {};
      }
    }
    return Iterator::skip(rows);
  }

 private:
  // A generator that was interrupted is over, its element not lost: another one passes over what
  // was handed on, as after restore().
  void start_again() {
    shared_ = std::make_shared<Shared>(*shared_);
    const MutexLock lock(shared_->mutex);
    shared_->skip = position_;
    shared_->mark = {position_, print_};
  }

  // With the mutex held; the analysis does not see that `shared` and `*shared_` are one.
  Next take(Shared::Item& item, std::int64_t rows) SW_NO_TSA {
    Chunk chunk = item.block->take(item.taken, item.taken + rows)
                      .with_origins(Origins::regular(scope_, position_));
    item.taken += rows;
    failed_last_ = Status();
    if (item.closed) stats().in.add({-rows, -rows});
    position_ += rows;
    print_ = print_of(chunk, rows - 1);
    shared_->asked = 0;
    shared_->largest =
        std::max(shared_->largest, chunk.footprint() / static_cast<std::size_t>(rows));
    if (item.closed && item.taken == item.block->published() &&
        item.filled.more == Generator::More::kYes) {
      shared_->items.pop_front();
    }
    shared_->notify();
    return std::optional<Chunk>(std::move(chunk));
  }

  const ScopePtr scope_;
  SharedPtr shared_;
  std::int64_t position_ = 0;
  std::uint64_t print_ = 0;  // of the row before position_
  Status failed_last_;       // the error before position_, where that was none of a row
};

constexpr ParamDef kParams[] = {
    {"generator", ParamType::kObject, "", "callable that returns a generator or an iterable"},
    {"output_signature", ParamType::kSignature, "None", "what it yields; else learnt and enforced"},
    {"read_ahead", ParamType::kInt, "None", "0: advance only when asked to", true},
};

}  // namespace

extern constexpr OperatorDef from_generator_operator{
    .name = "from_generator",
    .summary = "Elements of a Python generator, which runs on a thread of its own.",
    .example =
        ">>> ds = sw.Dataset.from_generator(lambda: iter([1, 2]),\n"
        "...     output_signature=sw.TensorSpec((), 'int64'))\n"
        ">>> list(ds.as_numpy_iterator())\n"
        "[np.int64(1), np.int64(2)]",
    .params = kParams,
    .inputs = 0,
    .effects = Effects::kUserCode,
    .fallible = true,
    .ratio = Ratio::kSource,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      return IteratorPtr(std::make_unique<GeneratorIterator>(context));
    }};

}  // namespace spillway
