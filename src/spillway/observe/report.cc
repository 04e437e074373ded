#include "spillway/observe/report.h"

#include <array>
#include <atomic>
#include <cstdio>

namespace spillway {
namespace {

std::atomic<GuardReport> reporter{nullptr};

// The next line, cut off from `text`.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

void set_guard_report(GuardReport report) { reporter = report; }

void guard_report(const std::string& text) {
  if (const GuardReport tell = reporter) tell(text);
}

std::string users_part(std::string_view stack, std::string_view package) {
  std::string out;
  while (!stack.empty()) {
    const std::string_view line = take_line(stack);
    const bool ours =
        line.find("/spillway/guard/") != std::string_view::npos ||
        line.find("File \"<string>\", line 1 in <module>") != std::string_view::npos ||
        line.starts_with("Extension modules:") || line.starts_with("sandbox: ") || line.empty() ||
        (!package.empty() && line.find(package) != std::string_view::npos);
    if (!ours) out.append(line).append("\n");
  }
  return out;
}

std::string part_of_thread(std::string_view stacks, unsigned long long ident) {
  std::array<char, 40> hex{};
  std::snprintf(hex.data(), hex.size(), "hread 0x%016llx ", ident);
  std::string out;
  bool inside = false;
  while (!stacks.empty()) {
    const std::string_view line = take_line(stacks);
    if (line.starts_with("Thread 0x") || line.starts_with("Current thread 0x")) {
      inside = line.find(hex.data()) != std::string_view::npos;
    } else if (inside && line.starts_with("  ")) {
      out.append(line).append("\n");
    }
  }
  return out;
}

}  // namespace spillway
