#include "spillway/guard/worker_verbs.h"

namespace spillway {

CauseCarrier& cause_carrier() {
  static CauseCarrier carrier;
  return carrier;
}

void write_kind(const WorkerKind& kind, MessageWriter& out) {
  out.add(static_cast<std::uint64_t>(kind.memory_limit));
}

WorkerKind read_kind(MessageReader& in) {
  WorkerKind kind;
  kind.memory_limit = in.get<std::uint64_t>();
  return kind;
}

void write_status(const Status& status, MessageWriter& out) {
  out.add(static_cast<std::uint8_t>(status.ok() ? 0 : 1));
  if (status.ok()) return;
  const ErrorInfo& info = status.info();
  out.add(info.kind).add(info.code).add(std::string_view(info.message));
  out.add(std::string_view(info.type)).add(std::string_view(info.file)).add(info.offset);
  const CauseCarrier& carrier = cause_carrier();
  std::string cause;
  if (info.cause != nullptr && carrier.write != nullptr) cause = carrier.write(info.cause);
  out.add(std::string_view(cause));
}

Status read_status(MessageReader& in) {
  if (in.get<std::uint8_t>() == 0) return {};
  ErrorInfo info;
  info.kind = in.get<ErrorKind>();
  info.code = in.get<Code>();
  info.message = in.text();
  info.type = in.text();
  info.file = in.text();
  info.offset = in.get<std::int64_t>();
  const std::string_view cause = in.text();
  if (!in.ok() || info.kind > ErrorKind::kBug || info.code > Code::kDataLoss) {
    return internal_bug("a worker's error arrived damaged");
  }
  const CauseCarrier& carrier = cause_carrier();
  if (!cause.empty() && carrier.read != nullptr) info.cause = carrier.read(cause);
  return Status(std::move(info));
}

}  // namespace spillway
