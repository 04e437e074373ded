#include "spillway/guard/worker_verbs.h"

#include "spillway/base/interruption.h"

namespace spillway {
namespace {

// What an error may take on its way: the front bounds what it writes, far below. A stranger's
// worker may send anything.
constexpr std::size_t kMostText = std::size_t{256} << 10U;
constexpr std::size_t kMostCause = std::size_t{4} << 20U;

}  // namespace

CauseCarrier& cause_carrier() {
  static CauseCarrier carrier;
  return carrier;
}

void write_kind(const WorkerKind& kind, MessageWriter& out) {
  out.add(static_cast<std::uint64_t>(kind.memory_limit));
  out.add(static_cast<std::uint8_t>(kind.sandboxed ? 1 : 0));
  out.add(static_cast<std::uint64_t>(kind.folders.size()));
  for (const std::string& folder : kind.folders) out.add(std::string_view(folder));
}

WorkerKind read_kind(MessageReader& in) {
  WorkerKind kind;
  kind.memory_limit = in.get<std::uint64_t>();
  kind.sandboxed = in.get<std::uint8_t>() != 0;
  const auto folders = in.count(sizeof(std::uint64_t));
  for (std::uint64_t i = 0; i < folders; ++i) kind.folders.emplace_back(in.text());
  return kind;
}

void write_status(const Status& status, MessageWriter& out) {
  out.add(static_cast<std::uint8_t>(status.ok() ? 0 : 1));
  if (status.ok()) return;
  const ErrorInfo& info = status.info();
  const auto bounded = [](std::string_view text) { return text.substr(0, kMostText); };
  out.add(info.kind).add(info.code).add(bounded(info.message));
  out.add(bounded(info.type)).add(bounded(info.file)).add(info.offset);
  const CauseCarrier& carrier = cause_carrier();
  std::string cause;
  if (info.cause != nullptr && carrier.write != nullptr) cause = carrier.write(info.cause);
  out.add(cause.size() > kMostCause ? std::string_view() : std::string_view(cause));
}

Status read_status(MessageReader& in, bool trusted) {
  if (in.get<std::uint8_t>() == 0) return {};
  ErrorInfo info;
  info.kind = in.get<ErrorKind>();
  info.code = in.get<Code>();
  info.message = in.text().substr(0, kMostText);
  info.type = in.text().substr(0, kMostText);
  info.file = in.text().substr(0, kMostText);
  info.offset = in.get<std::int64_t>();
  const std::string_view cause = in.text();
  if (!in.ok() || info.kind > ErrorKind::kBug || info.code > Code::kDataLoss) {
    return internal_bug("a worker's error arrived damaged");
  }
  if (!trusted && info.type == kInterruption) {  // a stranger's code ends nobody's program
    info.type.clear();
    info.code = Code::kUnknown;
  }
  const CauseCarrier& carrier = cause_carrier();
  const auto read = trusted ? carrier.read : carrier.read_untrusted;
  if (!cause.empty() && cause.size() <= kMostCause && read != nullptr) info.cause = read(cause);
  return Status(std::move(info));
}

}  // namespace spillway
