#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/memory/budget.h"

namespace spillway {

// The line of the ledger for the reports of all passes.
AccountPtr reports_of(Budget& budget);

// What a pass held and did, from moment to moment: at most kMost points whatever it lasts. When
// they are too many, or the budget has no room for more, every second one goes and later ones are
// taken half as often. Charged; a budget without any room keeps no points. Thread-safe.
class Timeline {
 public:
  static constexpr std::size_t kMost = 600;
  static constexpr std::size_t kMostStages = 32;  // those further on are in `used` only

  struct OfStage {
    std::int64_t held = 0;     // bytes
    std::int64_t busy_ns = 0;  // since the beginning
    std::int64_t wait_ns = 0;
    std::int64_t rows = 0;
  };
  struct Point {
    std::int64_t at_ns = 0;  // since the beginning
    std::int64_t used = 0;   // of the budget, by all pipelines
    std::int64_t limit = 0;  // as it was at that moment
    std::int64_t untracked = 0;
    std::vector<OfStage> stages;
  };

  Timeline(Budget& budget, std::int64_t begun_ns) : budget_(budget), begun_ns_(begun_ns) {}

  // Whether a point is due: `every_ns` is the pace before anything was thinned out.
  bool due(std::int64_t now_ns, std::int64_t every_ns) const;
  // `at_ns` of the point is set here.
  void add(std::int64_t now_ns, Point point);
  std::vector<Point> points() const;
  std::int64_t begun_ns() const { return begun_ns_; }

 private:
  bool make_room(std::size_t a_point) SW_REQUIRES(mutex_);
  void thin_out() SW_REQUIRES(mutex_);

  Budget& budget_;
  const std::int64_t begun_ns_;
  mutable Mutex mutex_;
  std::vector<Point> points_ SW_GUARDED_BY(mutex_);
  std::int64_t stride_ SW_GUARDED_BY(mutex_) = 1;
  Reservation paid_ SW_GUARDED_BY(mutex_);
};

}  // namespace spillway
