#include "spillway/pipeline/stage.h"

#include "spillway/base/mutant.h"
#include "spillway/memory/slab_pool.h"
#include "spillway/pipeline/run.h"

namespace spillway {
namespace {

// Running out of memory or disk is not: skipping would lose good data. What the user's own code
// found too much for one element is.
bool is_elements_fault(const Status& error) {
  return error.kind() != ErrorKind::kResource || error.info().cause != nullptr ||
         error.info().type == "ElementTooLarge";
}

}  // namespace

Status Stage::set_policy(OnError policy) {
  policy_ = std::move(policy);
  if (policy_.action == OnError::Action::kQuarantine) {
    SW_ASSIGN(quarantine_, run_.quarantine(policy_.quarantine));
  }
  return {};
}

Status Stage::set_own_policy() {
  if (node_->op().params.policy().empty()) return {};
  SW_ASSIGN(OnError policy, OnError::of(*node_));
  return set_policy(std::move(policy));
}

void Stage::set_retries(const OnError& from) {
  policy_.retries = from.retries;
  policy_.backoff_s = from.backoff_s;
}

void Stage::stamp(Status& error, std::int64_t epoch) const {
  if (!error.info().stage.empty()) return;
  ErrorInfo& info = error.edit();
  info.stage = name_;
  if (info.line.empty() && !mutant("line_missing")) info.line = node_->line();
  if (info.epoch < 0) info.epoch = epoch;
}

Status Stage::guarantee() {
  const std::size_t row = largest_row_;
  if (row <= guaranteed_ || row < SlabPool::kLeast) return {};
  if (node_->op().passes_rows || !run_.has_floors()) return {};
  const Status raised = account_->raise_floor(SlabPool::capacity_for(row));
  if (!raised.ok() && raised.info().type == "FloorTooHigh") return run_.floors_refused(*this);
  guaranteed_ = row;  // or not now: others hold too much
  return {};
}

bool Stage::settle(Status& error) {
  // An error passing through is another stage's, unless this one was asked to mind them all.
  const bool minds_all = node_->op().name == "on_error" || node_->op().name == "ignore_errors";
  if (!minds_all && error.info().stage != name_) return false;
  if (!is_position(error) || error.kind() == ErrorKind::kBug) return false;
  if (mutant("error_dropped")) return true;
  if (!policy_.skips() || !is_elements_fault(error)) {
    ++stats_.failed;
    run_.record({"failed", error, 1});
    return false;
  }
  const std::int64_t errors = ++errors_;
  const std::int64_t left = stats_.rows + stats_.filtered + errors;
  const bool too_many = policy_.max_errors >= 0 && errors > policy_.max_errors;
  const bool too_often =
      policy_.max_error_rate >= 0 && left >= 100 &&
      static_cast<double>(errors) > policy_.max_error_rate * static_cast<double>(left);
  if (too_many || too_often) {
    ErrorInfo info = error.info();
    info.type = "TooManyErrors";
    info.message = (too_many ? std::to_string(errors) + " elements failed, max_errors is " +
                                   std::to_string(policy_.max_errors)
                             : std::to_string(errors) + " of " + std::to_string(left) +
                                   " elements failed, max_error_rate is " +
                                   std::to_string(policy_.max_error_rate)) +
                   "; the last: " + info.message;
    error = Status(std::move(info));
    ++stats_.failed;
    run_.record({"failed", error, 1});
    return false;
  }
  if (quarantine_ != nullptr) {
    if (Status written = quarantine_->add(error); !written.ok()) {
      error = std::move(written);
      return false;
    }
  }
  ++stats_.skipped;
  run_.record({"skipped", error, 1});
  return true;
}

}  // namespace spillway
