#include "spillway/pipeline/input.h"

#include <algorithm>

#include "spillway/base/mutant.h"
#include "spillway/pipeline/run.h"

namespace spillway {
namespace {

// Notes are few and small: beyond this many every other one goes.
constexpr std::size_t kMostNotes = 32;
// A note may cost about this many bytes a position.
constexpr std::size_t kBytesPerPosition = 64;
// In place of the positions to pass over, in a state.
constexpr std::int64_t kNotOpened = -2;

}  // namespace

Status Input::open_late() {
  if (below_ != nullptr) return {};
  SW_ASSIGN(below_, late_->open_input(which_));
  return {};
}

Status Input::note_now() {
  SW_RETURN_IF_ERROR(open_late());
  return pulled_ >= next_note_ ? take_note() : Status();
}

Next Input::next(const Demand& demand) {
  SW_RETURN_IF_ERROR(open_late());
  if (habit_ == Habit::kUsesUp) forget_before(position_);
  if (failed_) {
    ++position_;
    Status error = std::move(*failed_);
    failed_.reset();
    return error;
  }
  if (rest_) {
    Chunk all = std::move(*rest_);
    rest_.reset();
    const std::int64_t rows = std::min(demand.rows, all.rows());
    if (rows < all.rows()) rest_ = all.slice(rows, all.rows());
    position_ += rows;
    return std::optional<Chunk>(rows < all.rows() ? all.slice(0, rows) : std::move(all));
  }
  if (pulled_ >= next_note_) SW_RETURN_IF_ERROR(take_note());
  Next next = below_->next(demand);
  // Not an element: nothing was passed.
  const bool stopped = !next.ok() && !is_position(next.error());
  const std::int64_t positions = stopped        ? 0
                                 : !next.ok()   ? 1
                                 : next.value() ? next.value()->rows()
                                                : 0;
  pulled_ += positions;
  position_ += positions;
  return next;
}

void Input::unread(Chunk rest) {
  position_ -= rest.rows();
  if (rest_) {
    const Chunk both[] = {std::move(rest), std::move(*rest_)};
    rest_ = join_rows(both[0].structure(), both);
  } else {
    rest_ = std::move(rest);
  }
}

void Input::unread(Next given) {
  if (given.ok()) {
    if (given.value()) unread(std::move(*given.value()));
  } else if (is_position(given.error())) {
    --position_;
    failed_ = std::move(given).status();
  }
}

Status Input::take_note() {
  StatePtr state;
  {
    // Whoever noted the state of the operator above had this one noted, too.
    const MutexLock lock(mutex_);
    if (!notes_.empty() && notes_.back().position == pulled_) state = notes_.back().state;
  }
  const bool noted = state != nullptr;
  OrderMarks orders;
  if (!noted) {
    StateWriter writer;
    {
      const OrderMarks::Taking here(below_->stage().run().orders(), orders);
      SW_RETURN_IF_ERROR(below_->save(writer));
    }
    SW_RETURN_IF_ERROR(writer.status());
    state = std::move(writer).share();
  }
  const MutexLock lock(mutex_);
  const auto spacing = static_cast<std::int64_t>(state->size() / kBytesPerPosition);
  if (!noted) notes_.push_back({pulled_, std::move(state), std::move(orders)});
  if (notes_.size() > kMostNotes) {
    for (std::size_t i = 1; i + 1 < notes_.size(); ++i) {
      notes_.erase(notes_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  const std::int64_t covered = pulled_ - notes_.front().position;
  next_note_ = pulled_ + std::max<std::int64_t>(
                             {1, spacing, covered / static_cast<std::int64_t>(kMostNotes)});
  return {};
}

void Input::forget_before(std::int64_t position) {
  const MutexLock lock(mutex_);
  needed_ = position;
  while (notes_.size() > 1 && notes_[1].position <= position) notes_.pop_front();
}

Status Input::save(StateWriter& out, std::int64_t position) const {
  const MutexLock lock(mutex_);
  const Note* best = nullptr;
  for (const Note& note : notes_) {
    if (note.position <= position) best = &note;
  }
  out.put(position);
  if (best == nullptr) {
    // Nothing was pulled yet: the input is where it was opened or restored to.
    if (below_ == nullptr) {
      out.put(kNotOpened);
      StateWriter shared;
      save_shared(*late_->node().inputs()[which_], shared);
      out.put(shared.bytes());
      return {};
    }
    if (position != position_) return internal_bug("checkpoint: position ", position, " forgotten");
    StateWriter below;
    OrderMarks orders;
    {
      const OrderMarks::Taking here(below_->stage().run().orders(), orders);
      SW_RETURN_IF_ERROR(below_->save(below));
    }
    SW_RETURN_IF_ERROR(below.status());
    // A chain of stages that begins is noted once, not once for each of them.
    notes_.push_back({position_, std::move(below).share(), std::move(orders)});
    best = &notes_.back();
  }
  out.put(position - best->position);
  out.put(best->state);
  best->orders.pass_on();
  return {};
}

Status Input::restore(StateReader& in) {
  std::int64_t passed = 0;
  std::string_view state;
  SW_RETURN_IF_ERROR(in.get_count(position_));
  SW_RETURN_IF_ERROR(in.get(passed));
  SW_RETURN_IF_ERROR(in.get(state));
  pulled_ = position_;
  next_note_ = position_;
  {
    // Of where it stood before: saved, it was noted there.
    const MutexLock lock(mutex_);
    notes_.clear();
  }
  StateReader below(state);
  if (passed == kNotOpened) {
    if (!late_) return invalid_argument("checkpoint: bad position");
    return restore_shared(*late_->node().inputs()[which_], below);
  }
  SW_RETURN_IF_ERROR(open_late());
  if (position_ < 0 || passed > position_) return invalid_argument("checkpoint: bad position");
  SW_RETURN_IF_ERROR(below_->restore(below));
  if (mutant("delivered_twice") && passed > 0) --passed;
  if (mutant("lost_at_restore")) passed = std::max<std::int64_t>(passed, 0) + 1;
  if (passed > 0) SW_RETURN_IF_ERROR(below_->skip(passed));
  const MutexLock lock(mutex_);
  needed_ = position_;
  return {};
}

}  // namespace spillway
