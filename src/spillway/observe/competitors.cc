#include "spillway/observe/competitors.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "spillway/base/bytes.h"
#include "spillway/observe/watchdog.h"

namespace spillway {
namespace {

constexpr std::int64_t kMinuteNs = 60'000'000'000;
constexpr std::int64_t kUnseen = -1;  // stands for processes that cannot be seen
constexpr std::uint64_t kLeastTaken = 32 * kMiB;
constexpr std::size_t kMostNamed = 3;
constexpr std::size_t kMostAsked = 16;
constexpr std::size_t kMostCommand = 120;

struct Disregarded {
  Mutex mutex;
  std::set<pid_t> pids SW_GUARDED_BY(mutex);
};
Disregarded& disregarded() {
  static auto& one = *new Disregarded;
  return one;
}

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::int64_t> pids_in(const std::string& folder) {
  std::vector<std::int64_t> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(folder.c_str()), closedir);
  if (dir == nullptr) return out;
  while (const dirent* entry = readdir(dir.get())) {
    if (const auto pid = number(entry->d_name)) out.push_back(*pid);
  }
  return out;
}

// The arguments with spaces between them; the name in brackets, as ps has it, where there are none.
std::string command_of(const std::string& root, std::int64_t pid, const std::string& name) {
  std::string line = slurp(root + "/proc/" + std::to_string(pid) + "/cmdline");
  while (!line.empty() && line.back() == '\0') line.pop_back();
  if (line.empty()) return "[" + name + "]";
  // What a terminal would take for a command is not shown to it.
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  if (line.size() > kMostCommand) line = line.substr(0, kMostCommand - 3) + "...";
  return line;
}

// The memory cgroup of a process; empty: there is none to be seen.
std::string group_of(const std::string& root, const std::string& pid) {
  std::istringstream lines(slurp(root + "/proc/" + pid + "/cgroup"));
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers.find(",memory,") != std::string::npos) return line.substr(second + 1);
    if (controllers == ",,") found = line.substr(second + 1);
  }
  return found;
}

// How much must be taken to be worth a word.
std::uint64_t notable(const LedgerSample& sample) {
  return std::max(kLeastTaken, sample.asked / 20);
}

}  // namespace

void disregard_process(pid_t pid) {
  Disregarded& all = disregarded();
  const MutexLock lock(all.mutex);
  all.pids.insert(pid);
}

CompetitorWatch& CompetitorWatch::process() {
  static auto& one = *new CompetitorWatch;
  return one;
}

CompetitorWatch::Processes CompetitorWatch::read() const {
  static const auto kPage = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  Processes out;
  for (const std::int64_t pid : pids_in(root_ + "/proc")) {
    const std::string text = slurp(root_ + "/proc/" + std::to_string(pid) + "/stat");
    // "PID (NAME) STATE PPID ...": the name may hold anything, brackets too.
    const std::size_t open = text.find('(');
    const std::size_t close = text.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open) continue;
    std::istringstream rest(text.substr(close + 1));
    std::vector<std::string> fields;  // from the third on
    for (std::string field; fields.size() < 22 && rest >> field;) fields.push_back(field);
    if (fields.size() < 22) continue;
    const auto parent = number(fields[1]);
    const auto started = number(fields[19]);
    const auto pages = number(fields[21]);
    if (!parent || !started || !pages || *pages <= 0) continue;
    out[pid] = {static_cast<std::uint64_t>(*started), static_cast<std::uint64_t>(*pages) * kPage,
                static_cast<pid_t>(*parent), text.substr(open + 1, close - open - 1)};
  }
  return out;
}

std::vector<Competitor> CompetitorWatch::grown(const Processes& now) const {
  std::set<pid_t> ours;
  {
    Disregarded& all = disregarded();
    const MutexLock lock(all.mutex);
    ours = all.pids;
  }
  std::vector<Competitor> out;
  for (const auto& [pid, process] : now) {
    const auto id = static_cast<pid_t>(pid);
    if (id == getpid() || ours.contains(id) || ours.contains(process.parent)) continue;
    const auto known = before_.find(pid);
    const bool same = known != before_.end() && known->second.started == process.started;
    const std::uint64_t was = same ? known->second.resident : 0;
    if (process.resident <= was) continue;
    out.push_back({pid, process.name, process.resident, process.resident - was});
  }
  std::ranges::sort(out, std::greater<>(), &Competitor::grown);
  if (out.size() > kMostAsked) out.resize(kMostAsked);
  // Those of this process's own container come first: where that is what is full, only they count.
  const std::string own = group_of(root_, "self");
  std::vector<Competitor> inside;
  std::vector<Competitor> outside;
  for (Competitor& each : out) {
    const bool here = group_of(root_, std::to_string(each.pid)) == own;
    (here ? inside : outside).push_back(std::move(each));
  }
  out = std::move(inside);
  std::ranges::move(outside, std::back_inserter(out));
  if (out.size() > kMostNamed) out.resize(kMostNamed);
  for (Competitor& each : out) each.command = command_of(root_, each.pid, each.command);
  return out;
}

void CompetitorWatch::remember(std::int64_t now_ns, const LedgerSample& sample, Processes found) {
  before_ = std::move(found);
  read_at_ = now_ns;
  others_before_ = sample.others;
  own_before_ = sample.own;
  limit_before_ = sample.limit;
}

std::vector<Competition> CompetitorWatch::look(std::int64_t now_ns, const LedgerSample& sample) {
  const MutexLock lock(mutex_);
  const std::uint64_t least = notable(sample);
  const bool taken = read_at_ != 0 && sample.limit < sample.asked &&
                     sample.limit + least <= limit_before_ &&
                     sample.others >= others_before_ + least;
  if (!taken) {
    if (read_at_ == 0 || now_ns - read_at_ > kMinuteNs) remember(now_ns, sample, read());
    return {};
  }
  Processes found = read();
  Competition told{sample.asked, sample.limit, sample.others, sample.others - others_before_,
                   grown(found)};
  // Of many that took a little each, those that matter; and nobody beyond who explains it all.
  std::uint64_t explained = 0;
  std::erase_if(told.by, [&](const Competitor& each) {
    if (each.grown < told.taken / 8 || explained >= told.taken * 3 / 4) return true;
    explained += each.grown;
    return false;
  });
  const std::uint64_t own_before = own_before_;
  remember(now_ns, sample, std::move(found));
  const auto recently = [&](std::int64_t pid) SW_NO_TSA {
    const auto at = told_at_.find(pid);
    return at != told_at_.end() && now_ns - at->second < kMinuteNs;
  };
  const bool unseen = told.by.empty();
  // Two counts are compared that were not taken at once: when our own memory moved as much, the
  // difference is nobody's.
  const std::uint64_t moved =
      sample.own > own_before ? sample.own - own_before : own_before - sample.own;
  if (unseen && (recently(kUnseen) || moved >= told.taken / 2)) return {};
  std::erase_if(told.by, [&](const Competitor& each) { return recently(each.pid); });
  if (!unseen && told.by.empty()) return {};
  std::erase_if(told_at_, [&](const auto& at) { return now_ns - at.second >= kMinuteNs; });
  if (unseen) told_at_[kUnseen] = now_ns;
  for (const Competitor& each : told.by) told_at_[each.pid] = now_ns;
  return {std::move(told)};
}

std::vector<Competitor> CompetitorWatch::now() {
  const MutexLock lock(mutex_);
  if (read_at_ == 0) return {};
  return grown(read());
}

std::string to_string(const Competition& competition) {
  std::ostringstream text;
  text << "another process takes the memory: " << format_bytes(competition.taken)
       << " more are held outside this process, so the memory limit of "
       << format_bytes(competition.asked) << " is now " << format_bytes(competition.limit);
  if (competition.by.empty()) {
    text << "; the process cannot be seen from here: it is in another container";
  }
  for (const Competitor& each : competition.by) {
    text << "\n  pid " << each.pid << " grew by " << format_bytes(each.grown) << " to "
         << format_bytes(each.resident) << ": " << each.command;
  }
  text << "\nPipelines go on with smaller buffers, and spill. End that process, or give this one "
          "less to do.";
  return text.str();
}

}  // namespace spillway
