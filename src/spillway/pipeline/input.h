#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "spillway/base/mutex.h"
#include "spillway/pipeline/operator.h"
#include "spillway/pipeline/order_log.h"

namespace spillway {

// An input whose rows may be held for a while (a window, a buffer, the rest of a chunk): it knows
// how to come back to any row that is still needed. Before a pull it notes the state of the
// iterator below; a checkpoint is the newest note at or before the oldest needed position, and how
// many positions to pass over from there. So buffers of any size save in bytes to kilobytes, and
// save() never touches the running input.
//
// A *position* is an element: a row or the error in its place.
class Input {
 public:
  // kUsesUp: when it asks for more, the operator has finished with what it got before.
  // kHolds: rows stay needed until forget_before().
  enum class Habit : std::uint8_t { kUsesUp, kHolds };
  explicit Input(IteratorPtr below, Habit habit = Habit::kUsesUp)
      : below_(std::move(below)), habit_(habit) {}
  // Opens input `which` of the operator when it is first read: a pass that is opened and never
  // read leaves what is shared below (a reshuffle seed) alone.
  Input(OpenContext late, std::size_t which, Habit habit)
      : late_(std::move(late)), which_(which), habit_(habit) {}

  Next next(const Demand& demand);
  // Puts back rows that were not used; the next call hands them out first.
  void unread(Chunk rest);
  // The same for what next() just gave: rows, an error or the end.
  void unread(Next given);
  // What becomes of a row that failed: it was passed, unless the error stands in no element's
  // place (there is no memory now): then it comes again. Hands back the error.
  Status pass(Status error, const Chunk& row) {
    if (!is_position(error)) unread(row);
    return error;
  }

  // What was put back, for whoever has ended and will not ask for it.
  std::optional<Chunk> take_rest() { return std::exchange(rest_, std::nullopt); }

  // Rows that next() hands out without asking below.
  std::int64_t unread_rows() const { return rest_ ? rest_->rows() : 0; }

  // Positions handed out so far, unread ones not counted.
  std::int64_t position() const { return position_; }
  // Notes the present state, so that from here on save() never touches the input.
  Status note_now();
  // Everything before `position` will never be needed again. Default for save() is position().
  void forget_before(std::int64_t position);

  // Writes how to come back to `position`, which was not forgotten. Thread-safe against next().
  Status save(StateWriter& out, std::int64_t position) const;
  Status save(StateWriter& out) const { return save(out, position_); }
  Status restore(StateReader& in);
  Iterator& below() { return *below_; }

 private:
  struct Note {
    std::int64_t position;
    StatePtr state;
    OrderMarks orders;  // keep what came behind it
  };
  Status take_note();

  Status open_late();

  std::optional<OpenContext> late_;
  std::size_t which_ = 0;
  IteratorPtr below_;  // null: not opened yet
  const Habit habit_;
  std::optional<Status> failed_;  // put back; before rest_
  std::optional<Chunk> rest_;
  std::int64_t position_ = 0;
  std::int64_t pulled_ = 0;  // positions pulled from below
  std::int64_t next_note_ = 0;
  mutable Mutex mutex_;
  mutable std::deque<Note> notes_ SW_GUARDED_BY(mutex_);
  std::int64_t needed_ SW_GUARDED_BY(mutex_) = 0;
};

}  // namespace spillway
