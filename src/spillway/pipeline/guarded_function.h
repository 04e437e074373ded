#pragma once

#include <map>
#include <memory>
#include <string>

#include "spillway/base/mutex.h"
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
  GuardedFunction(FunctionPtr inner, std::string travels, std::shared_ptr<WorkerPool> pool,
                  GuardRules rules);

  Outcome call(const Chunk& rows, const CallContext& context) override;
  StructurePtr output() const override { return inner_->output(); }
  std::string code() const override { return inner_->code(); }
  std::string name() const override { return inner_->name(); }
  bool holds_interpreter() const override { return true; }
  std::string why() const override;

 private:
  struct Answer {
    Outcome outcome;
    bool died = false;
    bool stopped = false;
    std::string stack;  // of one that was ended for its deadline
    // What the worker was lent: nobody else's before it is known to be dead.
    SharedMemory::Piece input;
    SharedMemory::Piece room;
  };
  // A place among the calls that may run at a time.
  class Turn;
  Outcome call_in_turn(const Chunk& rows, const CallContext& context);
  Answer ask(WorkerProcess& worker, const Chunk& rows, const CallContext& context);
  bool load(WorkerProcess& worker, Watch& watch);
  static Outcome read_answer(WorkerProcess& worker, const std::string& answer,
                             const AccountPtr& account, SharedMemory::Piece room,
                             SharedMemory::Piece& input);

  using Element = std::pair<std::int64_t, std::int64_t>;  // epoch, index
  // What is held against an element.
  struct Blame {
    int deaths = 0;         // of workers
    std::int64_t lost = 0;  // rows before it whose results were lost with the first
  };
  Blame blame_of(Element element);
  void blame(Element element, Blame blame);
  void acquit(Element element);
  Scene scene_of(const Chunk& rows, const CallContext& context, const Blame& blame,
                 std::string stack) const;

  const FunctionPtr inner_;
  const std::string travels_;
  const std::shared_ptr<WorkerPool> pool_;
  const GuardRules rules_;
  PassSeeds seeds_;
  const std::uint64_t id_;
  Mutex mutex_;
  CondVar ended_;
  int running_ SW_GUARDED_BY(mutex_) = 0;
  std::map<Element, Blame> blamed_ SW_GUARDED_BY(mutex_);
};

}  // namespace spillway
