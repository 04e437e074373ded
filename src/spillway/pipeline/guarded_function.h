#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "spillway/base/mutex.h"
#include "spillway/guard/blame.h"
#include "spillway/guard/cargo.h"
#include "spillway/guard/message.h"
#include "spillway/guard/pass_seeds.h"
#include "spillway/guard/watch.h"
#include "spillway/pipeline/function.h"

namespace spillway {

// A function that runs in worker processes: it may crash, leak, hang or be killed, and this process
// goes on. Each call leases a worker for its rows; results count when all of them have arrived. Of
// a worker that died, rows before the one it was at are called again in another, and that one
// alone in a fresh worker; only when it kills that too is it the element's error. Somebody else's
// kill is nobody's fault and is tried again. So every row is delivered once, while effects of its
// call may happen more often.
class GuardedFunction final : public Function {
 public:
  // `inner` is not called here: it knows name, code and declared result. `travels`: what a worker
  // makes its own of.
  GuardedFunction(FunctionPtr inner, CargoPtr travels, std::shared_ptr<WorkerPool> pool,
                  GuardRules rules);

  Outcome call(const Chunk& rows, const CallContext& context) override;
  StructurePtr output() const override { return inner_->output(); }
  std::string code() const override { return inner_->code(); }
  std::string name() const override { return inner_->name(); }
  bool holds_interpreter() const override { return true; }
  std::string why() const override;
  std::shared_ptr<void> guarantee() override {
    return std::make_shared<WorkerPool::Guarantee>(pool_);
  }

  // How many rows had better travel together: as many as take about five milliseconds and fill a
  // few MiB, by what the last calls took. One before anything is known.
  std::int64_t rows_together() const;
  // Calls at a time, each in a worker of its own.
  int most_calls() const;

 private:
  struct Answer {
    Outcome outcome;
    bool died = false;
    bool stopped = false;
    Status refused;        // why there was no room for what it brought back
    bool damaged = false;  // it answered what makes no sense
    std::string stack;     // of one that was ended for its deadline
    // What the worker was lent: nobody else's before it is known to be dead.
    SharedMemory::Piece input;
    SharedMemory::Piece room;
    SharedMemory::Piece more;  // for results that `room` had no place for
  };
  // A place among the calls that may run at a time.
  class Turn;
  Outcome call_in_turn(const Chunk& rows, const CallContext& context);
  Answer ask(WorkerProcess& worker, const Chunk& rows, const CallContext& context);
  Status lend(SharedMemory& memory, const Chunk& rows, const CallContext& context,
              Answer& answer) const;
  bool load(WorkerProcess& worker, Watch& watch);
  // Of a call for `rows` rows.
  void read_answer(WorkerProcess& worker, const std::string& got, std::int64_t rows,
                   const AccountPtr& account, Answer& answer);
  // One part of the results, of `most` rows at most, in the room where they lie.
  void read_rows(WorkerProcess& worker, MessageReader& in, std::int64_t most,
                 const AccountPtr& account, SharedMemory::Piece room, Answer& answer);
  std::size_t room_for(std::int64_t rows) const;
  void note_time(std::int64_t rows, std::int64_t ns);
  void note_bytes(std::int64_t rows, std::size_t bytes);

  using Element = BlameBook::Element;
  Scene scene_of(const Chunk& rows, const CallContext& context, const Blame& blame,
                 std::string stack) const;

  const FunctionPtr inner_;
  const CargoPtr travels_;
  const std::shared_ptr<WorkerPool> pool_;
  const GuardRules rules_;
  PassSeeds seeds_;
  const std::uint64_t id_;
  // What a row took lately; from any thread, only estimates. 0: nothing known.
  std::atomic<std::int64_t> row_ns_{0};
  std::atomic<std::size_t> row_bytes_{0};
  std::atomic<std::int64_t> together_{1};
  Mutex mutex_;
  CondVar ended_;
  int running_ SW_GUARDED_BY(mutex_) = 0;
  std::multiset<Element> waiting_ SW_GUARDED_BY(mutex_);  // for their turn
  BlameBook blamed_;
};

}  // namespace spillway
