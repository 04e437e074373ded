#include "spillway/pipeline/stage.h"

#include "spillway/base/mutant.h"
#include "spillway/memory/slab_pool.h"
#include "spillway/pipeline/run.h"

namespace spillway {

// Where an error in flight is counted. A policy further on may still let it go.
struct CountedError {
  std::weak_ptr<const Run> run;
  StageStats& stats;  // the run's, of the stage that failed
  bool skipped;
  std::int64_t entry;  // the run's; -1: not kept
};

namespace {

// Running out of memory or disk is not: skipping would lose good data. What the user's own code
// found too much for one element is.
bool is_elements_fault(const Status& error) {
  return error.kind() != ErrorKind::kResource || error.info().cause != nullptr ||
         error.info().type == "ElementTooLarge";
}

// "map#1, written at In[5] line 7": where an error came from.
std::string place_of(const ErrorInfo& info) {
  return info.stage + (info.line.empty() ? "" : ", written at " + info.line);
}

std::string elements(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " element" : " elements");
}

// What was not read of a file that was read in part.
std::string rest_of(const ErrorInfo& info) {
  const std::string from =
      info.offset < 0 ? "" : " from byte " + std::to_string(info.offset) + " on";
  return "the rest of " + info.file + from + " was not read, its elements are missing";
}

// What ended early, and what failed; empty: nothing did.
std::string early_end_of(const Status& error) {
  const ErrorInfo& info = error.info();
  const FailedRow row = failed_row(error);
  if (row.ends_source) {
    const std::string after = info.index < 0 ? "" : " after " + elements(info.index);
    return "the source ended early" + after +
           ", what would have followed is missing: " + info.message;
  }
  return row.ends_file ? rest_of(info) + ": " + info.message : "";
}

// What a policy that skips elements does with one whose source gives no more.
void refuse_early_end(Status& error) {
  if (error.info().type == "SourceEndedEarly") return;
  ErrorInfo info = error.info();
  const std::string after = info.index < 0 ? "" : " after " + elements(info.index);
  info.message = "the source ended early" + after +
                 ": it failed and gives no more, so leaving out this element would leave out all " +
                 "that should follow. Mend what failed (in a generator, catch the error and go on "
                 "with the next element), or say early_end=True beside on_error if the elements so "
                 "far are enough. The error: " +
                 info.message;
  info.type = "SourceEndedEarly";
  info.code = Code::kDataLoss;
  error = Status(std::move(info));
}

// Null: not counted yet. A pipeline run by a function has its own audit: to this one its error is
// the function's.
CountedError* counted_in(const Run& run, const Status& error) {
  CountedError* counted = failed_row(error).counted.get();
  return counted != nullptr && counted->run.lock().get() == &run ? counted : nullptr;
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

void Stage::settle(const Chunk& rows) {
  // The first of its size is the guarantee's own: it needs no room in the pool.
  const std::size_t row = largest_row_;
  if (row > guaranteed_ && row >= SlabPool::kLeast && !node_->op().passes_rows &&
      run_.has_floors() && account_->promise_floor(SlabPool::capacity_for(row))) {
    guaranteed_ = row;
  }
  for (const Column& column : rows.columns()) {
    const Tensor first = rows.rows() > 0 ? column.row(0) : Tensor();
    if (first.dtype() == DType::kVariant || !first.has_value()) continue;
    first.buffer()->use_guarantee();
  }
}

bool Stage::settle(Status& error) {
  if (!is_position(error)) return false;
  // An error passing through is another stage's, unless this one was asked to mind them all.
  const bool own = counted_in(run_, error) == nullptr;
  const bool minds_all = node_->op().name == "on_error" || node_->op().name == "ignore_errors";
  if (!own && !minds_all) return false;
  if (mutant("error_dropped")) return true;
  if (own && failed_row(error).ends_source) {
    ErrorInfo info = error.info();
    info.message = early_end_of(error);
    run_.record({"ended early", Status(std::move(info)), 0});
  }
  const bool skipped = is_skipped(error);
  count(error, skipped);
  if (skipped) warn_of(error);
  return skipped;
}

void Stage::warn_of(const Status& error) const {
  const ErrorInfo& info = error.info();
  if (const std::string early = early_end_of(error); !early.empty()) {
    const bool source = failed_row(error).ends_source;  // others there may be any number of
    run_.warn(source ? Run::Warned::kSource : Run::Warned::kElement, place_of(info) + ": " + early);
  } else if (policy_.warns) {
    const std::string index = info.index < 0 ? "" : " " + std::to_string(info.index);
    run_.warn(Run::Warned::kElement,
              name_ + " left out element" + index + " of " + place_of(info) + ": " + info.message);
  }
}

void Stage::ended_after(const Status& error) {
  ErrorInfo info = error.info();
  info.message =
      "the source met its end right after an element that failed: if that ended it, "
      "what would have followed is missing. The error: " +
      info.message;
  Status status(std::move(info));
  stamp(status, -1);
  run_.warn(Run::Warned::kSource, place_of(status.info()) + ": " + status.info().message);
  run_.record({"ended early", std::move(status), 0});
}

// Whether the policy lets it go. If not, `error` says why.
bool Stage::is_skipped(Status& error) {
  if (!policy_.skips() || error.kind() == ErrorKind::kBug || !is_elements_fault(error)) {
    return false;
  }
  if (failed_row(error).ends_source && !policy_.early_end) {
    refuse_early_end(error);
    return false;
  }
  const std::int64_t errors = ++errors_;
  const std::int64_t left = stats_.out.rows + stats_.filtered.rows + errors;
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
    return false;
  }
  if (quarantine_ == nullptr) return true;
  Status written = quarantine_->add(error);
  if (written.ok()) return true;
  set_failed_row(written, failed_row(error));
  error = std::move(written);
  return false;
}

Status Stage::keep_interruption(Status error, std::int64_t index, std::int64_t epoch) {
  may_be_told(error);
  const MutexLock lock(mutex_);
  interruptions_.push_back({index, epoch, error});
  any_interruptions_ = true;
  return error;
}

Status Stage::kept_interruption(std::int64_t index, std::int64_t epoch) {
  if (!any_interruptions_) return {};
  const MutexLock lock(mutex_);
  std::erase_if(interruptions_, [](const Interruption& each) { return was_told(each.error); });
  any_interruptions_ = !interruptions_.empty();
  for (const Interruption& each : interruptions_) {
    if (each.index == index && each.epoch == epoch) return each.error;
  }
  return {};
}

void Stage::count(Status& error, bool skipped) {
  FailedRow row = failed_row(error);
  const Amount lost = row.lost;
  CountedError* counted = counted_in(run_, error);
  if (counted == nullptr) {
    (skipped ? stats_.skipped : stats_.failed).add(lost);
    row.counted =
        std::make_shared<CountedError>(CountedError{run_.weak_from_this(), stats_, skipped, -1});
    counted = row.counted.get();
    set_failed_row(error, std::move(row));
  } else if (skipped && !counted->skipped) {
    counted->skipped = true;
    if (!mutant("counted_twice")) counted->stats.failed.add(Amount{} - lost);
    counted->stats.skipped.add(lost);
  }
  AuditEntry entry{counted->skipped ? "skipped" : "failed", error, lost.weight};
  entry.ends_file = failed_row(error).ends_file;
  if (entry.ends_file) {
    ErrorInfo info = error.info();  // its own: the error itself goes on as it is
    info.message += "; " + rest_of(info);
    entry.why = Status(std::move(info));
  }
  counted->entry = run_.record(std::move(entry), counted->entry);
}

void Stage::drop(const Amount& rows, std::string_view why, std::string origin) {
  stats_.dropped.add(rows);
  if (rows.weight == 0) return;
  Status status = bad_data(Code::kDataLoss, why);
  status.edit().origin = std::move(origin);
  stamp(status, -1);
  run_.record({"dropped", std::move(status), rows.weight});
}

}  // namespace spillway
