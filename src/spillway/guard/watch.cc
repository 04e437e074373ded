#include "spillway/guard/watch.h"

#include <algorithm>
#include <functional>
#include <sstream>
#include <utility>

#include "spillway/base/bytes.h"
#include "spillway/base/clock.h"
#include "spillway/base/interrupt.h"
#include "spillway/guard/sandbox.h"
#include "spillway/observe/watchdog.h"

namespace spillway {
namespace {

constexpr std::int64_t kSampleNs = 100'000'000;
constexpr int kStackMs = 5000;  // 4 ms on a quiet machine, also in C code with the GIL
constexpr double kLoadS = 60;
constexpr std::size_t kMostStackShown = 4096;
constexpr std::size_t kMostHolders = 3;

// "Spillway held 3.8 GiB of 4 GiB: shuffle#1 2.9 GiB, map#2 512 MiB; the rest of ..."
std::string holders(Budget& budget) {
  Ledger ledger = budget.ledger();
  std::erase_if(ledger.rows, [](const LedgerRow& row) { return row.depth == 0 || row.held == 0; });
  std::ranges::sort(ledger.rows, std::ranges::greater(), &LedgerRow::held);
  std::ostringstream text;
  text << "Spillway held " << format_bytes(ledger.used) << " of " << format_bytes(ledger.effective);
  for (std::size_t i = 0; i < std::min(ledger.rows.size(), kMostHolders); ++i) {
    text << (i == 0 ? ": " : ", ") << ledger.rows[i].name << " "
         << format_bytes(ledger.rows[i].held);
  }
  text << "; the rest of this process held " << format_bytes(ledger.untracked) << ".";
  return text.str();
}

}  // namespace

Watch::Watch(WorkerPool& pool, WorkerProcess& worker, const GuardRules& rules, std::string what,
             std::int64_t first, const std::atomic<bool>* stop)
    : pool_(pool),
      worker_(worker),
      rules_(rules),
      what_(std::move(what)),
      first_(first),
      stop_(stop),
      on_board_(worker.pid()),
      text_(Doing::current_text()),
      since_(now_ns()),
      sampled_(since_) {}

Watch::~Watch() { note_lasted(now_ns()); }

// Loading modules before the first element says nothing about elements.
void Watch::note_lasted(std::int64_t now) const {
  if (first_ < 0 || row_ >= 0) Board::process().note_lasted(text_, now - since_);
}

bool Watch::late(std::int64_t lasted_ns) const {
  return lasted_ns >
         patience_ns(rules_.report_after_s, Board::process().longest_ns(text_), reports_);
}

bool Watch::operator()() {
  if (stopped_ || unwanted()) return true;
  const std::int64_t now = now_ns();
  const std::int64_t row = worker_.beat().row;
  if (row != row_) {
    note_lasted(now);
    on_board_.at(std::max<std::int64_t>(row, 0));
    row_ = row;
    since_ = now;
    reports_ = 0;
  }
  if (now - sampled_ > kSampleNs) {
    sampled_ = now;
    pool_.sample(worker_);
  }
  const double waited = static_cast<double>(now - since_) / 1e9;
  // Before the first element a worker loads modules, on a machine that may be busy.
  const bool begun = first_ < 0 || row >= 0;
  const double allowed = begun ? rules_.timeout_s : std::max(rules_.timeout_s, kLoadS);
  if (rules_.timeout_s > 0 && waited > allowed) {
    stack_ = ask_where();
    std::ostringstream text;
    text << "its deadline of " << allowed << " s";
    worker_.kill(text.str(), true);
    return true;
  }
  if (late(now - since_)) {
    ++reports_;
    report(waited);
  }
  return false;
}

bool Watch::unwanted() {
  if ((stop_ != nullptr && *stop_) || interrupted()) stopped_ = true;
  return stopped_;
}

void Watch::go_on() { since_ = now_ns(); }

std::string Watch::ask_where() {
  return worker_.stack(kStackMs, [this] { return unwanted(); });
}

void Watch::report(double waited) {
  std::ostringstream text;
  text << what_ << ": worker " << worker_.pid() << " has worked ";
  if (first_ >= 0) text << "on element " << first_ + std::max<std::int64_t>(row_, 0) << " ";
  text << "for " << waited << " s";
  const std::string where = users_part(ask_where());
  if (!where.empty()) text << ". It is here:\n" << where;
  guard_report(text.str());
}

Status worker_died(const Death& death, pid_t pid, const Scene& scene, Budget& budget) {
  std::ostringstream text;
  text << "worker " << pid << " " << death.describe() << " at " << scene.at;
  if (!scene.file.empty()) text << ", file " << scene.file;
  if (scene.attempts > 1) {
    text << ", attempt " << scene.attempts << "; "
         << (scene.attempts == 2 ? "the worker" : "the workers") << " before it died there too";
  }
  text << ".";
  if (death.innocent() && scene.attempts > 1) text << " restarts= says how often to try.";
  // Nobody's memory explains a crash.
  if (death.verdict() == Death::Verdict::kOutOfMemory) text << " " << holders(budget);
  if (!scene.recovered.empty()) text << " " << scene.recovered;
  const std::string where = users_part(scene.stack.empty() ? death.stack : scene.stack);
  if (!where.empty()) text << " Where it was:\n" << where.substr(0, kMostStackShown);
  ErrorInfo info;
  info.kind = ErrorKind::kData;
  info.code = Code::kUnavailable;
  info.type = "WorkerDied";
  if (death.verdict() == Death::Verdict::kOutOfMemory) info.code = Code::kResourceExhausted;
  if (death.verdict() == Death::Verdict::kTooSlow) {
    info.code = Code::kDeadlineExceeded;
    info.type = "StallError";
  }
  info.message = text.str();
  info.attempts = scene.attempts;
  info.file = scene.file;
  return Status(std::move(info));
}

}  // namespace spillway
