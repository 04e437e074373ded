#pragma once

#include <string>

#include "spillway/observe/watchdog.h"
#include "spillway/pipeline/run.h"

namespace spillway {

// A run under the watchdog's eyes, for the life of the object, which the run outlives.
class WatchedRun final : public Watched {
 public:
  explicit WatchedRun(const Run& run) : run_(run) { Watchdog::process().watch(*this); }
  ~WatchedRun() override { Watchdog::process().unwatch(*this); }
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;

  const void* run() const override { return &run_; }
  std::uint64_t moved() const override;
  std::string progress() const override;
  LedgerSample sample() const override;
  std::string ledger() const override;

 private:
  const Run& run_;
};

// Says on the board what a thread does for a stage. `what`: the function's name.
std::uint32_t text_of(const Stage& stage, std::string_view what = "");

}  // namespace spillway
