#include "spillway/guard/death.h"

#include <signal.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "spillway/base/bytes.h"
#include "spillway/guard/sandbox.h"

namespace spillway {
namespace {

std::optional<std::uint64_t> field_of(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  std::string key;
  std::uint64_t value = 0;
  while (file >> key >> value) {
    if (key == name) return value;
  }
  return std::nullopt;
}

// The path of this process's group in the hierarchy that `controllers` names ("" for version 2).
std::string own_group(const std::string& root, std::string_view controller) {
  std::ifstream file(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (names == controller) return line.substr(second + 1);
  }
  return "";
}

std::string name_of_signal(int number) {
  const char* const name = sigabbrev_np(number);
  return name == nullptr ? "signal " + std::to_string(number) : std::string("SIG") + name;
}

}  // namespace

std::optional<std::uint64_t> oom_kills(const std::string& root) {
  const std::string base = root + "/sys/fs/cgroup";
  for (const std::string& group : {own_group(root, ""), std::string()}) {
    if (auto found = field_of(base + group + "/memory.events", "oom_kill")) return found;
  }
  for (const std::string& group : {own_group(root, "memory"), std::string()}) {
    const std::string folder = (base + "/memory").append(group);
    if (auto found = field_of(folder + "/memory.oom_control", "oom_kill")) return found;
  }
  return std::nullopt;
}

std::string memory_cgroup(const std::string& root) {
  const std::string own = own_group(root, "memory");
  return own.empty() ? own_group(root, "") : own;
}

Death::Verdict Death::verdict() const {
  if (mute) return Verdict::kMute;
  if (!ours.empty()) return too_slow ? Verdict::kTooSlow : Verdict::kOutOfMemory;
  if (signal == 0) return Verdict::kExited;
  if (signal == SIGSYS) return Verdict::kSandbox;
  if (signal != SIGKILL) {
    return signal == SIGTERM || signal == SIGHUP || signal == SIGINT ? Verdict::kKilled
                                                                     : Verdict::kCrash;
  }
  return oom_after.value_or(0) > oom_before.value_or(0) ? Verdict::kOutOfMemory : Verdict::kKilled;
}

std::string Death::describe() const {
  std::ostringstream text;
  switch (verdict()) {
    case Verdict::kTooSlow:
      text << "was ended by us after " << ours;
      break;
    case Verdict::kOutOfMemory:
      if (!ours.empty()) {
        text << "was ended by us: " << ours;
        break;
      }
      text << "was killed by the kernel for want of memory (oom_kill of its cgroup "
           << oom_before.value_or(0) << " -> " << oom_after.value_or(0) << ")";
      break;
    case Verdict::kKilled:
      text << "was killed from outside (" << name_of_signal(signal);
      if (signal == SIGKILL && !oom_after) {
        text << "; this machine does not say whether for want of memory";
      }
      text << ")";
      break;
    case Verdict::kCrash:
      text << "crashed (" << name_of_signal(signal) << ", " << strsignal(signal) << ")";
      break;
    case Verdict::kSandbox: {
      const std::string call = sandboxed_call(stack);
      text << "was ended by its sandbox: it called ";
      // The handler that tells which one does not run where signals are blocked.
      text << (call.empty() ? "what is not allowed there, as who starts a program does" : call);
      break;
    }
    case Verdict::kMute:
      text << "was ended by us: its channel to this process was closed or written to by something "
              "else (code in it that closes, or writes to, descriptors that it did not open?)";
      break;
    case Verdict::kExited:
      if (exit_code < 0) {
        text << "is gone; its exit status is unknown";
      } else {
        text << "ended itself with exit code " << exit_code;
      }
      break;
  }
  if (memory > 0) text << "; it held " << format_bytes(memory) << " when last seen";
  if (allowed > 0) text << (memory > 0 ? ", of " : "; it may hold ") << format_bytes(allowed);
  return text.str();
}

}  // namespace spillway
