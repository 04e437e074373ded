#pragma once

#include <memory>
#include <string>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/guard/worker_process.h"

namespace spillway {

// Starts workers from a process of its own, which has loaded what they need and runs no threads:
// forking the user's process would copy locks that its threads hold, and memory that it is short
// of. It begins with the first worker, again when it was killed, and ends with this process,
// whatever becomes of it: then all its workers are killed by the kernel. A spare one is forked
// ahead, while nobody waits for it.
class ForkServer final : public Spawner {
 public:
  // `command` runs it; the number of the socket to speak to is its last argument. `environment`
  // is told to every worker: what it must know of the process that it works for.
  ForkServer(std::vector<std::string> command, std::function<std::string()> environment)
      : command_(std::move(command)), environment_(std::move(environment)) {}
  ~ForkServer() override;

  Result<Spawned> spawn(int shared_memory) override;
  End reap(pid_t pid) override;
  void keep_spare(bool wanted) override;
  std::size_t memory() override;
  void rest() override;

 private:
  enum class Verb : std::uint8_t { kSpawn = 1, kReap = 2, kSpare = 3 };
  Status start() SW_REQUIRES(mutex_);
  void stop() SW_REQUIRES(mutex_);
  Result<Spawned> ask_for_worker(int shared_memory, const std::string& environment)
      SW_REQUIRES(mutex_);

  const HomeProcess home_;
  const std::vector<std::string> command_;
  const std::function<std::string()> environment_;
  Mutex mutex_;
  Channel channel_ SW_GUARDED_BY(mutex_);
  pid_t pid_ SW_GUARDED_BY(mutex_) = -1;
};

}  // namespace spillway
