#include "spillway/io/file_stamp.h"

#include <ctime>

namespace spillway {
namespace {

std::int64_t ns_of(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// In UTC.
std::string time_text(std::int64_t ns) {
  const std::time_t seconds = ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32] = {};
  const std::size_t n = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  std::string fraction = std::to_string(ns % 1'000'000'000);
  fraction.insert(0, 9 - std::min<std::size_t>(9, fraction.size()), '0');
  return std::string(text, n) + "." + fraction;
}

std::string moved(const char* what, std::int64_t before, std::int64_t now) {
  return std::string(what) + ": expected " + time_text(before) + ", found " + time_text(now);
}

}  // namespace

FileStamp stamp_of(const struct stat& about) {
  return {about.st_dev,         about.st_ino,         static_cast<std::uint64_t>(about.st_size),
          ns_of(about.st_mtim), ns_of(about.st_ctim), about.st_mode,
          about.st_uid,         about.st_gid,         about.st_nlink};
}

std::string what_changed(const FileStamp& before, const FileStamp& now) {
  if (before == now) return {};
  if (before.device != now.device || before.inode != now.inode) {
    return "another file has its name now (inode " + std::to_string(before.inode) + ", then " +
           std::to_string(now.inode) + ")";
  }
  if (before.size != now.size) {
    return "the size: expected " + std::to_string(before.size) + " bytes, found " +
           std::to_string(now.size);
  }
  if (before.modified_ns != now.modified_ns) {
    return moved("the time of its last change", before.modified_ns, now.modified_ns);
  }
  const bool explained = before.mode != now.mode || before.owner != now.owner ||
                         before.group != now.group || before.links != now.links;
  if (explained || before.changed_ns == now.changed_ns) return {};
  return moved("its status was changed (ctime)", before.changed_ns, now.changed_ns);
}

}  // namespace spillway
