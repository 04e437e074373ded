#include "spillway/pipeline/policy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "spillway/base/base64.h"
#include "spillway/base/bytes.h"
#include "spillway/base/mutant.h"
#include "spillway/guard/channel.h"
#include "spillway/pipeline/operator.h"
#include "spillway/pipeline/sealed_json.h"
#include "spillway/pipeline/structure_json.h"

namespace spillway {
namespace {

constexpr int kVersion = 2;  // 1: lines without a checksum

Status file_error(const std::string& path, const char* doing) {
  Status status = Status::error(ErrorKind::kResource, Code::kUnavailable, "quarantine: ", doing,
                                " ", path, ": ", std::strerror(errno));
  status.edit().file = path;
  status.edit().type = "FileError";
  return status;
}

// All of `line`, or nothing of it.
Status append(const std::string& path, std::string_view line) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_CREAT, 0600));
  if (!file) return file_error(path, "cannot open");
  const ssize_t n = ::write(file.get(), line.data(), line.size());
  if (n == static_cast<ssize_t>(line.size())) return {};
  if (n >= 0) errno = ENOSPC;
  Status failed = file_error(path, "cannot write to");
  struct stat about{};
  // What another process appended meanwhile stays.
  const off_t end = ::lseek(file.get(), 0, SEEK_CUR);
  if (n > 0 && ::fstat(file.get(), &about) == 0 && about.st_size == end &&
      ::ftruncate(file.get(), end - n) != 0) {
    failed.edit().message += "; the file ends with a part of a line";
  }
  return failed;
}

std::uint64_t key_of(const std::string& stage, const std::string& origin, std::int64_t index) {
  Fnv64 hash;
  hash.add(stage);
  hash.add(origin);
  hash.add(static_cast<std::uint64_t>(index));
  return hash.value();
}

Result<OnError::Action> parse(std::string_view action) {
  using Action = OnError::Action;
  if (action == "raise") return Action::kRaise;
  if (action == "skip") return Action::kSkip;
  if (action == "retry") return Action::kRetry;
  if (action == "quarantine") return Action::kQuarantine;
  Status status =
      invalid_argument("on_error must be 'raise', 'skip', 'retry' or 'quarantine': '", action, "'");
  status.edit().type = "ValueError";
  return status;
}

}  // namespace

Result<OnError> OnError::of(const Node& node, std::string_view action_param) {
  SW_ASSIGN(const Action action, parse(node.string_param(action_param, "raise")));
  OnError policy;
  policy.action = action;
  policy.retries = node.int_param("retries", action == Action::kRetry ? 2 : 0);
  policy.backoff_s = node.float_param("backoff", 0.1);
  policy.max_errors = node.int_param("max_errors", -1);
  policy.max_error_rate = node.float_param("max_error_rate", -1);
  policy.quarantine = node.string_param("quarantine");
  if (action == Action::kQuarantine && policy.quarantine.empty()) {
    Status status = invalid_argument(node.op().name, ": ", action_param,
                                     "='quarantine' must come with quarantine=<file>");
    status.edit().type = "ValueError";
    return status;
  }
  return policy;
}

FailedRow failed_row(const Status& error) {
  const auto& known = error.info().input;
  return known == nullptr ? FailedRow{} : *static_cast<const FailedRow*>(known.get());
}

void set_failed_row(Status& error, FailedRow row) {
  error.edit().input = std::make_shared<const FailedRow>(std::move(row));
}

Status losing(Status error, const Amount& lost) {
  FailedRow row = failed_row(error);
  row.lost = lost;
  set_failed_row(error, std::move(row));
  return error;
}

Result<std::shared_ptr<Quarantine>> Quarantine::open(const std::string& path) {
  const mode_t mode = mutant("files_open_to_all") ? 0644 : 0600;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, mode);
  if (fd < 0) return file_error(path, "cannot open");
  close(fd);
  std::shared_ptr<Quarantine> out(new Quarantine(path));
  std::ifstream lines(path);
  const MutexLock lock(out->mutex_);
  for (std::string line; std::getline(lines, line);) {
    out->cut_off_ = lines.eof();  // by a process that was killed, or a full disk
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    if (!entry.is_object()) continue;
    out->seen_.push_back(key_of(entry.value("stage", ""), entry.value("origin", ""),
                                entry.value("index", std::int64_t{-1})));
  }
  std::ranges::sort(out->seen_);
  return out;
}

Status Quarantine::add(const Status& error) {
  const ErrorInfo& info = error.info();
  const std::uint64_t key = key_of(info.stage, info.origin, info.index);
  const MutexLock lock(mutex_);
  const auto at = std::ranges::lower_bound(seen_, key);
  if (at != seen_.end() && *at == key) return {};
  nlohmann::json entry = {{"version", kVersion},
                          {"stage", info.stage},
                          {"line", info.line},
                          {"origin", info.origin},
                          {"index", info.index},
                          {"epoch", info.epoch},
                          {"file", info.file},
                          {"offset", info.offset},
                          {"kind", to_string(info.kind)},
                          {"code", to_string(info.code)},
                          {"attempts", info.attempts},
                          {"message", info.message}};
  if (const Chunk chunk = failed_row(error).input; chunk.rows() > 0) {
    std::vector<std::byte> bytes;
    const Row row = chunk.row(0);
    if (append_row_bytes(row.values, bytes).ok() && chunk.structure() != nullptr) {
      entry["structure"] = structure_to_json(*observed(*chunk.structure(), row.values));
      entry["input"] = to_base64(bytes);
    }
  }
  // One write a line, so that lines of two processes never mix.
  const std::string line =
      (cut_off_ ? "\n" : "") +
      seal_json(entry.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)) + "\n";
  SW_RETURN_IF_ERROR(append(path_, line));
  cut_off_ = false;
  seen_.insert(at, key);
  return {};
}

Result<std::vector<ElementPtr>> read_quarantine(const std::string& path,
                                                const AccountPtr& account) {
  std::ifstream lines(path);
  if (!lines) {
    Status status = Status::error(ErrorKind::kData, Code::kNotFound, "quarantine: cannot open ",
                                  path, ": ", std::strerror(errno));
    status.edit().file = path;
    status.edit().type = "FileError";
    return status;
  }
  std::vector<ElementPtr> out;
  std::int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto corrupt = [&](std::string_view why) {
      Status status = bad_data(Code::kDataLoss, "quarantine: ", path, " line ", number, ": ", why);
      status.edit().file = path;
      status.edit().type = "CorruptFile";
      return status;
    };
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    if (!entry.is_object()) return corrupt("not JSON");
    const JsonSeal seal = check_json(line);
    const auto version = entry.find("version");
    const bool plain = version != entry.end() && version->is_number_integer() && *version == 1;
    if (seal == JsonSeal::kBroken || (seal == JsonSeal::kNone && !plain)) {
      return corrupt("the line does not have its checksum: it was changed");
    }
    if (!entry.contains("input")) continue;  // the input could not be stored
    if (!entry["input"].is_string() || !entry.contains("structure")) return corrupt("no input");
    auto structure = structure_from_json(entry["structure"]);
    if (!structure.ok()) return corrupt(structure.error().message());
    const auto bytes = from_base64(entry["input"].get<std::string>());
    if (!bytes) return corrupt("not base64");
    auto values = parse_row_bytes(account, *bytes);
    if (!values.ok()) return corrupt(values.error().message());
    if (Status fits = check_values(*structure.value(), values.value()); !fits.ok()) {
      return corrupt(fits.message());
    }
    out.push_back(std::make_shared<Element>(
        Element{std::move(structure).value(), std::move(values).value()}));
  }
  return out;
}

}  // namespace spillway
