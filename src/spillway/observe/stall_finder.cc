#include <pthread.h>

#include <algorithm>
#include <sstream>

#include "spillway/base/bytes.h"
#include "spillway/base/mutant.h"
#include "spillway/observe/watchdog.h"

namespace spillway {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr std::int64_t kTimesLongest = 20;
constexpr int kMostDoublings = 20;

std::string detail_of(const flight::Thread& thread) {
  std::string out;
  for (const auto& word : thread.detail) {
    const std::uint64_t bytes = word.load(kRelaxed);
    const auto* chars = reinterpret_cast<const char*>(&bytes);
    for (std::size_t i = 0; i < sizeof(bytes); ++i) {
      if (chars[i] == 0) return out;
      out += chars[i];
    }
  }
  return out;
}

bool is_users(Phase phase) { return phase == Phase::kFunction || phase == Phase::kGenerator; }

std::string seconds(std::int64_t ns) {
  std::ostringstream text;
  text.precision(3);
  text << static_cast<double>(ns) / 1e9 << " s";
  return text.str();
}

}  // namespace

std::int64_t patience_ns(double base_s, std::int64_t longest_ns, int reports) {
  const auto base = static_cast<double>(
      std::max<std::int64_t>(static_cast<std::int64_t>(base_s * 1e9), longest_ns * kTimesLongest));
  const double all =
      base * static_cast<double>(std::int64_t{1} << std::min(reports, kMostDoublings));
  return static_cast<std::int64_t>(std::min(all, 9e18));
}

// What every thread is at, outermost first, with how long it has been.
StallFinder::Threads StallFinder::read_board(std::int64_t now_ns) {
  Threads threads;
  Board& board = Board::process();
  flight::Region* const region = board.made();
  if (region == nullptr || board.forked()) return threads;
  for (std::size_t t = 0; t < flight::kThreads; ++t) {
    const flight::Thread& thread = region->threads[t];
    std::vector<Now> levels;
    for (std::size_t l = 0; l < flight::kLevels; ++l) {
      const flight::Level& level = thread.levels[l];
      Seen& seen = seen_[t][l];
      const std::uint64_t serial = level.serial.load(kAcquire);
      Now now;
      now.phase = static_cast<Phase>(level.phase.load(kAcquire));
      now.text = level.text.load(kAcquire);
      now.element = level.element.load(kAcquire);
      now.row = level.row.load(kAcquire);
      now.amount = level.amount.load(kAcquire);
      now.run = level.run.load(kAcquire);
      now.ident = thread.ident.load(kAcquire);
      const std::int64_t since = level.since_ns.load(kAcquire);
      const bool torn = serial % 2 != 0 || level.serial.load(kRelaxed) != serial;
      const bool idle = thread.owner.load(kRelaxed) == 0 || now.phase == Phase::kNone || torn;
      if (seen.serial != 0 && (idle || seen.serial != serial || seen.row != now.row)) {
        board.note_lasted(seen.text, seen.lasted_ns);
        // A row that came to its end within a call: its successor began after the last look.
        const bool next_row = !idle && seen.serial == serial;
        seen = next_row ? Seen{serial, now.text, now.row, now_ns, 0, 0} : Seen{};
      }
      if (idle) continue;
      if (seen.serial == 0) seen = {serial, now.text, now.row, since, 0, 0};
      seen.lasted_ns = std::max<std::int64_t>(0, now_ns - seen.since_ns);
      now.seen = &seen;
      if (now.phase == Phase::kFile) now.detail = detail_of(thread);
      levels.push_back(std::move(now));
    }
    if (!levels.empty()) threads.push_back(std::move(levels));
  }
  return threads;
}

void StallFinder::note_moves(std::int64_t now_ns, const std::vector<const Watched*>& watched) {
  std::vector<Moved> next;
  for (const Watched* each : watched) {
    const std::uint64_t count = each->moved();
    const auto known = std::ranges::find(moved_, each, &Moved::watched);
    const bool same = known != moved_.end() && known->count == count;
    next.push_back({each, count, same ? known->at_ns : now_ns});
  }
  moved_ = std::move(next);
}

bool StallFinder::overdue(const Now& level) const {
  return level.seen->lasted_ns >
         patience_ns(base_s_, Board::process().longest_ns(level.text), level.seen->reports);
}

// Whether a consumer's wait is nobody else's to explain.
bool StallFinder::to_blame(const Now& consumer, const Threads& threads, std::int64_t now_ns) const {
  for (const auto& levels : threads) {
    for (const Now& level : levels) {
      if (level.phase != Phase::kConsumer && (level.run == consumer.run || level.run == 0)) {
        return false;
      }
    }
  }
  for (const Moved& each : moved_) {
    if (reinterpret_cast<std::uintptr_t>(each.watched->run()) != consumer.run) continue;
    return now_ns - each.at_ns >
           patience_ns(base_s_, Board::process().longest_ns(consumer.text), consumer.seen->reports);
  }
  return true;
}

std::vector<StallFinder::Told> StallFinder::late(const Threads& threads,
                                                 std::int64_t now_ns) const {
  std::vector<const Now*> due;
  for (const auto& levels : threads) {
    // The innermost says most; what it is within is told with it.
    for (std::size_t l = levels.size(); l-- > 0;) {
      const Now& level = levels[l];
      const bool watched = level.phase == Phase::kWorker && level.amount != 0;
      if (watched || !overdue(level)) continue;
      if (level.phase == Phase::kConsumer && !to_blame(level, threads, now_ns)) continue;
      for (std::size_t outer = 0; outer <= l; ++outer) ++levels[outer].seen->reports;
      due.push_back(&level);
      break;
    }
  }
  std::vector<Told> told;
  for (const Now* level : due) {
    const auto same =
        std::ranges::find_if(told, [&](const Told& each) { return alike(*each.level, *level); });
    if (same == told.end()) {
      told.push_back({level, 0});
    } else {
      ++same->others;
      if (same->level->seen->lasted_ns < level->seen->lasted_ns) same->level = level;
    }
  }
  for (Told& each : told) each.others += join_soon_due(*each.level, due, threads);
  return told;
}

// Calls of the same stage that would be reported soon: they are told now, and not again then.
std::size_t StallFinder::join_soon_due(const Now& told, const std::vector<const Now*>& due,
                                       const Threads& threads) const {
  std::size_t joined = 0;
  for (const auto& levels : threads) {
    for (const Now& level : levels) {
      if (!alike(level, told) || std::ranges::find(due, &level) != due.end()) continue;
      const std::int64_t longest = Board::process().longest_ns(level.text);
      if (level.seen->lasted_ns < patience_ns(base_s_, longest, level.seen->reports) / 2) continue;
      ++level.seen->reports;
      ++joined;
    }
  }
  return joined;
}

std::string StallFinder::describe(const Told& told, const std::vector<const Watched*>& watched) {
  const Now& level = *told.level;
  const std::string words = Board::process().words(level.text);
  const std::string lasted = seconds(level.seen->lasted_ns);
  const std::int64_t element = level.element < 0 ? -1 : level.element + level.row;
  std::ostringstream text;
  text << (words.empty() ? "a pipeline" : words) << ": ";
  if (is_users(level.phase)) {
    text << "your code has worked ";
    if (element >= 0) text << "on element " << element << " ";
    text << "for " << lasted;
  } else if (level.phase == Phase::kFile) {
    text << "a read of " << level.detail << " at byte " << level.amount << " has lasted " << lasted;
  } else if (level.phase == Phase::kWorker) {
    text << "has waited " << lasted << " for a worker process to be started";
  } else if (level.phase == Phase::kMemory) {
    text << "has waited " << lasted << " for "
         << format_bytes(static_cast<std::size_t>(std::max<std::int64_t>(0, level.amount)))
         << " of memory";
  } else {
    text << "element " << element << " is waited for since " << lasted << ", and nothing moves";
  }
  if (told.others > 0) text << "; so it is with " << told.others << " more calls";
  for (const Watched* one : watched) {
    const bool same_run = reinterpret_cast<std::uintptr_t>(one->run()) == level.run;
    if (level.phase == Phase::kConsumer && same_run) text << "\n" << one->progress();
    if (level.phase == Phase::kMemory && one == watched.front()) text << "\n" << one->ledger();
  }
  return text.str();
}

std::vector<StallFinder::Stall> StallFinder::waited_for(std::int64_t now_ns,
                                                        std::int64_t least_ns) {
  const Threads threads = read_board(now_ns);
  const auto here = reinterpret_cast<std::uint64_t>(pthread_self());
  const Now* own = nullptr;
  for (const auto& levels : threads) {
    for (const Now& level : levels) {
      if (level.ident == here && level.phase == Phase::kConsumer) own = &level;
    }
  }
  if (own == nullptr || own->seen->lasted_ns < least_ns) return {};
  std::vector<Told> told;
  for (const auto& levels : threads) {
    const auto blamed = std::find_if(levels.rbegin(), levels.rend(), [&](const Now& level) {
      const bool of_run = level.run == own->run || level.phase == Phase::kMemory;
      return of_run && level.phase != Phase::kConsumer && level.seen->lasted_ns >= least_ns;
    });
    if (blamed == levels.rend()) continue;
    const auto same =
        std::ranges::find_if(told, [&](const Told& each) { return alike(*each.level, *blamed); });
    if (same == told.end()) {
      told.push_back({&*blamed, 0});
    } else {
      ++same->others;
    }
  }
  std::vector<Stall> stalls;
  if (told.empty()) {
    stalls.push_back({Board::process().words(own->text) + ": element " +
                          std::to_string(own->element) + " was waited for, " +
                          seconds(own->seen->lasted_ns) + " long",
                      own->ident});
  }
  for (const Told& each : told) stalls.push_back({describe(each, {}), each.level->ident});
  return stalls;
}

std::vector<StallFinder::Stall> StallFinder::look(std::int64_t now_ns,
                                                  const std::vector<const Watched*>& watched) {
  std::vector<Stall> stalls;
  const Threads threads = read_board(now_ns);
  note_moves(now_ns, watched);
  if (mutant("stall_not_reported")) return stalls;
  for (const Told& told : late(threads, now_ns)) {
    stalls.push_back({describe(told, watched), told.level->ident});
  }
  return stalls;
}

}  // namespace spillway
