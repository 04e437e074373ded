#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spillway/base/forks.h"
#include "spillway/base/mutex.h"
#include "spillway/base/status.h"

namespace spillway {

// How full the container is at this moment, and what this process has still to fill of what it
// allocated. The container is the tightest of: every memory cgroup that the process is in, the
// machine, a resource limit that somebody else set.
struct Room {
  std::size_t limit = 0;
  std::size_t used = 0;    // in physical memory there, of all processes, not droppable
  std::size_t own = 0;     // anonymous memory of this process in physical memory
  std::size_t shared = 0;  // pages of this process that others may map, too: files, shared memory
  std::size_t mapped = 0;  // private writable address space of this process (VmData)
  std::size_t untouched = 0;  // allocated by this process, not in physical memory yet
  std::size_t settled = 0;    // the same as the last close look told it
  const char* bound_by = "the machine";

  // Beyond what is used, and beyond what will be used when everything is touched. Never negative.
  std::size_t unused() const { return limit > used ? limit - used : 0; }
  std::size_t left() const { return unused() > untouched ? unused() - untouched : 0; }
};

// Reads it. Thread-safe; allocates nothing after the first look, so that an allocator may ask.
// After a fork the child's is made anew at its first look. `root` replaces "/" in tests.
class RoomGauge {
 public:
  static RoomGauge& process();
  explicit RoomGauge(std::string root = "") : root_(std::move(root)) {}
  RoomGauge(const RoomGauge&) = delete;
  RoomGauge& operator=(const RoomGauge&) = delete;
  ~RoomGauge();

  // About 5 us. What is untouched is an upper bound: address space that was neither touched nor
  // found to be of no concern by the last close look.
  Room look();
  // Reads every mapping of the process to tell arrays that nobody has written to yet from address
  // space that nobody means to fill (stacks of threads, reserves of allocators): 5 ms a GiB.
  Room look_closely();

 private:
  struct Level {  // a cgroup with a limit
    std::size_t limit = 0;
    int usage = -1;
    int stat = -1;
    std::size_t droppable = 0;  // of its usage, as last read
    std::size_t others = 0;     // used by anybody but this process, as last read
  };
  void open_files() SW_REQUIRES(mutex_);
  void close_files() SW_REQUIRES(mutex_);
  void open_levels() SW_REQUIRES(mutex_);
  void add_level(const std::string& folder, bool v2) SW_REQUIRES(mutex_);
  Room read(bool stats) SW_REQUIRES(mutex_);
  std::size_t used_of(Level& level, std::size_t own, bool stats) SW_REQUIRES(mutex_);
  std::optional<std::size_t> untouched_mappings() SW_REQUIRES(mutex_);

  const std::string root_;
  Mutex mutex_;
  int opened_in_ SW_GUARDED_BY(mutex_) = -1;  // forks() when the files were opened
  int statm_ SW_GUARDED_BY(mutex_) = -1;
  int meminfo_ SW_GUARDED_BY(mutex_) = -1;
  std::vector<Level> levels_ SW_GUARDED_BY(mutex_);
  std::vector<char> text_ SW_GUARDED_BY(mutex_);  // what a file says
  std::int64_t opened_ns_ SW_GUARDED_BY(mutex_) = 0;
  std::int64_t stats_ns_ SW_GUARDED_BY(mutex_) = 0;
  std::size_t of_no_concern_ SW_GUARDED_BY(mutex_) = 0;  // untouched, and nobody means to fill it
  std::size_t settled_ SW_GUARDED_BY(mutex_) = 0;
};

// What is kept free for what nobody asks about before it happens: tables of pages, the interpreter
// itself, the traceback of the error that tells. 4 % of the container, 16 to 256 MiB. It is smaller
// than what pipelines leave (container_reserve), so they give way to the user's own allocations.
std::size_t kept_free(std::size_t limit);

// What somebody is told whose allocation failed: a BudgetError with the numbers.
Status container_is_full();

}  // namespace spillway
