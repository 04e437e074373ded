#include "spillway/pipeline/timeline.h"

#include <algorithm>

namespace spillway {
namespace {

constexpr std::size_t kFirst = 16;  // points paid for at first; then twice as many each time

}  // namespace

AccountPtr reports_of(Budget& budget) {
  if (&budget != &Budget::process()) return budget.open_account("reports");
  static const auto& account = *new AccountPtr(budget.open_account("reports"));
  return account;
}

bool Timeline::due(std::int64_t now_ns, std::int64_t every_ns) const {
  const MutexLock lock(mutex_);
  const std::int64_t last = points_.empty() ? 0 : points_.back().at_ns;
  return now_ns - begun_ns_ - last >= every_ns * stride_;
}

void Timeline::add(std::int64_t now_ns, Point point) {
  point.at_ns = now_ns - begun_ns_;
  if (point.stages.size() > kMostStages) point.stages.resize(kMostStages);
  const MutexLock lock(mutex_);
  if (points_.size() >= kMost) thin_out();
  if (make_room(sizeof(Point) + point.stages.size() * sizeof(OfStage))) {
    points_.push_back(std::move(point));
  }
}

std::vector<Timeline::Point> Timeline::points() const {
  const MutexLock lock(mutex_);
  return points_;
}

// For one more point; false: there is none, and none to be had.
bool Timeline::make_room(std::size_t a_point) {
  if ((points_.size() + 1) * a_point <= paid_.bytes()) return true;
  const std::size_t wanted = std::clamp(points_.size() * 2, kFirst, kMost);
  if (auto more = reports_of(budget_)->try_reserve(wanted * a_point)) {
    more->touch();
    points_.reserve(wanted);
    paid_ = std::move(*more);
    return true;
  }
  thin_out();
  return (points_.size() + 1) * a_point <= paid_.bytes();
}

// The last one stays: what follows is measured from there.
void Timeline::thin_out() {
  if (points_.size() < 2) return;
  std::size_t kept = 0;
  for (std::size_t i = points_.size() % 2 == 0 ? 1 : 0; i < points_.size(); i += 2) {
    if (kept != i) points_[kept] = std::move(points_[i]);
    ++kept;
  }
  points_.resize(kept);
  stride_ *= 2;
}

}  // namespace spillway
