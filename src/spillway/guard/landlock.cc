#include "spillway/guard/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "spillway/guard/channel.h"

namespace spillway {
namespace {

// The kernel's interface, which the headers of older systems know in part.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr std::uint32_t kAskVersion = 1;
constexpr int kPathBeneath = 1;

constexpr std::uint64_t kReadFile = 1U << 2U;
constexpr std::uint64_t kReadFolder = 1U << 3U;
constexpr std::uint64_t kFirst = (1U << 13U) - 1;  // everything of version 1
constexpr std::uint64_t kRefer = 1U << 13U;
constexpr std::uint64_t kTruncate = 1U << 14U;
constexpr std::uint64_t kIoctlDevice = 1U << 15U;
constexpr std::uint64_t kTcp = 3;     // bind, connect
constexpr std::uint64_t kScopes = 3;  // abstract sockets, signals

struct Ruleset {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scopes = 0;
};
struct __attribute__((packed)) Beneath {
  std::uint64_t allowed = 0;
  std::int32_t folder = -1;
};

Status refused(std::string_view what) {
  return out_of_resource("no sandbox: Landlock: ", what, ": ", std::strerror(errno));
}

Status allow_reading(int ruleset, const std::string& path) {
  const Descriptor folder(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!folder) return {};
  struct stat facts{};
  const bool is_folder = fstat(folder.get(), &facts) == 0 && S_ISDIR(facts.st_mode);
  const Beneath rule{is_folder ? kReadFile | kReadFolder : kReadFile, folder.get()};
  if (syscall(kAddRule, ruleset, kPathBeneath, &rule, 0) != 0) return refused(path);
  return {};
}

}  // namespace

int landlock_version() {
  const long version = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  return version < 0 ? 0 : static_cast<int>(version);
}

Status enter_landlock(const std::vector<std::string>& folders) {
  const int version = landlock_version();
  if (version < 1) return {};
  Ruleset asked;
  asked.files = kFirst;
  if (version >= 2) asked.files |= kRefer;
  if (version >= 3) asked.files |= kTruncate;
  if (version >= 5) asked.files |= kIoctlDevice;
  if (version >= 4) asked.network = kTcp;
  if (version >= 6) asked.scopes = kScopes;
  const std::size_t known = (version >= 6 ? 3U : version >= 4 ? 2U : 1U) * sizeof(std::uint64_t);
  const Descriptor ruleset(static_cast<int>(syscall(kCreateRuleset, &asked, known, 0)));
  if (!ruleset) return refused("a ruleset");
  if (folders.empty()) {
    SW_RETURN_IF_ERROR(allow_reading(ruleset.get(), "/"));
  } else {
    for (const std::string& path : folders) {
      SW_RETURN_IF_ERROR(allow_reading(ruleset.get(), path));
    }
  }
  if (syscall(kRestrictSelf, ruleset.get(), 0) != 0) return refused("entering it");
  return {};
}

}  // namespace spillway
