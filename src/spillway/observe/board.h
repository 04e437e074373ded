#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "spillway/base/mutex.h"
#include "spillway/observe/flight_layout.h"

namespace spillway {

using flight::Phase;

// What the threads of this process are at, in memory that the watchdog reads and, where it lies in
// a file, the next process after this one's death. Of fixed size: what finds no place is not shown.
// A forked child gets a private copy without content: it neither changes nor ends its parent's.
class Board {
 public:
  // Never destroyed.
  static Board& process();

  // The memory, made when it is first wanted; null: there is none to be had.
  flight::Region* region();
  // Null before that.
  flight::Region* made() const { return region_.load(std::memory_order_acquire); }
  // Takes over memory that lies in a file; false: it has some already. `fd` is closed in a forked
  // child, where nothing else of it is left.
  bool adopt(flight::Region* region, int fd);
  // Whether this process was forked from the one that made the memory.
  bool forked() const { return forked_.load(std::memory_order_relaxed); }

  // A number for a text; 0: there are too many. The same for the same text.
  std::uint32_t text(std::string_view words);
  std::string words(std::uint32_t text);
  // Forgets all texts when many are there and nobody is at anything: they are those of pipelines
  // long gone. False: not now.
  bool forget_texts();
  // Changes when texts are forgotten.
  std::uint32_t generation() const { return generation_.load(std::memory_order_relaxed); }

  // What `run` handed on last; the place where the number of the next element of the same chunk
  // goes, null where nothing is recorded.
  std::atomic<std::int64_t>* note_handed(const void* run, std::uint32_t text, std::int64_t element,
                                         std::string_view file);
  // `run` is over: nobody is between two elements of it.
  void forget_handed(const void* run);

  // The longest call of a stage so far, by the watchdog's looks.
  std::int64_t longest_ns(std::uint32_t text) const;
  void note_lasted(std::uint32_t text, std::int64_t ns);

 private:
  Board() = default;
  static void in_child();

  std::atomic<flight::Region*> region_{nullptr};
  std::atomic<bool> forked_{false};
  std::atomic<int> fd_{-1};
  std::atomic<std::uint32_t> generation_{0};
  std::array<std::atomic<std::int64_t>, flight::kTexts> longest_{};
  Mutex mutex_;
  std::uint32_t texts_ SW_GUARDED_BY(mutex_) = 1;  // 0 is no text
};

// Says on the board what this thread is at, for the life of the object. These nest; those beyond
// kLevels are not shown. Costs about 40 ns with its text; waits for nothing.
class Doing {
 public:
  // kNone: says nothing. `run` tells what belongs together.
  Doing(Phase phase, std::uint32_t text, std::int64_t epoch, std::int64_t element, const void* run,
        std::int64_t amount = 0);
  ~Doing();
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;

  // Where the row is told that it is at; null: nobody looks.
  std::atomic<std::int64_t>* row() const { return level_ == nullptr ? nullptr : &level_->row; }

  // The end of a path, for kFile.
  void detail(std::string_view path);

  // The text of the thread's innermost thing; 0: none.
  static std::uint32_t current_text();

 private:
  flight::Level* level_ = nullptr;
  bool counted_ = false;
};

// The thread's innermost thing is done by a worker process, for the life of the object.
class DoneByWorker {
 public:
  // 0: it is being started.
  explicit DoneByWorker(std::int64_t pid);
  ~DoneByWorker();
  DoneByWorker(const DoneByWorker&) = delete;
  DoneByWorker& operator=(const DoneByWorker&) = delete;

  // The row that the worker is at.
  void at(std::int64_t row) const {
    if (level_ != nullptr) level_->row.store(row, std::memory_order_relaxed);
  }

 private:
  flight::Level* const level_;
  std::uint32_t before_ = 0;
};

// The number of "NAME (WHAT), LINE", from the thread's own memory of the last ones.
std::uint32_t stage_text(std::string_view name, std::string_view what, std::string_view line);

}  // namespace spillway
