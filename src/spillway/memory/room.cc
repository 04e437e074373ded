#include "spillway/memory/room.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <string_view>

#include "spillway/base/bytes.h"
#include "spillway/base/clock.h"
#include "spillway/memory/data_limit.h"

namespace spillway {
namespace {

constexpr std::int64_t kOpenAgainNs = 1'000'000'000;  // the process may be moved to another group
constexpr std::int64_t kStatsEveryNs = 10'000'000;    // memory.stat: tens of us
constexpr std::size_t kNoLimit = std::size_t{1} << 62;
constexpr std::size_t kText = 256 * kKiB;
// Where mimalloc, which is Arrow's allocator, asks for its pieces: below what the kernel chooses.
constexpr std::size_t kEndOfMimalloc = std::size_t{32} << 40U;
constexpr std::size_t kReserve = 256 * kMiB;

std::string_view read_file(int fd, std::vector<char>& text) {
  if (fd < 0) return {};
  const ssize_t n = pread(fd, text.data(), text.size(), 0);
  return n <= 0 ? std::string_view() : std::string_view(text.data(), static_cast<std::size_t>(n));
}

std::optional<std::size_t> number_at(std::string_view text) {
  const auto digit = text.find_first_not_of(" \t");
  if (digit == std::string_view::npos) return std::nullopt;
  std::size_t value = 0;
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data() + digit, end, value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// The number behind "NAME" or "NAME:" at the start of a line.
std::size_t field(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const auto found = text.find(name, at);
    if (found == std::string_view::npos) return 0;
    at = found + name.size();
    if (found > 0 && text[found - 1] != '\n') continue;
    if (at < text.size() && text[at] == ':') ++at;
    if (at >= text.size() || (text[at] != ' ' && text[at] != '\t')) continue;
    return number_at(text.substr(at)).value_or(0);
  }
  return 0;
}

int open_file(const std::string& path) { return open(path.c_str(), O_RDONLY | O_CLOEXEC); }

void close_file(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

// What the kernel gives a thread for its stack when nobody says otherwise.
std::size_t stack_bytes() {
  rlimit limit{};
  const bool known = getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return std::max<std::size_t>(known ? limit.rlim_cur : 0, 8 * kMiB) + 64 * kKiB;
}

// One mapping of /proc/self/smaps, read line by line.
class Mapping {
 public:
  // "7f..-7f.. rw-p 00000000 00:00 0    [name]"
  void begin(std::string_view line) {
    const auto space = line.find(' ');
    const auto perms = line.substr(space + 1, 4);
    // The fifth field is the inode: 0 for memory that is no file's.
    auto rest = line.substr(space + 5);
    for (int i = 0; i < 2; ++i) {
      rest = rest.substr(std::min(rest.size(), rest.find_first_not_of(' ')));
      rest = rest.substr(std::min(rest.size(), rest.find(' ')));
    }
    const bool file = number_at(rest).value_or(1) != 0;
    const bool named = line.ends_with("[heap]") || line.ends_with("[stack]");
    std::size_t start = 0;
    std::from_chars(line.data(), line.data() + line.size(), start, 16);
    mimalloc_ = start < kEndOfMimalloc;
    counts_ = perms.size() == 4 && perms[1] == 'w' && perms[3] == 'p' && !file && !named;
    size_ = touched_ = 0;
    huge_ = reserve_ = false;
  }
  void take(std::string_view line) {
    if (!counts_) return;
    if (line.starts_with("Size:")) size_ = number_at(line.substr(5)).value_or(0) * kKiB;
    if (line.starts_with("Anonymous:")) touched_ = number_at(line.substr(10)).value_or(0) * kKiB;
    if (line.starts_with("VmFlags:")) {
      reserve_ = line.find(" nr") != std::string_view::npos;
      huge_ = line.find(" hg") != std::string_view::npos;
    }
  }
  // What malloc() gave has been touched where its size is noted; NumPy asks for huge pages behind
  // that ("hg"). Not going to be filled is what nobody has touched at all (buffers that a library
  // reserves for its threads), what was mapped without memory behind it ("nr": malloc()'s arenas of
  // threads), and a thread's stack, which may be one mapping with what lies beside it. A piece of
  // mimalloc's is of that kind, too, but taken for what is filled now, unless it is a large
  // reserve.
  std::size_t untouched(std::size_t stack) const {
    if (!counts_ || size_ <= touched_) return 0;
    if (reserve_ && !(mimalloc_ && size_ < kReserve)) return 0;
    const std::size_t left = size_ - touched_;
    if (huge_ && !reserve_) return left;
    return touched_ > 0 && left > stack ? left - stack : 0;
  }

 private:
  bool counts_ = false;
  bool huge_ = false;
  bool reserve_ = false;
  bool mimalloc_ = false;
  std::size_t size_ = 0;
  std::size_t touched_ = 0;
};

bool begins_mapping(std::string_view line) {
  const auto dash = line.find('-');
  return dash != std::string_view::npos && dash > 0 && dash < line.find(' ');
}

}  // namespace

std::size_t kept_free(std::size_t limit) { return std::clamp(limit / 25, 16 * kMiB, 256 * kMiB); }

Status container_is_full() {
  const Room room = RoomGauge::process().look();
  Status status =
      out_of_resource("spillway: an allocation was refused: ", format_bytes(room.used), " of the ",
                      format_bytes(room.limit), " that ", room.bound_by, " allows are in use, ",
                      format_bytes(room.own), " by this process");
  status.edit().type = "BudgetError";
  return status;
}

RoomGauge& RoomGauge::process() {
  static RoomGauge& gauge = *new RoomGauge;  // threads may outlive static destruction
  return gauge;
}

RoomGauge::~RoomGauge() {
  const MutexLock lock(mutex_);
  close_files();
}

void RoomGauge::close_files() {
  close_file(statm_);
  close_file(meminfo_);
  for (Level& level : levels_) {
    close_file(level.usage);
    close_file(level.stat);
  }
  levels_.clear();
}

void RoomGauge::open_files() {
  close_files();
  text_.resize(kText);
  statm_ = open_file(root_ + "/proc/self/statm");
  meminfo_ = open_file(root_ + "/proc/meminfo");
  open_levels();
  opened_in_ = forks();
  opened_ns_ = coarse_now_ns();
  stats_ns_ = 0;
}

void RoomGauge::open_levels() {
  std::ifstream groups(root_ + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool v2 = controllers == ",,";
    if (!v2 && controllers.find(",memory,") == std::string::npos) continue;
    const std::string mount = root_ + (v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    // In a container the path may lie above the mount: then only the mount itself is found.
    std::string group = line.substr(second + 1);
    while (!group.empty() && group != "/") {
      add_level(mount + group, v2);
      group.resize(std::max<std::size_t>(group.find_last_of('/'), 0));
    }
    add_level(mount, v2);
  }
}

void RoomGauge::add_level(const std::string& folder, bool v2) {
  Level level;
  level.limit = kNoLimit;
  for (const char* name : {v2 ? "/memory.max" : "/memory.limit_in_bytes", "/memory.high"}) {
    const int fd = open_file(folder + name);
    level.limit = std::min(level.limit, number_at(read_file(fd, text_)).value_or(kNoLimit));
    if (fd >= 0) close(fd);
  }
  if (level.limit >= kNoLimit) return;
  level.usage = open_file(folder + (v2 ? "/memory.current" : "/memory.usage_in_bytes"));
  level.stat = open_file(folder + "/memory.stat");
  levels_.push_back(level);
}

// Page cache goes before anybody is killed, so it is no use of memory. What can be dropped is read
// less often than the usage; between, what this process has grown since counts on top.
std::size_t RoomGauge::used_of(Level& level, std::size_t own, bool stats) {
  const auto usage = number_at(read_file(level.usage, text_));
  if (!usage) return own;
  if (stats) {
    const std::string_view stat = read_file(level.stat, text_);
    // Version 1 has sums over the groups below under these names.
    const bool v1 = stat.find("total_active_file") != std::string_view::npos;
    level.droppable = v1 ? field(stat, "total_active_file") + field(stat, "total_inactive_file")
                         : field(stat, "active_file") + field(stat, "inactive_file") +
                               field(stat, "slab_reclaimable");
    const std::size_t now = *usage > level.droppable ? *usage - level.droppable : 0;
    level.others = now > own ? now - own : 0;
    return std::max(now, own);
  }
  const std::size_t now = *usage > level.droppable ? *usage - level.droppable : 0;
  return std::max(now, own + level.others);
}

Room RoomGauge::read(bool stats) {
  const std::int64_t now = coarse_now_ns();
  if (opened_in_ != forks() || now - opened_ns_ > kOpenAgainNs) open_files();
  if (stats || now - stats_ns_ > kStatsEveryNs) {
    stats = true;
    stats_ns_ = now;
  }
  Room room;
  static const std::size_t kPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  // size resident shared text lib data dt
  std::array<std::size_t, 6> pages{};
  std::string_view statm = read_file(statm_, text_);
  for (std::size_t& each : pages) {
    each = number_at(statm).value_or(0);
    statm.remove_prefix(std::min(statm.size(), statm.find(' ') + 1));
  }
  room.own = (pages[1] > pages[2] ? pages[1] - pages[2] : 0) * kPage;
  room.shared = pages[2] * kPage;
  room.mapped = pages[5] * kPage;
  const std::size_t slack = room.mapped > room.own ? room.mapped - room.own : 0;
  room.untouched = slack > of_no_concern_ ? slack - of_no_concern_ : 0;
  room.settled = std::min(settled_, room.untouched);

  const std::string_view meminfo = read_file(meminfo_, text_);
  const std::size_t total = field(meminfo, "MemTotal") * kKiB;
  const std::size_t available = field(meminfo, "MemAvailable") * kKiB;
  room.limit = total;
  room.used = total > available ? total - available : room.own;
  const auto tighten = [&](std::size_t limit, std::size_t used, const char* bound_by) {
    const std::size_t free = limit > used ? limit - used : 0;
    if (free >= room.unused() && room.limit != 0) return;
    room.limit = limit;
    room.used = used;
    room.bound_by = bound_by;
  };
  for (Level& level : levels_) {
    tighten(level.limit, used_of(level, room.own, stats), "the container");
  }
  if (const auto limit = DataLimit::given()) {
    tighten(*limit, std::min(room.mapped, *limit), "a resource limit");
  }
  return room;
}

Room RoomGauge::look() {
  const MutexLock lock(mutex_);
  return read(false);
}

Room RoomGauge::look_closely() {
  const MutexLock lock(mutex_);
  if (opened_in_ != forks()) open_files();
  const auto untouched = untouched_mappings();
  Room room = read(true);
  if (!untouched) return room;
  const std::size_t slack = room.mapped > room.own ? room.mapped - room.own : 0;
  of_no_concern_ = slack > *untouched ? slack - *untouched : 0;
  room.untouched = room.settled = settled_ = std::min(slack, *untouched);
  return room;
}

std::optional<std::size_t> RoomGauge::untouched_mappings() {
  const int fd = open_file(root_ + "/proc/self/smaps");
  if (fd < 0) return std::nullopt;
  const std::size_t stack = stack_bytes();
  std::size_t sum = 0;
  std::size_t kept = 0;  // of a line that is not whole yet
  off_t offset = 0;
  Mapping mapping;
  for (;;) {
    const ssize_t n = pread(fd, text_.data() + kept, text_.size() - kept, offset);
    if (n <= 0) break;
    offset += n;
    std::string_view text(text_.data(), kept + static_cast<std::size_t>(n));
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      const std::string_view line = text.substr(0, end);
      if (begins_mapping(line)) {
        sum += mapping.untouched(stack);
        mapping.begin(line);
      } else {
        mapping.take(line);
      }
      text.remove_prefix(end + 1);
    }
    kept = text.size() < text_.size() ? text.size() : 0;
    std::copy_n(text.begin(), kept, text_.begin());
  }
  close(fd);
  return sum + mapping.untouched(stack);
}

}  // namespace spillway
