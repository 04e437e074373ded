#include "spillway/observe/board.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "spillway/base/clock.h"

namespace spillway {
namespace {

using flight::Level;
using flight::Region;

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kRelease = std::memory_order_release;
constexpr int kTryEvery = 64;  // things, when there was no place on the board

// A thread's place on the board, given back when the thread ends.
struct Place {
  flight::Thread* thread = nullptr;
  std::size_t depth = 0;
  int until_try = 0;

  ~Place() {
    if (thread == nullptr) return;
    for (Level& level : thread->levels) level.phase.store(0, kRelaxed);
    thread->owner.store(0, std::memory_order_release);
  }

  void find(Region& region) {
    if (until_try-- > 0) return;
    until_try = kTryEvery;
    const auto self = static_cast<std::uint64_t>(syscall(SYS_gettid));
    for (flight::Thread& each : region.threads) {
      std::uint64_t nobody = 0;
      if (each.owner.load(kRelaxed) != 0) continue;
      if (!each.owner.compare_exchange_strong(nobody, self)) continue;
      each.ident.store(static_cast<std::uint64_t>(pthread_self()), kRelaxed);
      thread = &each;
      return;
    }
  }

  Level* innermost() const {
    if (thread == nullptr || depth == 0 || depth > flight::kLevels) return nullptr;
    return &thread->levels[depth - 1];
  }
};

thread_local Place place;

void* private_memory(void* at, int more) {
  return mmap(at, sizeof(Region), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1,
              0);
}

// Text that has its place, ended by a zero where there is room.
template <std::size_t N>
void put_words(std::array<std::atomic<std::uint64_t>, N>& words, std::string_view text) {
  for (auto& word : words) {
    std::uint64_t bytes = 0;
    const std::size_t some = std::min(text.size(), sizeof(bytes));
    std::memcpy(&bytes, text.data(), some);
    text.remove_prefix(some);
    word.store(bytes, std::memory_order_relaxed);
    if (some < sizeof(bytes)) break;
  }
}

}  // namespace

Board& Board::process() {
  static auto& board = *new Board;
  return board;
}

Region* Board::region() {
  if (Region* here = made()) return here;
  void* memory = private_memory(nullptr, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (!adopt(static_cast<Region*>(memory), -1)) munmap(memory, sizeof(Region));
  return made();
}

bool Board::adopt(Region* region, int fd) {
  const MutexLock lock(mutex_);
  if (made() != nullptr) return false;
  fd_ = fd;
  region_.store(region, std::memory_order_release);
  pthread_atfork(nullptr, nullptr, in_child);
  return true;
}

// Only what is safe between fork and whatever the child does: its threads' places stay where they
// are, in memory of its own. The parent's lock on the file stays the parent's.
void Board::in_child() {
  Board& board = process();
  board.forked_ = true;
  if (board.fd_ >= 0) close(board.fd_);
  board.fd_ = -1;
  if (private_memory(board.made(), MAP_FIXED) == MAP_FAILED) _exit(1);
}

std::uint32_t Board::text(std::string_view words) {
  Region* const here = made();
  if (here == nullptr || forked() || words.empty()) return 0;
  const std::string_view kept = words.substr(0, here->texts[0].bytes.size());
  const MutexLock lock(mutex_);
  for (std::uint32_t i = 1; i < texts_; ++i) {
    const flight::Text& text = here->texts[i];
    if (std::string_view(text.bytes.data(), text.size.load(kRelaxed)) == kept) return i;
  }
  if (texts_ == flight::kTexts) return 0;
  flight::Text& text = here->texts[texts_];
  std::memcpy(text.bytes.data(), kept.data(), kept.size());
  text.size.store(static_cast<std::uint32_t>(kept.size()), std::memory_order_release);
  longest_[texts_] = 0;
  return texts_++;
}

std::string Board::words(std::uint32_t text) {
  Region* const here = made();
  if (here == nullptr || forked() || text == 0 || text >= flight::kTexts) return "";
  const MutexLock lock(mutex_);
  const flight::Text& found = here->texts[text];
  return {found.bytes.data(), found.size.load(kRelaxed)};
}

bool Board::forget_texts() {
  Region* const here = made();
  if (here == nullptr || forked()) return false;
  const MutexLock lock(mutex_);
  if (texts_ < flight::kTexts / 2) return false;
  for (const flight::Thread& thread : here->threads) {
    for (const Level& level : thread.levels) {
      if (level.phase.load(kRelaxed) != 0) return false;
    }
  }
  for (flight::Text& text : here->texts) text.size.store(0, kRelaxed);
  for (auto& each : longest_) each = 0;
  here->header.handed.run.store(0, kRelaxed);
  texts_ = 1;
  ++generation_;
  return true;
}

// They write to the region, which this object owns.
// NOLINTNEXTLINE(readability-make-member-function-const)
std::atomic<std::int64_t>* Board::note_handed(const void* run, std::uint32_t text,
                                              std::int64_t element, std::string_view file) {
  Region* const here = made();
  if (here == nullptr || forked()) return nullptr;
  flight::Handed& handed = here->header.handed;
  constexpr std::size_t kRoom = sizeof handed.file;
  if (file.size() > kRoom) file.remove_prefix(file.size() - kRoom);
  // A reader who sees no size sees a record that was just being written.
  handed.size.store(0, kRelease);
  handed.text.store(text, kRelease);
  handed.element.store(element, kRelease);
  const auto size = static_cast<std::uint32_t>(file.size());
  put_words(handed.file, file);
  handed.size.store(size, kRelease);
  handed.run.store(reinterpret_cast<std::uintptr_t>(run), kRelease);
  return &handed.element;
}

// NOLINTNEXTLINE(readability-make-member-function-const)
void Board::forget_handed(const void* run) {
  Region* const here = made();
  if (here == nullptr || forked()) return;
  auto mine = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(run));
  here->header.handed.run.compare_exchange_strong(mine, 0);
}

std::int64_t Board::longest_ns(std::uint32_t text) const {
  return text < flight::kTexts ? longest_[text].load(kRelaxed) : 0;
}

void Board::note_lasted(std::uint32_t text, std::int64_t ns) {
  if (text == 0 || text >= flight::kTexts) return;
  std::int64_t before = longest_[text].load(kRelaxed);
  while (before < ns && !longest_[text].compare_exchange_weak(before, ns)) {
  }
}

Doing::Doing(Phase phase, std::uint32_t text, std::int64_t epoch, std::int64_t element,
             const void* run, std::int64_t amount) {
  if (phase == Phase::kNone) return;
  Region* const region = Board::process().made();
  if (region == nullptr) return;
  Place& mine = place;
  if (mine.thread == nullptr) mine.find(*region);
  counted_ = true;
  const std::size_t at = mine.depth++;
  if (mine.thread == nullptr || at >= flight::kLevels) return;
  level_ = &mine.thread->levels[at];
  const std::uint64_t serial = level_->serial.load(kRelaxed) | 1U;
  level_->serial.store(serial, kRelaxed);
  // Each of them after the odd number, which a reader that sees one then sees too.
  level_->phase.store(static_cast<std::uint32_t>(phase), kRelease);
  level_->text.store(text, kRelease);
  level_->epoch.store(epoch, kRelease);
  level_->element.store(element, kRelease);
  level_->row.store(0, kRelease);
  level_->since_ns.store(coarse_now_ns(), kRelease);
  level_->amount.store(amount, kRelease);
  level_->run.store(reinterpret_cast<std::uintptr_t>(run), kRelease);
  level_->serial.store(serial + 1, kRelease);
}

Doing::~Doing() {
  if (counted_) --place.depth;
  if (level_ != nullptr) level_->phase.store(0, std::memory_order_release);
}

void Doing::detail(std::string_view path) {
  if (level_ == nullptr) return;
  constexpr std::size_t kRoom = flight::kDetailWords * sizeof(std::uint64_t);
  if (path.size() > kRoom) path.remove_prefix(path.size() - kRoom);
  put_words(place.thread->detail, path);
}

std::uint32_t Doing::current_text() {
  const Level* const level = place.innermost();
  return level == nullptr ? 0 : level->text.load(kRelaxed);
}

DoneByWorker::DoneByWorker(std::int64_t pid) : level_(place.innermost()) {
  if (level_ == nullptr) return;
  before_ = level_->phase.load(kRelaxed);
  level_->amount.store(pid, kRelaxed);
  level_->phase.store(static_cast<std::uint32_t>(Phase::kWorker), kRelaxed);
}

DoneByWorker::~DoneByWorker() {
  if (level_ == nullptr) return;
  level_->amount.store(0, kRelaxed);
  level_->phase.store(before_, kRelaxed);
}

std::uint32_t stage_text(std::string_view name, std::string_view what, std::string_view line) {
  struct Known {
    const void* key = nullptr;
    std::string name;
    std::string what;
    std::string line;
    std::uint32_t generation = 0;
    std::uint32_t text = 0;
  };
  thread_local std::array<Known, 8> known;
  thread_local std::size_t oldest = 0;
  Board& board = Board::process();
  if (board.made() == nullptr) return 0;
  const std::uint32_t generation = board.generation();
  // An address may be another stage's by now: the words decide.
  for (const Known& mine : known) {
    if (mine.key == name.data() && mine.generation == generation && mine.name == name &&
        mine.what == what && mine.line == line) {
      return mine.text;
    }
  }
  std::string words(name);
  if (!what.empty()) words.append(" (").append(what).append(")");
  if (!line.empty()) words.append(", ").append(line);
  const std::uint32_t text = board.text(words);
  const char* const key = name.data();
  known[oldest++ % known.size()] = {
      key, std::string(name), std::string(what), std::string(line), generation, text};
  return text;
}

}  // namespace spillway
