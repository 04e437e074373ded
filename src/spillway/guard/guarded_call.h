#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "spillway/base/mutex.h"
#include "spillway/guard/cargo.h"
#include "spillway/guard/watch.h"

namespace spillway {

// Any callable of the front's in a worker of its own, kept warm between calls. When the worker dies
// of a call, that call fails (after its restarts) and the next one finds a new worker, set up as
// the first was. One call at a time; whoever comes meanwhile waits.
class GuardedCall {
 public:
  // `setup` is handed to every new worker before its first call. `what`: its name in messages.
  GuardedCall(std::shared_ptr<WorkerPool> pool, CargoPtr setup, std::string what, GuardRules rules);
  ~GuardedCall();

  // The front's answer to its request; an error that the worker's front gave, or the worker's
  // death.
  Result<Parcel> call(const Parcel& request, const AccountPtr& account);
  // Ends the worker; a call under way is given up.
  void close();

 private:
  struct Answer {
    Result<Parcel> parcel = cancelled();
    bool died = false;
    bool stopped = false;
    std::string stack;
    // What the worker was lent: nobody else's before it is known to be dead.
    SharedMemory::Piece input;
    SharedMemory::Piece room;
  };
  // While a thread has it, it alone calls; nobody waits for it under a lock, so everybody hears
  // Ctrl-C. First come, first served.
  class Turn;
  // Whoever has the turn.
  Result<Parcel> call_in_turn(const Parcel& request, const AccountPtr& account);
  Status start(const AccountPtr& account);
  Status bury(const Answer& answer, int deaths, std::string_view at);
  // Without a request: sets the worker up.
  Answer ask(const Parcel* request, const GuardRules& rules, const AccountPtr& account);

  const std::shared_ptr<WorkerPool> pool_;
  const CargoPtr setup_;
  const std::string what_;
  const GuardRules rules_;
  std::atomic<bool> closed_{false};
  Mutex mutex_;
  CondVar ended_;
  std::uint64_t next_ SW_GUARDED_BY(mutex_) = 0;
  std::set<std::uint64_t> waiting_ SW_GUARDED_BY(mutex_);  // and the one whose turn it is, first
  // Of whoever has the turn.
  WorkerPtr worker_;
  std::size_t room_ = SharedMemory::kPage;
};

}  // namespace spillway
