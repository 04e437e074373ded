#include "spillway/pipeline/guarded_function.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <utility>

#include "spillway/base/bytes.h"
#include "spillway/base/clock.h"
#include "spillway/base/interrupt.h"
#include "spillway/base/mutant.h"
#include "spillway/base/test_point.h"
#include "spillway/base/workers.h"
#include "spillway/guard/exchange.h"
#include "spillway/guard/worker_verbs.h"
#include "spillway/memory/activity.h"
#include "spillway/pipeline/row_message.h"

namespace spillway {
namespace {

constexpr std::size_t kLeastRoom = 16 * 1024;
// Rows that take so long travel together, and results wait no longer for those after them. A
// function of 0.45 ms costs 3 % more than in a loop so, 7 % with two milliseconds (Zen 5).
constexpr std::int64_t kCallNs = 5'000'000;
constexpr std::size_t kTogetherBytes = 4 * kMiB;
constexpr std::int64_t kMostTogether = 4096;

// What the two sides have told each other so far.
struct Conversation {
  RowSender sender;
  RowReceiver receiver;
};

Conversation& conversation_with(WorkerProcess& worker) {
  std::shared_ptr<void>& place = worker.conversation();
  if (place == nullptr) place = std::make_shared<Conversation>();
  return *static_cast<Conversation*>(place.get());
}

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

GuardedFunction::GuardedFunction(FunctionPtr inner, CargoPtr travels,
                                 std::shared_ptr<WorkerPool> pool, GuardRules rules)
    : inner_(std::move(inner)),
      travels_(std::move(travels)),
      pool_(std::move(pool)),
      rules_(std::move(rules)),
      seeds_(rules_.seed),
      id_(next_id()) {}

std::string GuardedFunction::why() const {
  std::string why = "runs in worker processes";
  if (rules_.most == 1) why = "runs in a worker process";
  if (rules_.most > 1) why = "runs in up to " + std::to_string(rules_.most) + " worker processes";
  if (rules_.kind.sandboxed) why += ", each in a sandbox";
  if (rules_.draws != 0) {
    why +=
        ", where `random` and `np.random` are seeded for each element: its random numbers are "
        "not those of a run in this process";
  }
  const std::string inner = inner_->why();
  return inner.empty() ? why : why + "; " + inner;
}

int GuardedFunction::most_calls() const {
  return rules_.most > 0 ? rules_.most : Workers::usable_cpus();
}

std::int64_t GuardedFunction::rows_together() const {
  const std::int64_t ns = row_ns_;
  if (ns == 0) return 1;
  const auto fit = static_cast<std::int64_t>(kTogetherBytes / std::max<std::size_t>(row_bytes_, 1));
  return std::clamp<std::int64_t>(std::min({kCallNs / ns, fit, together_.load()}), 1,
                                  kMostTogether);
}

// A faster row counts at once, a slower one by and by: on a busy machine most calls look slow. Too
// many at a time do no harm, for a worker answers after kCallNs with what it has. Never more than
// twice as many as were seen to go well.
void GuardedFunction::note_time(std::int64_t rows, std::int64_t ns) {
  if (rows == 0) return;
  const std::int64_t now = std::max<std::int64_t>(ns / rows, 1);
  const std::int64_t before = row_ns_;
  row_ns_ = before == 0 || now <= before ? now : before + (std::min(now, 8 * before) - before) / 4;
  together_ = std::max<std::int64_t>(together_, std::min(2 * rows, kMostTogether));
}

void GuardedFunction::note_bytes(std::int64_t rows, std::size_t bytes) {
  if (rows == 0) return;
  const std::size_t now = bytes / static_cast<std::size_t>(rows) + 1;
  row_bytes_ = std::max(now, row_bytes_ - row_bytes_ / 4);
}

std::size_t GuardedFunction::room_for(std::int64_t rows) const {
  const std::size_t one = row_bytes_;
  const std::size_t all = one * static_cast<std::size_t>(rows);
  return std::clamp(all, kLeastRoom, std::max(one, 2 * kTogetherBytes));
}

// The eldest element that waits comes first (R3).
class GuardedFunction::Turn {
 public:
  Turn(GuardedFunction& function, const CallContext& context) : function_(function) {
    const Element first(context.epoch, context.first_index);
    const int most = function_.most_calls();
    const MutexLock lock(function_.mutex_);
    const auto place = function_.waiting_.insert(first);
    while (function_.running_ >= most || place != function_.waiting_.begin()) {
      if ((context.stop != nullptr && *context.stop) || interrupted()) break;
      const Parked parked(function_.pool_->budget());  // those ahead of it may wait for memory
      function_.ended_.wait_for(function_.mutex_, std::chrono::milliseconds(20));
    }
    came_ = function_.running_ < most && place == function_.waiting_.begin();
    if (came_) ++function_.running_;
    function_.waiting_.erase(place);
    if (!function_.waiting_.empty()) function_.ended_.notify_all();
  }
  ~Turn() {
    if (!came_) return;
    const MutexLock lock(function_.mutex_);
    --function_.running_;
    if (!function_.waiting_.empty()) function_.ended_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool came() const { return came_; }

 private:
  GuardedFunction& function_;
  bool came_ = false;
};

Function::Outcome GuardedFunction::call(const Chunk& rows, const CallContext& context) {
  const Turn turn(*this, context);
  if (turn.came()) return call_in_turn(rows, context);
  Outcome stopped;
  stopped.error = cancelled();
  return stopped;
}

Function::Outcome GuardedFunction::call_in_turn(const Chunk& rows, const CallContext& context) {
  WorkerPool::Calling calling(*pool_);
  const auto give_up = [&context] {
    return (context.stop != nullptr && *context.stop) || interrupted();
  };
  Outcome failed;
  const Element first(context.epoch, context.first_index);
  Chunk some = rows.slice(0, blamed_.rows_before_next(context.account, first, rows.rows()));
  Blame blamed = blamed_.of(context.account, first);
  if (!blamed.error.ok()) {
    blamed_.acquit(context.account, first);
    failed.error = std::move(blamed.error);
    return failed;
  }
  for (;;) {
    // What has ended a worker is called alone, and what crashed one in a fresh one.
    const bool alone = blamed.deaths + blamed.kills > 0;
    if (alone) some = rows.slice(0, 1);
    const auto which = blamed.deaths > 0 ? WorkerPool::Which::kFresh : WorkerPool::Which::kAny;
    auto worker = calling.take(rules_.kind, which, give_up);
    if (!worker.ok()) {
      failed.error = std::move(worker).status();
      return failed;
    }
    SW_TEST_POINT("a worker is taken");
    Answer answer = ask(*worker.value(), some, context);
    if (!answer.died) {
      // One that answers junk is ended; its element fails with what was found.
      if (!answer.damaged) pool_->give_back(std::move(worker).value());
      if (alone) blamed_.acquit(context.account, first);
      return std::move(answer.outcome);
    }
    if (answer.stopped) worker.value()->kill("nobody waits for it any more", false);
    const std::int64_t row = worker.value()->beat().row;
    SW_TEST_POINT("a worker is dead");
    const Death death = worker.value()->bury();
    SW_TEST_POINT("a worker is buried");
    if (answer.stopped) {
      failed.error = cancelled();
      return failed;
    }
    const bool killed = death.innocent() && !mutant("not_run_again");
    if (row > 0 && row < some.rows()) {
      Blame its{killed ? 0 : 1, row, {}, killed ? 1 : 0};
      if (!killed && rules_.restarts == 0) {
        CallContext there = context;
        there.first_index += row;
        const Scene scene = scene_of(rows.slice(row, row + 1), there, its, answer.stack);
        its.error = worker_died(death, worker.value()->pid(), scene, pool_->budget());
      }
      blamed_.blame(context.account, {context.epoch, context.first_index + row}, std::move(its));
      some = rows.slice(0, row);
      continue;
    }
    ++(killed ? blamed.kills : blamed.deaths);
    if (blamed.kills >= most_kills(rules_) || blamed.deaths > rules_.restarts) {
      blamed_.acquit(context.account, first);
      failed.error = worker_died(death, worker.value()->pid(),
                                 scene_of(rows, context, blamed, answer.stack), pool_->budget());
      return failed;
    }
    blamed_.blame(context.account, first, blamed);
  }
}

GuardedFunction::Answer GuardedFunction::ask(WorkerProcess& worker, const Chunk& rows,
                                             const CallContext& context) {
  Answer answer;
  Conversation& talk = conversation_with(worker);
  Watch watch(*pool_, worker, rules_, name(), context.first_index, context.stop);
  worker.beat().row = -1;
  SharedMemory& memory = worker.memory();
  answer.outcome.error = lend(memory, rows, context, answer);
  if (!answer.outcome.error.ok()) return answer;
  watch.go_on();
  const std::int64_t left =
      context.deadline_ns == INT64_MAX
          ? kCallNs
          : std::clamp<std::int64_t>(context.deadline_ns - now_ns(), 0, kCallNs);
  MessageWriter message;
  message.add(WorkerVerb::kCall).add(id_).add(worker.beat_offset()).add(context.first_index);
  message.add(context.epoch).add(static_cast<std::uint64_t>(context.bytes)).add(left);
  message.add(rules_.draws != 0 ? seeds_.of(context.account) : 0);
  message.add(answer.room.offset());
  message.add(static_cast<std::uint64_t>(answer.room.bytes().size()));
  answer.outcome.error =
      talk.sender.add(rows, answer.input.offset(), answer.input.bytes(), message);
  if (!answer.outcome.error.ok()) return answer;

  std::string got;
  const bool known = worker.knows(id_);
  const std::int64_t begun = now_ns();
  if ((!known && !load(worker, watch)) || !exchange(worker, watch, context.account, message.bytes(),
                                                    answer.more, got, answer.refused)) {
    answer.died = true;
    answer.stopped = watch.stopped();
    answer.stack = watch.stack();
    return answer;
  }
  read_answer(worker, got, rows.rows(), context.account, answer);
  const std::int64_t made = answer.outcome.out.rows();
  if (made == 0 && answer.outcome.error.ok()) {
    answer.damaged = true;
    answer.outcome.error = internal_bug("a worker answered for none of ", rows.rows(), " rows");
  }
  // The first call of a worker loads what the function needs.
  if (known) note_time(made, now_ns() - begun);
  return answer;
}

// Room for the rows and for what may come back of them, before anything is sent. Where memory is
// short, only as much as one row takes: a worker answers with what it has room for.
Status GuardedFunction::lend(SharedMemory& memory, const Chunk& rows, const CallContext& context,
                             Answer& answer) const {
  const auto give_up = [&context] {
    return (context.stop != nullptr && *context.stop) || interrupted();
  };
  SW_ASSIGN(answer.input, memory.reserve(context.account, RowSender::room_for(rows), give_up));
  answer.room = memory.try_take(context.account, room_for(rows.rows()));
  if (answer.room) return {};
  SW_ASSIGN(answer.room, memory.reserve(context.account, room_for(1), give_up));
  return {};
}

bool GuardedFunction::load(WorkerProcess& worker, Watch& watch) {
  worker.learn(id_, travels_);
  MessageWriter message;
  std::vector<int> fds;
  message.add(WorkerVerb::kLoad).add(id_);
  travels_->send(message, fds);
  message.add(std::string_view(name())).add(rules_.draws);
  write_structure(output(), message);
  return worker.channel().send(numbered(0, message.bytes()), std::ref(watch), fds) ==
         Channel::Got::kAll;
}

void GuardedFunction::read_rows(WorkerProcess& worker, MessageReader& in, std::int64_t most,
                                const AccountPtr& account, SharedMemory::Piece room,
                                Answer& answer) {
  RowReceiver& receiver = conversation_with(worker).receiver;
  MessageReader rows(in.text());
  // Who took over a worker in its sandbox may still write to the room.
  auto made = worker.kind().sandboxed ? receiver.copy(rows, account, std::move(room))
                                      : receiver.own(rows, account, std::move(room));
  Outcome& outcome = answer.outcome;
  if (made.ok()) {
    if (Status wrong = check_sent(made.value(), most - outcome.out.rows(), output()); !wrong.ok()) {
      made = std::move(wrong);
    }
  }
  if (!made.ok()) {
    answer.damaged = answer.damaged || made.error().kind() == ErrorKind::kBug;
    if (outcome.error.ok()) outcome.error = std::move(made).status();
    return;
  }
  note_bytes(made.value().rows(), receiver.used());
  if (outcome.out.rows() == 0) {
    outcome.out = std::move(made).value();
    return;
  }
  if (!common_structure(outcome.out.structure(), made.value().structure()).ok()) {
    answer.damaged = true;
    outcome.error = internal_bug("a worker answered with rows of two kinds");
    return;
  }
  const StructurePtr structure = outcome.out.structure();
  outcome.out = join_rows(structure, std::array{std::move(outcome.out), std::move(made).value()});
}

void GuardedFunction::read_answer(WorkerProcess& worker, const std::string& got, std::int64_t rows,
                                  const AccountPtr& account, Answer& answer) {
  MessageReader in(got);
  in.get<WorkerVerb>();
  // First what went into the room as it was made, then what had no place there.
  if (in.get<std::uint8_t>() != 0) {
    read_rows(worker, in, rows, account, std::move(answer.room), answer);
  }
  if (in.get<std::uint8_t>() != 0) {
    read_rows(worker, in, rows, account, std::move(answer.more ? answer.more : answer.room),
              answer);
  }
  // Bytes that the user's code still refers to in the worker are not given to anybody else.
  if (in.get<std::uint8_t>() != 0) worker.keep(std::move(answer.input));
  Outcome& outcome = answer.outcome;
  outcome.cpu_ns = in.get<std::int64_t>();
  Status error = read_status(in, !worker.kind().sandboxed);
  // Refused as others are, with the holders; the call is made again when there is room.
  if (!error.ok() && !answer.refused.ok()) error = std::move(answer.refused);
  if (!in.ok()) {
    answer.damaged = true;
    error = internal_bug("a worker's answer arrived damaged");
  }
  if (outcome.error.ok()) outcome.error = std::move(error);
}

Scene GuardedFunction::scene_of(const Chunk& rows, const CallContext& context, const Blame& blame,
                                std::string stack) const {
  Scene scene;
  scene.at = "element " + std::to_string(context.first_index) + " of " + context.account->name() +
             " (" + name() + ")";
  const Origin origin = rows.origins().at(0);
  if (origin.scope != nullptr) scene.file = origin.scope->file;
  if (blame.lost > 0) {
    scene.recovered = "The " + std::to_string(blame.lost) +
                      " before it that were lost with a worker were run again.";
  }
  scene.attempts = blame.deaths + blame.kills;
  scene.stack = std::move(stack);
  return scene;
}

}  // namespace spillway
