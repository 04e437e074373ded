#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/base/status.h"
#include "spillway/tensor/chunk.h"

namespace spillway {

class Node;

// What to do with an element that fails. Acts when the row leaves its stage, in order.
struct OnError {
  enum class Action : std::uint8_t { kRaise, kSkip, kRetry, kQuarantine };
  Action action = Action::kRaise;
  std::int64_t retries = 0;      // further attempts before the action
  double backoff_s = 0;          // doubled after each attempt
  std::int64_t max_errors = -1;  // then TooManyErrors; -1: no limit
  double max_error_rate = -1;    // of rows that left, from the 100th on
  std::string quarantine;        // file for kQuarantine
  bool early_end = false;        // also what ends its source
  bool warns = false;            // of each element left out

  bool skips() const { return action == Action::kSkip || action == Action::kQuarantine; }

  // From a node's policy parameters; kUser error for an unknown action or one without its file.
  // `action_param` names the parameter with the action.
  static Result<OnError> of(const Node& node, std::string_view action_param = "on_error");
};

struct CountedError;  // stage.cc

// What the pipeline knows of an element that failed, beyond the words: ErrorInfo::input.
struct FailedRow {
  // The failing stage's, for quarantine; empty: not known. May be left out by those who name
  // fields.
  Chunk input = {};   // NOLINT(readability-redundant-member-init)
  Amount lost{1, 1};  // rows of that stage's input; none: it stands for no row
  std::shared_ptr<CountedError> counted = nullptr;  // by the run's audit
  bool ends_source = false;  // the source gives no more, though it was not at its end
  bool ends_file = false;    // likewise its file, which was read in part
  // Of an interruption: it has reached whoever asked.
  std::shared_ptr<std::atomic<bool>> told = nullptr;
};
FailedRow failed_row(const Status& error);
void set_failed_row(Status& error, FailedRow row);
// `error`, after which the source gives no more: leaving it out would lose all that follows.
Status ending_source(Status error);
// `error`, after which the rest of its file is not read, and the next file follows.
Status ending_file(Status error);
// Of an interruption: whether it has reached whoever asked for elements.
void may_be_told(Status& interruption);
void tell(const Status& interruption);
bool was_told(const Status& interruption);
// `error`, with what is lost with it.
Status losing(Status error, const Amount& lost);

// One element that did not get through.
struct AuditEntry {
  std::string outcome;  // "skipped", "failed", "dropped"; "ended early": a source, with no weight
  Status why;
  std::int64_t weight = 1;  // source rows
  bool ends_file = false;   // the rest of its file was not read
};

// Appends failing inputs to a file, one JSON line each: the error, the address, the stage's input
// as base64 (never pickled), and a checksum. Keyed by address: what is there already is not written
// twice. A line is written whole or not at all.
class Quarantine {
 public:
  static Result<std::shared_ptr<Quarantine>> open(const std::string& path);
  Status add(const Status& error);

 private:
  Quarantine(std::string path, AccountPtr account)
      : path_(std::move(path)), account_(std::move(account)) {}
  void make_room() SW_REQUIRES(mutex_);
  Mutex mutex_;
  const std::string path_;
  const AccountPtr account_;
  Reservation room_ SW_GUARDED_BY(mutex_);
  std::vector<std::uint64_t> seen_ SW_GUARDED_BY(mutex_);  // sorted hashes of keys in the file
  bool cut_off_ SW_GUARDED_BY(mutex_) = false;             // its last line has no end
};

// The inputs in a quarantine file, in its order. The file is not trusted: kData errors name the
// line; nothing in it is executed.
Result<std::vector<ElementPtr>> read_quarantine(const std::string& path, const AccountPtr& account);

}  // namespace spillway
