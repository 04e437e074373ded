#pragma once

#include <cstdint>
#include <memory>

#include "spillway/pipeline/input.h"
#include "spillway/pipeline/run.h"

namespace spillway {

// A driver thread that pulls from an input before it is asked to: prefetch, and the look-ahead at
// the root. Bounded in rows and bytes: beyond the row that is waited for, it pulls only while the
// pool has room for one more of the largest seen.
//
// The thread starts with the first next(). Destruction asks it to stop and waits for a short while;
// a thread stuck in user code is left behind, owning all it uses.
class Ahead {
 public:
  struct Limits {
    std::int64_t rows = 1;  // most rows made and not yet taken; -1: tuned by itself
    std::int64_t rows_a_pull = 1;
    std::size_t bytes = 64 << 20;
  };
  // Goes on where `input` is.
  Ahead(Stage& stage, std::unique_ptr<Input> input, Limits limits);
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  // Begins to pull now rather than with the first next().
  void start();
  // Whether next() has a row to hand out without waiting.
  bool ready() const;
  // In order, errors in position. Waits when nothing is there.
  Next next(const Demand& demand);

  // Of the first row not yet handed out, or of an earlier one of the last next(); does not wait
  // for a pull in progress.
  Status save(StateWriter& out) const;
  Status save(StateWriter& out, std::int64_t position) const;
  Status restore(StateReader& in);  // before the first next()

 private:
  struct State;
  static void drive(const std::shared_ptr<State>& state);
  std::shared_ptr<State> state_;
};

}  // namespace spillway
