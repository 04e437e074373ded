#include "spillway/pipeline/policy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "spillway/base/base64.h"
#include "spillway/base/bytes.h"
#include "spillway/base/mutant.h"
#include "spillway/guard/channel.h"
#include "spillway/io/formats/text_lines.h"
#include "spillway/io/regular_file.h"
#include "spillway/pipeline/disk_failure.h"
#include "spillway/pipeline/operator.h"
#include "spillway/pipeline/sealed_json.h"
#include "spillway/pipeline/structure_json.h"

namespace spillway {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 2;  // 1: lines without a checksum

Status not_written(const std::string& path) {
  Status status = write_failure("quarantine: cannot write to", path, errno);
  if (is_disk_failure(status)) return status;
  status = Status::error(ErrorKind::kResource, Code::kUnavailable, status.message());
  status.edit().file = path;
  status.edit().type = "FileError";
  return status;
}

Result<int> open_to_append(const std::string& path) {
  const mode_t mode = mutant("files_open_to_all") ? 0644 : 0600;
  auto fd = open_regular(path, O_WRONLY | O_CREAT | O_APPEND, mode);
  if (!fd.ok()) return std::move(fd).status().at("quarantine: cannot open");
  return fd;
}

// All of `line`, or nothing of it.
Status append(const std::string& path, std::string_view line) {
  SW_ASSIGN(const int fd, open_to_append(path));
  const Descriptor file(fd);
  const ssize_t n = ::write(file.get(), line.data(), line.size());
  if (n == static_cast<ssize_t>(line.size())) return {};
  if (n >= 0) errno = ENOSPC;
  Status failed = not_written(path);
  struct stat about{};
  // What another process appended meanwhile stays.
  const off_t end = ::lseek(file.get(), 0, SEEK_CUR);
  if (n > 0 && ::fstat(file.get(), &about) == 0 && about.st_size == end &&
      ::ftruncate(file.get(), end - n) != 0) {
    failed.edit().message += "; the file ends with a part of a line";
  }
  return failed;
}

// Whether the last line has no end: of a process that was killed, or a full disk.
Result<bool> is_cut_off(const std::string& path) {
  SW_ASSIGN(const FilePtr file, open_growing_file(path));
  if (file->size() == 0) return false;
  std::byte last{};
  SW_ASSIGN(const std::size_t read, file->read(file->size() - 1, {&last, 1}));
  return read == 1 && last != std::byte{'\n'};
}

// What a value that was parsed takes, and what is made of it, for each byte of its text.
constexpr std::size_t kParsed = 8;

// Each line of the file with its number, under the account: one that does not fit is an error.
Status for_each_line(const std::string& path, const AccountPtr& account,
                     const std::function<Status(std::int64_t number, std::string_view line)>& use) {
  SW_ASSIGN(FilePtr file, open_growing_file(path));
  SW_ASSIGN(auto stream, ByteStream::open(std::move(file), Compression::kNone, account));
  SW_ASSIGN(const RecordReaderPtr lines, read_text_lines(std::move(stream)));
  std::int64_t number = 0;
  for (bool more = true; more;) {
    StringRows some(account, 1, 0);
    SW_ASSIGN(more, lines->read(some));
    if (some.count() == 0) continue;
    const Tensor line = some.take();
    const std::string_view text = line.string_at(0);
    auto room = account->reserve(kParsed * text.size());
    if (!room.ok()) {
      Status status = std::move(room).status().at(path + ": line " + std::to_string(number + 1));
      status.edit().file = path;
      return status;
    }
    SW_RETURN_IF_ERROR(use(++number, text));
  }
  return {};
}

// The file is not trusted: a value may be of any type.
std::string text_in(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
}
std::int64_t number_in(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
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
  policy.early_end = node.bool_param("early_end");
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

Status ending_source(Status error) {
  FailedRow row = failed_row(error);
  row.ends_source = true;
  set_failed_row(error, std::move(row));
  return error;
}

void may_be_told(Status& interruption) {
  FailedRow row = failed_row(interruption);
  row.told = std::make_shared<std::atomic<bool>>(false);
  set_failed_row(interruption, std::move(row));
}

void tell(const Status& interruption) {
  if (const auto told = failed_row(interruption).told) *told = true;
}

bool was_told(const Status& interruption) {
  const auto told = failed_row(interruption).told;
  return told == nullptr || *told;
}

Status ending_file(Status error) {
  FailedRow row = failed_row(error);
  row.ends_file = true;
  set_failed_row(error, std::move(row));
  return error;
}

Status losing(Status error, const Amount& lost) {
  FailedRow row = failed_row(error);
  row.lost = lost;
  set_failed_row(error, std::move(row));
  return error;
}

Result<std::shared_ptr<Quarantine>> Quarantine::open(const std::string& path) {
  SW_ASSIGN(const int fd, open_to_append(path));
  close(fd);
  std::shared_ptr<Quarantine> out(
      new Quarantine(path, Budget::process().open_account("quarantine")));
  const MutexLock lock(out->mutex_);
  const auto note = [&](std::int64_t, std::string_view line) SW_NO_TSA -> Status {
    const Json entry = Json::parse(line, nullptr, false);
    if (!entry.is_object()) return {};
    out->make_room();
    out->seen_.push_back(
        key_of(text_in(entry, "stage"), text_in(entry, "origin"), number_in(entry, "index")));
    return {};
  };
  SW_ASSIGN(out->cut_off_, is_cut_off(path));
  if (Status read = for_each_line(path, out->account_, note); !read.ok()) {
    return std::move(read).at("quarantine");
  }
  std::ranges::sort(out->seen_);
  return out;
}

// For one more key.
void Quarantine::make_room() {
  if (seen_.size() < seen_.capacity()) return;
  const std::size_t more = std::max<std::size_t>(2 * seen_.size(), 512);
  Reservation room = account_->charge(more * sizeof(std::uint64_t));
  seen_.reserve(more);
  room_ = std::move(room);
  room_.touch();
}

Status Quarantine::add(const Status& error) {
  const ErrorInfo& info = error.info();
  const std::uint64_t key = key_of(info.stage, info.origin, info.index);
  const MutexLock lock(mutex_);
  make_room();
  const auto at = std::ranges::lower_bound(seen_, key);
  if (at != seen_.end() && *at == key) return {};
  Json entry = {{"version", kVersion},
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
  const std::string line = (cut_off_ ? "\n" : "") +
                           seal_json(entry.dump(-1, ' ', true, Json::error_handler_t::replace)) +
                           "\n";
  SW_RETURN_IF_ERROR(append(path_, line));
  cut_off_ = false;
  seen_.insert(at, key);
  return {};
}

Result<std::vector<ElementPtr>> read_quarantine(const std::string& path,
                                                const AccountPtr& account) {
  std::vector<ElementPtr> out;
  const auto parse = [&](std::int64_t number, std::string_view line) -> Status {
    const auto corrupt = [&](std::string_view why) {
      Status status = bad_data(Code::kDataLoss, "quarantine: ", path, " line ", number, ": ", why);
      status.edit().file = path;
      status.edit().type = "CorruptFile";
      return status;
    };
    const Json entry = Json::parse(line, nullptr, false);
    if (!entry.is_object()) return corrupt("not JSON");
    const JsonSeal seal = check_json(line);
    const auto version = entry.find("version");
    const bool plain = version != entry.end() && version->is_number_integer() && *version == 1;
    if (seal == JsonSeal::kBroken || (seal == JsonSeal::kNone && !plain)) {
      return corrupt("the line does not have its checksum: it was changed");
    }
    if (!entry.contains("input")) return {};  // the input could not be stored
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
    return {};
  };
  if (Status read = for_each_line(path, account, parse); !read.ok()) {
    return read.info().type == "CorruptFile" ? read : std::move(read).at("quarantine");
  }
  return out;
}

}  // namespace spillway
