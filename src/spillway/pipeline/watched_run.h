#pragma once

#include <string>

#include "spillway/observe/watchdog.h"
#include "spillway/pipeline/run.h"
#include "spillway/pipeline/timeline.h"

namespace spillway {

// A run under the watchdog's eyes, for the life of the object, which the run outlives.
class WatchedRun final : public Watched {
 public:
  // Without a timeline nothing of it is kept.
  explicit WatchedRun(const Run& run, std::shared_ptr<Timeline> timeline = nullptr)
      : run_(run), timeline_(std::move(timeline)) {
    Watchdog::process().watch(*this);
  }
  ~WatchedRun() override { Watchdog::process().unwatch(*this); }
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

  const void* run() const override { return &run_; }
  std::uint64_t moved() const override;
  std::string progress() const override;
  LedgerSample sample() const override;
  std::string ledger() const override;
  // A point of the run's timeline.
  void note(std::int64_t now_ns) const override;

 private:
  const Run& run_;
  const std::shared_ptr<Timeline> timeline_;
};

// Says on the board what a thread does for a stage. `what`: the function's name.
std::uint32_t text_of(const Stage& stage, std::string_view what = "");

}  // namespace spillway
