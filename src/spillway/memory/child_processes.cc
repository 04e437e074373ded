#include "spillway/memory/child_processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace spillway {
namespace {

constexpr int kMost = 1000;  // as if it held all memory that there is
constexpr int kDeepest = 8;  // children of children

template <std::size_t kSize>
std::string_view read_text(const std::string& path, std::array<char, kSize>& text) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const ssize_t n = read(fd, text.data(), text.size());
  close(fd);
  return n <= 0 ? std::string_view() : std::string_view(text.data(), static_cast<std::size_t>(n));
}

int score_of(const std::string& process) {
  std::array<char, 16> text{};
  const std::string_view said = read_text("/proc/" + process + "/oom_score_adj", text);
  int score = kMost;
  std::from_chars(said.data(), said.data() + said.size(), score);
  return score;
}

std::atomic<bool> forked_too{false};

// Between fork() and exec(): nothing is allocated here.
void offer_itself() {
  if (!forked_too.load()) return;
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t wrote = write(fd, "1000", 4);
  close(fd);
}

void set_score(const std::string& process, int score) {
  const int fd = open(("/proc/" + process + "/oom_score_adj").c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;  // it has ended, or is somebody else's
  const std::string text = std::to_string(score);
  [[maybe_unused]] const ssize_t wrote = write(fd, text.data(), text.size());
  close(fd);
}

void offer_children_of(const std::string& process, int own, int depth) {
  DIR* tasks = opendir(("/proc/" + process + "/task").c_str());
  if (tasks == nullptr) return;
  while (const dirent* each = readdir(tasks)) {
    if (std::atoi(each->d_name) <= 0) continue;
    std::array<char, 4096> text{};
    std::string_view said =
        read_text("/proc/" + process + "/task/" + each->d_name + "/children", text);
    for (auto end = said.find(' '); end != std::string_view::npos; end = said.find(' ')) {
      const std::string child(said.substr(0, end));
      said.remove_prefix(end + 1);
      if (score_of(child) == own) set_score(child, kMost);
      if (depth < kDeepest) offer_children_of(child, own, depth + 1);
    }
  }
  closedir(tasks);
}

}  // namespace

void offer_children() {
  const int own = score_of("self");
  if (own < kMost) offer_children_of("self", own, 0);
}

void offer_forked_children(bool on) {
  static const bool kFollowsForks = pthread_atfork(nullptr, nullptr, offer_itself) == 0;
  forked_too = on && kFollowsForks;
}

}  // namespace spillway
