#include "spillway/observe/flight_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <vector>

#include "spillway/base/clock.h"
#include "spillway/base/mutex.h"

namespace spillway {
namespace {

using flight::Region;

constexpr std::string_view kEnding = ".flight";
constexpr std::string_view kUnready = ".new";
constexpr const char* kLast = "last";
constexpr std::size_t kMostLooked = 1024;
constexpr std::size_t kMostWaiting = 16;  // records of programs that were not run again
constexpr std::int64_t kDayS = 86'400;

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Where this process records; one at most.
struct Current {
  Mutex mutex;
  std::string path SW_GUARDED_BY(mutex);
  pid_t owner SW_GUARDED_BY(mutex) = 0;
};
Current& current() {
  static auto& one = *new Current;
  return one;
}

Status not_here(const std::string& path, const char* what) {
  return Status::error(ErrorKind::kResource, Code::kUnavailable, path, ": ", what, ": ",
                       std::strerror(errno));
}

Status too_late() {
  return Status::error(ErrorKind::kUser, Code::kFailedPrecondition,
                       "pipelines ran before there was a folder to record in");
}

std::uint64_t start_ticks(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  // The name in brackets may hold anything; after it comes field 3.
  const std::size_t end = line.rfind(')');
  if (end == std::string::npos) return 0;
  std::istringstream rest(line.substr(end + 1));
  std::string field;
  for (int number = 3; number <= 22 && rest >> field; ++number) {
    if (number == 22) return std::strtoull(field.c_str(), nullptr, 10);
  }
  return 0;
}

std::uint64_t pid_namespace() {
  struct stat about{};
  return ::stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

std::string host_name() {
  std::array<char, sizeof(flight::Header::host)> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "";
}

template <std::size_t N>
void put(std::array<char, N>& to, std::string_view text) {
  const std::size_t size = std::min(text.size(), N - 1);
  text.copy(to.data(), size);
  to[size] = 0;
}

// The folder, if it is this user's own and nobody else may look into it.
Result<Fd> open_folder(const std::string& path) {
  Fd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return not_here(path, "cannot be opened");
  struct stat about{};
  if (fstat(folder.get(), &about) != 0 || about.st_uid != geteuid()) {
    return Status::error(ErrorKind::kResource, Code::kPermissionDenied, path,
                         ": belongs to another user");
  }
  if ((about.st_mode & 077U) != 0 && fchmod(folder.get(), 0700) != 0) {
    return not_here(path, "is open to others");
  }
  return folder;
}

void make_folders(const std::string& path) {
  for (std::size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at);
    mkdir(path.substr(0, at).c_str(), 0700);
    if (at != std::string::npos) ++at;
  }
}

void fill(Region& region, const FlightFacts& facts) {
  flight::Header& header = region.header;
  header.version = flight::kVersion;
  header.size = sizeof(Region);
  header.pid = getpid();
  header.start_ticks = start_ticks(getpid());
  header.pid_namespace = pid_namespace();
  header.wall_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  header.mono_ns = now_ns();
  header.seen_ns = header.mono_ns;
  header.oom_kills = facts.oom_kills;
  put(header.boot, boot_id());
  put(header.host, host_name());
  put(header.cgroup, facts.cgroup);
  put(header.program, facts.program);
  put(header.interpreter, facts.interpreter);
  header.magic = flight::kMagic;
}

// A file of that name that nobody had, with all its blocks: a store into a hole of a full disk
// would end the process.
Result<Fd> make_file(int folder, const std::string& name) {
  Fd file(openat(folder, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return not_here(name, "cannot be made");
  const int full = posix_fallocate(file.get(), 0, sizeof(Region));
  if (full != 0 || flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (full != 0) errno = full;
    Status status = not_here(name, "cannot be used");
    unlinkat(folder, name.c_str(), 0);
    return status;
  }
  return file;
}

bool still_runs(const FlightRecord& record) {
  return record.pid > 0 && record.pid <= INT32_MAX && record.boot == boot_id() &&
         record.pid_namespace == pid_namespace() &&
         start_ticks(static_cast<pid_t>(record.pid)) == record.start_ticks;
}

// A record as it lies there; nothing: it is no such file of ours.
std::optional<std::vector<std::byte>> read_record(int file, struct stat& about) {
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid()) {
    return std::nullopt;
  }
  // One byte more than it must have: a longer one is none.
  std::vector<std::byte> bytes(sizeof(Region) + 1);
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got =
        pread(file, bytes.data() + size, bytes.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

struct Dead {
  std::string name;
  Fd file;  // locked: nobody else looks at it
  FlightRecord record;
};

// Whether the process of this file is gone; then what it left. Removes what can tell nothing.
std::optional<Dead> look_at(int folder, const std::string& name) {
  Fd file(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat about{};
  if (!file) return std::nullopt;
  // The lock ends with the process, also where numbers of processes mean something else.
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
  const auto bytes = read_record(file.get(), about);
  if (!bytes) return std::nullopt;
  const std::int64_t age_s = std::time(nullptr) - about.st_mtime;
  if (name.ends_with(kUnready)) {
    if (age_s > kDayS) unlinkat(folder, name.c_str(), 0);
    return std::nullopt;
  }
  auto record = read_flight_record(*bytes);
  if (!record.ok()) {
    unlinkat(folder, name.c_str(), 0);
    return std::nullopt;
  }
  FlightRecord& found = record.value();
  if (still_runs(found)) return std::nullopt;
  // Another machine that shares this folder: its locks may not be seen here.
  const bool elsewhere = found.boot != boot_id() && found.host != host_name();
  if (elsewhere && age_s < kDayS) return std::nullopt;
  if (found.open <= 0 && found.tasks.empty()) {
    unlinkat(folder, name.c_str(), 0);
    return std::nullopt;
  }
  return Dead{name, std::move(file), std::move(found)};
}

// A long name is cut to its room in the record.
bool is_of(const FlightRecord& record, std::string_view program) {
  return program.empty() ||
         record.program == program.substr(0, sizeof(flight::Header::program) - 1);
}

std::vector<std::string> records_in(int folder) {
  std::vector<std::string> names;
  Fd again(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again) return names;
  const std::unique_ptr<DIR, int (*)(DIR*)> list(fdopendir(again.get()), closedir);
  if (list == nullptr) return names;
  static_cast<void>(again.release());
  for (std::size_t looked = 0; looked < kMostLooked; ++looked) {
    const dirent* const entry = readdir(list.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name.ends_with(kEnding) || name.ends_with(kUnready)) names.emplace_back(name);
  }
  return names;
}

}  // namespace

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

Status begin_flight(const std::string& folder, const FlightFacts& facts) {
  if (Board::process().made() != nullptr) return too_late();
  make_folders(folder);
  SW_ASSIGN(const Fd opened, open_folder(folder));
  const std::string name = std::to_string(getpid()) + "-" + std::to_string(start_ticks(getpid())) +
                           "-" + std::to_string(now_ns());
  // Under its real name only when it is whole and locked.
  const std::string unready = name + std::string(kUnready);
  const std::string ready = name + std::string(kEnding);
  SW_ASSIGN(Fd file, make_file(opened.get(), unready));
  void* const memory =
      mmap(nullptr, sizeof(Region), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) {
    Status status = not_here(folder, "cannot be mapped");
    unlinkat(opened.get(), unready.c_str(), 0);
    return status;
  }
  auto* const region = static_cast<Region*>(memory);
  fill(*region, facts);
  if (!Board::process().adopt(region, file.get())) {
    munmap(memory, sizeof(Region));
    unlinkat(opened.get(), unready.c_str(), 0);
    return too_late();
  }
  static_cast<void>(file.release());  // as long as the process
  if (renameat(opened.get(), unready.c_str(), opened.get(), ready.c_str()) != 0) {
    Status status = not_here(folder, "cannot be written to");
    unlinkat(opened.get(), unready.c_str(), 0);
    return status;
  }
  const MutexLock lock(current().mutex);
  current().path = folder + "/" + ready;
  current().owner = getpid();
  return {};
}

void end_flight() {
  if (Board::process().forked()) return;
  const MutexLock lock(current().mutex);
  if (current().path.empty() || current().owner != getpid()) return;
  unlink(current().path.c_str());
  current().path.clear();
}

std::string flight_path() {
  if (Board::process().forked()) return "";
  const MutexLock lock(current().mutex);
  return current().path;
}

std::optional<DeadFlight> take_dead_flight(const std::string& folder, const std::string& program) {
  auto opened = open_folder(folder);
  if (!opened.ok()) return std::nullopt;
  const int at = opened.value().get();
  std::vector<Dead> dead;
  std::vector<Dead> waiting;  // of other programs
  for (const std::string& name : records_in(at)) {
    auto found = look_at(at, name);
    if (!found) continue;
    (is_of(found->record, program) ? dead : waiting).push_back(std::move(*found));
  }
  const auto newest = [](const Dead& each) { return -each.record.last_seen; };
  std::ranges::sort(dead, {}, newest);
  std::ranges::sort(waiting, {}, newest);
  for (std::size_t i = kMostWaiting; i < waiting.size(); ++i) {
    unlinkat(at, waiting[i].name.c_str(), 0);
  }
  if (dead.empty()) return std::nullopt;
  for (std::size_t i = 1; i < dead.size(); ++i) unlinkat(at, dead[i].name.c_str(), 0);
  // Whoever moves it tells of it.
  if (renameat(at, dead[0].name.c_str(), at, kLast) != 0) return std::nullopt;
  return DeadFlight{std::move(dead[0].record), static_cast<int>(dead.size()) - 1};
}

Result<FlightRecord> last_flight(const std::string& folder) {
  SW_ASSIGN(const Fd opened, open_folder(folder));
  const Fd file(openat(opened.get(), kLast, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat about{};
  if (!file) return not_here(folder + "/" + kLast, "no record");
  const auto bytes = read_record(file.get(), about);
  if (!bytes) {
    return Status::error(ErrorKind::kData, Code::kPermissionDenied, folder, "/", kLast,
                         ": is no file of yours");
  }
  return read_flight_record(*bytes);
}

}  // namespace spillway
