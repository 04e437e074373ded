#include "spillway/memory/machine.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "spillway/base/bytes.h"
#include "spillway/base/clock.h"
#include "spillway/memory/data_limit.h"

namespace spillway {
namespace {

std::optional<std::string> slurp(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// cgroup files say "max" (v2) or a number near 2^63 (v1) for "no limit".
std::optional<std::size_t> read_limit(const std::string& path) {
  const auto text = slurp(path);
  if (!text) return std::nullopt;
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || value >= (std::size_t{1} << 62)) return std::nullopt;
  return value;
}

std::optional<std::size_t> field(const std::string& text, std::string_view name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, name.size(), name) != 0) continue;
    const auto digit = line.find_first_of("0123456789", name.size());
    if (digit == std::string::npos) continue;
    if (line.find_first_not_of(" :\t", name.size()) != digit) continue;
    std::size_t value = 0;
    std::from_chars(line.data() + digit, line.data() + line.size(), value);
    return value;
  }
  return std::nullopt;
}

void lower(std::optional<std::size_t>& least, std::optional<std::size_t> value) {
  if (value && (!least || *value < *least)) least = value;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

void read_v2(const std::string& mount, const std::string& group, MachineMemory& memory) {
  for (std::string at = group;; at = parent_of(at)) {
    const std::string dir = mount + (at == "/" ? "" : at);
    lower(memory.cgroup_limit, read_limit(dir + "/memory.max"));
    lower(memory.cgroup_limit, read_limit(dir + "/memory.high"));
    if (at == "/") break;
  }
  if (const auto stat = slurp(mount + (group == "/" ? "" : group) + "/memory.stat")) {
    const auto anon = field(*stat, "anon");
    if (anon) memory.cgroup_anon = *anon + field(*stat, "shmem").value_or(0);
  }
}

void read_v1(const std::string& mount, const std::string& group, MachineMemory& memory) {
  // Inside a container the path may lie above the mount point: the mount is then the group itself.
  for (const std::string& dir : {mount + (group == "/" ? "" : group), mount}) {
    const auto stat = slurp(dir + "/memory.stat");
    if (!stat) continue;
    const auto limit = field(*stat, "hierarchical_memory_limit");
    if (limit && *limit < (std::size_t{1} << 62)) lower(memory.cgroup_limit, limit);
    if (const auto rss = field(*stat, "total_rss")) {
      memory.cgroup_anon = *rss + field(*stat, "total_shmem").value_or(0);
    }
    return;
  }
}

std::optional<std::size_t> soft_limit(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return std::nullopt;
  if (limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace

std::size_t MachineMemory::container() const {
  std::size_t least = total;
  if (cgroup_limit) least = std::min(least, *cgroup_limit);
  if (rlimit) least = std::min(least, *rlimit);
  return least;
}

MachineMemory read_machine_memory(const std::string& root) {
  MachineMemory memory;
  const std::string meminfo = slurp(root + "/proc/meminfo").value_or("");
  memory.total = field(meminfo, "MemTotal").value_or(1024 * 1024) * kKiB;
  memory.available = field(meminfo, "MemAvailable").value_or(memory.total / 2 / kKiB) * kKiB;
  std::istringstream groups(slurp(root + "/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      read_v2(root + "/sys/fs/cgroup", group, memory);
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      read_v1(root + "/sys/fs/cgroup/memory", group, memory);
    }
  }
  lower(memory.rlimit, soft_limit(RLIMIT_AS));
  lower(memory.rlimit, DataLimit::given());  // not what the guardian set
  const std::size_t least = memory.container();
  memory.bound_by = least == memory.total                                  ? "the machine"
                    : memory.cgroup_limit && least == *memory.cgroup_limit ? "the container"
                                                                           : "a resource limit";
  return memory;
}

std::atomic<std::size_t>& bytes_elsewhere() {
  static std::atomic<std::size_t> bytes{0};
  return bytes;
}

std::size_t own_anonymous_bytes() {
  static const int kFile = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  static const pid_t kOwner = getpid();
  std::array<char, 128> text{};
  // After a fork the kept descriptor shows the parent: read by name there.
  int fd = kFile;
  const bool forked = getpid() != kOwner;
  if (forked) fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  const ssize_t n = pread(fd, text.data(), text.size() - 1, 0);
  if (forked && fd >= 0) close(fd);
  if (n <= 0) return 0;
  unsigned long size = 0;
  unsigned long resident = 0;
  unsigned long shared = 0;
  if (std::sscanf(text.data(), "%lu %lu %lu", &size, &resident, &shared) != 3) return 0;
  static const std::size_t kPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (resident > shared ? resident - shared : 0) * kPage;
}

namespace {

// The most that this process held within the last seconds. The kernel's counts of a container may
// be seconds old: what we freed since is still in them, and is nobody else's.
std::size_t most_held_lately(std::size_t now_held) {
  constexpr std::int64_t kWindowNs = 2'000'000'000;
  static std::atomic<std::int64_t> began{0};
  static std::atomic<std::size_t> most{0};    // of this window
  static std::atomic<std::size_t> before{0};  // of the last one
  const std::int64_t now = coarse_now_ns();
  std::int64_t began_at = began.load();
  if (now - began_at > kWindowNs && began.compare_exchange_strong(began_at, now)) {
    before = now - began_at > 2 * kWindowNs ? 0 : most.load();
    most = now_held;
  }
  std::size_t seen = most.load();
  while (seen < now_held && !most.compare_exchange_weak(seen, now_held)) {
  }
  return std::max({now_held, most.load(), before.load()});
}

}  // namespace

namespace {

// Without a cgroup limit the other processes are seen through what is still available.
std::size_t held_beside(std::size_t ours, const MachineMemory& machine) {
  const std::size_t all = machine.cgroup_limit ? machine.cgroup_anon.value_or(ours)
                          : machine.container() > machine.available
                              ? machine.container() - machine.available
                              : 0;
  return all > ours ? all - ours : 0;
}

}  // namespace

std::size_t held_by_others(const MachineMemory& machine) {
  return held_beside(own_anonymous_bytes() + bytes_elsewhere(), machine);
}

std::size_t surely_held_by_others(const MachineMemory& machine) {
  return held_beside(most_held_lately(own_anonymous_bytes() + bytes_elsewhere()), machine);
}

std::size_t container_reserve(std::size_t container) {
  return std::clamp(container / 20, 16 * kMiB, 512 * kMiB);
}

std::size_t default_limit(const MachineMemory& machine, std::size_t own_anonymous) {
  const std::size_t container = machine.container();
  const std::size_t used = std::max(machine.cgroup_anon.value_or(0), own_anonymous);
  std::size_t head = container > used ? container - used : 0;
  head = std::min(head, machine.available);
  const std::size_t reserve = container_reserve(container);
  const std::size_t most = head > reserve ? head - reserve : head / 2;
  return std::max(std::min(head - head / 8, most), std::min<std::size_t>(16 * kMiB, container / 4));
}

}  // namespace spillway
