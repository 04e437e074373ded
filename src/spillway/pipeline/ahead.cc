#include "spillway/pipeline/ahead.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>

#include "spillway/base/clock.h"
#include "spillway/base/interrupt.h"
#include "spillway/base/interruption.h"
#include "spillway/base/jitter.h"
#include "spillway/base/test_point.h"
#include "spillway/base/thread.h"
#include "spillway/memory/activity.h"
#include "spillway/memory/slab_pool.h"
#include "spillway/pipeline/deep_call.h"
#include "spillway/pipeline/stage_clock.h"

namespace spillway {
namespace {

using std::chrono::milliseconds;
constexpr auto kJoinFor = milliseconds(150);
constexpr std::int64_t kMostTuned = 512;
// Of a pull that waits to be taken, beside its rows: the chunk, its columns and its origins.
constexpr std::size_t kBytesAPull = 768;
constexpr std::size_t kPaidAhead = 16;  // pulls

}  // namespace

struct Ahead::State {
  State(Stage& stage, std::unique_ptr<Input> below, Limits limits)
      : run(stage.run().shared_from_this()),
        account(stage.account()),
        depth(stage.node().depth()),
        limits(limits),
        tuned(limits.rows < 0),
        allowed(tuned ? 1 : limits.rows),
        taken(below->position()),
        input(std::move(below)) {}

  const std::shared_ptr<Run> run;  // the thread may outlive everybody else
  const AccountPtr account;
  const std::int64_t depth;  // stages that the thread's stack must have room for
  const Limits limits;
  const bool tuned;

  struct Item {
    Next next;
    std::int64_t position;
  };
  mutable Mutex mutex;
  CondVar changed;
  std::int64_t allowed SW_GUARDED_BY(mutex);
  std::deque<Item> ready SW_GUARDED_BY(mutex);
  std::int64_t ready_rows SW_GUARDED_BY(mutex) = 0;
  std::size_t ready_bytes SW_GUARDED_BY(mutex) = 0;
  Reservation ready_paid SW_GUARDED_BY(mutex);  // for what is known of them
  std::size_t largest_row SW_GUARDED_BY(mutex) = 0;
  std::int64_t taken SW_GUARDED_BY(mutex);  // position of the first row not handed out
  bool was_full SW_GUARDED_BY(mutex) = false;
  bool wanted SW_GUARDED_BY(mutex) = false;       // somebody waits in next()
  bool interrupted SW_GUARDED_BY(mutex) = false;  // an interruption waits among them
  bool ended SW_GUARDED_BY(mutex) = false;
  bool started SW_GUARDED_BY(mutex) = false;
  bool finished SW_GUARDED_BY(mutex) = false;
  std::atomic<bool> stop{false};
  const std::unique_ptr<Input> input;  // driver's, once started
  // Destroyed with the state, on whichever thread lets go last.

  void pay() SW_REQUIRES(mutex) {
    const std::size_t bytes = ready.size() <= kPaidAhead ? 0 : ready.size() * kBytesAPull;
    constexpr std::size_t kAhead = kPaidAhead * kBytesAPull;
    if (bytes > ready_paid.bytes()) {
      Reservation more = account->owe(bytes + kAhead - ready_paid.bytes());
      more.touch();
      if (!ready_paid.absorb(more)) ready_paid = std::move(more);
    } else if (bytes + 2 * kAhead < ready_paid.bytes()) {
      ready_paid.shrink(bytes);
    }
  }

  bool may_pull() SW_REQUIRES(mutex) {
    if (ended || interrupted) return false;
    if (ready_rows == 0 && (wanted || largest_row == 0)) return true;
    if (ready_rows >= allowed || ready_bytes >= limits.bytes) {
      was_full = true;
      return false;
    }
    return within_reach_ahead(run->budget()) > largest_row * 2;
  }
};

Ahead::Ahead(Stage& stage, std::unique_ptr<Input> input, Limits limits)
    : state_(std::make_shared<State>(stage, std::move(input), limits)) {}

Ahead::~Ahead() {
  State& state = *state_;
  const MutexLock lock(state.mutex);
  state.stop = true;
  state.changed.notify_all();
  if (!state.started) return;
  const auto give_up = std::chrono::steady_clock::now() + kJoinFor;
  const Parked parked(state.run->budget());
  while (!state.finished && std::chrono::steady_clock::now() < give_up) {
    state.changed.wait_for(state.mutex, milliseconds(5));
  }
}

void Ahead::drive(const std::shared_ptr<State>& state) {
  Budget& budget = state->run->budget();
  for (;;) {
    std::int64_t rows = 1;
    {
      const MutexLock lock(state->mutex);
      while (!state->stop && !state->may_pull() && !state->ended) {
        // Room in the pool is not notified: look again now and then.
        state->changed.wait_for(state->mutex, milliseconds(20));
      }
      if (state->stop || state->ended) break;
      rows = std::clamp<std::int64_t>(state->allowed - state->ready_rows, 1,
                                      state->limits.rows_a_pull);
    }
    SW_TEST_POINT("ahead.pull");
    jitter();
    const std::int64_t position = state->input->position();
    Next next = [&] {
      const Working working(budget);
      return state->input->next(Demand{rows});
    }();
    const MutexLock lock(state->mutex);
    const bool passed = next.ok() || is_position(next.error());
    const bool interruption = !passed && is_interruption(next.error());
    const bool stopped = !passed && !interruption && next.error().code() == Code::kCancelled;
    if (stopped || (next.ok() && !next.value())) {
      state->ended = true;
    } else if (interruption) {
      // In its place, and nothing behind it before somebody has heard of it.
      state->interrupted = true;
      if (failed_row(next.error()).told == nullptr) may_be_told(next.error());
    } else if (!passed) {
      // No memory now: whoever waits is told, and may ask again.
      if (!state->wanted) {
        if (!state->stop) state->changed.wait_for(state->mutex, milliseconds(20));
        continue;
      }
      state->wanted = false;
    } else if (next.ok()) {
      const Chunk& chunk = *next.value();
      const std::size_t bytes = chunk.footprint();
      state->ready_rows += chunk.rows();
      state->ready_bytes += bytes;
      state->largest_row =
          std::max(state->largest_row, bytes / static_cast<std::size_t>(chunk.rows()));
    } else {
      ++state->ready_rows;
    }
    state->ready.push_back({std::move(next), position});
    state->pay();
    state->changed.notify_all();
  }
  const MutexLock lock(state->mutex);
  state->finished = true;
  state->changed.notify_all();
}

void Ahead::start() {
  const MutexLock lock(state_->mutex);
  if (state_->started) return;
  state_->started = true;
  // From now on the input is the driver's: save() must find a note and never touch it.
  if (Status noted = state_->input->note_now(); !noted.ok()) {
    state_->ready.push_back({std::move(noted), state_->taken});
    ++state_->ready_rows;
  }
  if (Status begun = start_thread_for(state_->depth, [shared = state_] { drive(shared); });
      !begun.ok()) {
    state_->ready.push_back({std::move(begun), state_->taken});
    state_->started = false;  // whoever asks again tries again
  }
}

bool Ahead::ready() const {
  const MutexLock lock(state_->mutex);
  if (state_->ready.empty()) return false;
  const Next& front = state_->ready.front().next;
  return front.ok() && front.value();
}

Next Ahead::next(const Demand& demand) {
  start();
  State& state = *state_;
  const MutexLock lock(state.mutex);
  state.input->forget_before(state.taken);
  if (state.interrupted && !state.ready.empty()) {
    const Next& first = state.ready.front().next;
    if (!first.ok() && is_interruption(first.error()) && was_told(first.error())) {
      state.ready.pop_front();
      state.interrupted = false;
    }
  }
  if (state.ready.empty()) {
    // Tuned: emptied after it had been full means it was too short.
    if (state.tuned && state.was_full) {
      state.allowed = std::min(state.allowed * 2, kMostTuned);
      state.was_full = false;
    }
    const Parked parked(state.run->budget());
    const std::int64_t since = now_ns();
    state.wanted = true;
    state.changed.notify_all();
    while (state.ready.empty()) {
      if (state.run->stop() || state.finished || interrupted()) {
        state.wanted = false;
        return cancelled();
      }
      state.changed.wait_for(state.mutex, milliseconds(20));
    }
    state.wanted = false;
    waited_for_input(now_ns() - since);
  }
  State::Item& front = state.ready.front();
  if (!front.next.ok()) {
    Status error = front.next.error();
    // Whoever asks may have rows to hand on first: it comes again until it was told.
    if (is_interruption(error)) return error;
    if (is_position(error)) {
      --state.ready_rows;
      ++state.taken;
    }
    state.ready.pop_front();
    state.changed.notify_all();
    return error;
  }
  if (!front.next.value()) return end_of_data();
  Chunk chunk = std::move(*front.next.value());
  const std::int64_t rows = std::min(demand.rows, chunk.rows());
  if (rows < chunk.rows()) {
    front.next = std::optional<Chunk>(chunk.slice(rows, chunk.rows()));
    chunk = chunk.slice(0, rows);
    front.position += rows;
  } else {
    state.ready.pop_front();
    state.pay();
  }
  state.ready_rows -= rows;
  state.ready_bytes -= std::min(state.ready_bytes, chunk.footprint());
  state.taken += rows;
  state.changed.notify_all();
  return std::optional<Chunk>(std::move(chunk));
}

Status Ahead::save(StateWriter& out) const {
  const MutexLock lock(state_->mutex);
  return state_->input->save(out, state_->taken);
}

Status Ahead::save(StateWriter& out, std::int64_t position) const {
  const MutexLock lock(state_->mutex);
  return state_->input->save(out, position);
}

Status Ahead::restore(StateReader& in) {
  SW_RETURN_IF_ERROR(state_->input->restore(in));
  const MutexLock lock(state_->mutex);
  state_->taken = state_->input->position();
  return {};
}

}  // namespace spillway
