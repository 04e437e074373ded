#pragma once

#include <functional>
#include <memory>

#include "spillway/pipeline/function.h"

namespace spillway {

// What a function also is when its calls wait without a thread each: many are under way on one
// event loop. A parallel map begins them here; everybody else uses Function::call, which waits.
class AwaitedFunction {
 public:
  // What cancel() takes. Holds nothing that the call itself does not.
  using Begun = std::shared_ptr<void>;
  // Told once, with neither lock nor interpreter held: on the loop's thread, or inside begin() when
  // the call cannot be made at all. Then let go of: it may own what was begun.
  using Done = std::function<void(Function::Outcome)>;

  virtual ~AwaitedFunction() = default;
  // Begins the call for the one row of `row` and returns. Never waits for the function. What
  // `context` points to lives until `done` was told.
  virtual Begun begin(Chunk row, const CallContext& context, Done done) = 0;
  // Asks the call to end: `done` is still told, with whatever it ends with. Any thread.
  virtual void cancel(const Begun& begun) = 0;
};

}  // namespace spillway
