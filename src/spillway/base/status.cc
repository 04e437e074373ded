#include "spillway/base/status.h"

namespace spillway {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUser:
      return "user";
    case ErrorKind::kData:
      return "data";
    case ErrorKind::kResource:
      return "resource";
    case ErrorKind::kTransient:
      return "transient";
    case ErrorKind::kBug:
      return "bug";
  }
  return "bug";
}

std::string_view to_string(Code code) {
  static constexpr std::string_view kNames[] = {
      "OK",
      "CANCELLED",
      "UNKNOWN",
      "INVALID_ARGUMENT",
      "DEADLINE_EXCEEDED",
      "NOT_FOUND",
      "ALREADY_EXISTS",
      "PERMISSION_DENIED",
      "RESOURCE_EXHAUSTED",
      "FAILED_PRECONDITION",
      "ABORTED",
      "OUT_OF_RANGE",
      "UNIMPLEMENTED",
      "INTERNAL",
      "UNAVAILABLE",
      "DATA_LOSS",
  };
  return kNames[static_cast<std::size_t>(code)];
}

Status cancelled() {
  return Status::error(ErrorKind::kUser, Code::kCancelled, "Iterator was cancelled");
}

}  // namespace spillway
