#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "spillway/tensor/chunk.h"

namespace spillway {

class RowGatherer;

struct CallContext {
  const AccountPtr& account;  // pays for the outputs
  std::int64_t first_index;   // ordinal of the first row in the stage's input, this epoch
  std::int64_t epoch;
  // Once the results have so many bytes, or the time is over, the rest may be left for another
  // call; never before one row is done.
  std::size_t bytes = SIZE_MAX;
  std::int64_t deadline_ns = INT64_MAX;
  RowGatherer* batch = nullptr;             // results may be made in their places there
  const std::atomic<bool>* stop = nullptr;  // set: the results are not wanted any more
  std::atomic<std::int64_t>* at = nullptr;  // told the row that is being called
};

// The seam behind which a user's function lives: a chunk in, a chunk out. Semantics are exactly
// per element: called once a row, in order, stopping at the first row that fails. A front wraps
// its callables in one; a native graph takes the same place. Thread-safe; called on any thread.
class Function {
 public:
  struct Outcome {
    Chunk out;     // results of the rows before the failing or the first left one; no origins
    Status error;  // of row out.rows(), when not ok
    std::int64_t cpu_ns = 0;  // spent in another process
  };
  virtual ~Function() = default;

  virtual Outcome call(const Chunk& rows, const CallContext& context) = 0;
  // The declared result; null: known from the first real element on.
  virtual StructurePtr output() const = 0;
  // What the spec's hash takes of it: its code, not its line, name or closure.
  virtual std::string code() const = 0;
  virtual std::string name() const = 0;
  // Waits for an interpreter lock: runs on blocking threads, not on the compute pool.
  virtual bool holds_interpreter() const = 0;
  // Why it runs as the front's own code and not natively; empty where there is nothing to say.
  virtual std::string why() const { return {}; }
  // No effects that anybody could see: may be called ahead, again, or never.
  virtual bool pure() const { return false; }
  // Whether it can fail on some element.
  virtual bool fallible() const { return true; }
  // Runs natively, but row by row: worth several threads where it was given several calls.
  virtual bool row_by_row() const { return false; }
  // Held by a pass that will call it: keeps what a first call cannot do without. May be null.
  virtual std::shared_ptr<void> guarantee() { return nullptr; }
  // One function that does `inner` and then this, with the same results; null: they stay two.
  virtual std::shared_ptr<Function> after(const std::shared_ptr<Function>& inner);
  // A function of elements of `input` that gives them back, and this one's result behind them:
  // after() then makes both at once. Null: not here.
  virtual std::shared_ptr<Function> beside(const StructurePtr& input);
};
using FunctionPtr = std::shared_ptr<Function>;

inline FunctionPtr Function::after(const FunctionPtr& /*inner*/) { return nullptr; }
inline FunctionPtr Function::beside(const StructurePtr& /*input*/) { return nullptr; }

}  // namespace spillway
