#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace spillway {

// Who has to act. Error policies dispatch on this, never on message text.
enum class ErrorKind : std::uint8_t {
  kUser,       // the pipeline or a user function is wrong
  kData,       // this element is bad: skip / quarantine / fail, as the policy says
  kResource,   // budget, disk, descriptors: back off, then fail
  kTransient,  // worth retrying as is
  kBug,        // our invariant broke: always fail, never skip
};
std::string_view to_string(ErrorKind kind);

// TensorFlow's canonical codes, with its numbers.
enum class Code : std::uint8_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
};
std::string_view to_string(Code code);

// Everything an error knows. Filled where the fact is known: the operator states code and message,
// the stage adds its name, line and the element's index, the source adds file and offset.
struct ErrorInfo {
  ErrorKind kind = ErrorKind::kBug;
  Code code = Code::kInternal;
  std::string message;
  std::string type;    // a finer class of the front ("ElementTooLarge"); empty: by code
  std::string stage;   // "map#2"
  std::string line;    // where the user wrote the stage
  std::string origin;  // the element's address in words
  std::string file;
  std::int64_t offset = -1;
  std::int64_t index = -1;  // ordinal in the failing stage's own input, this epoch
  std::int64_t epoch = -1;
  int attempts = 1;
  std::shared_ptr<void> cause;        // the front's own exception object
  std::shared_ptr<const void> input;  // what the pipeline knows of the row (FailedRow)
};

// Cheap when ok (one null pointer). Copies share the facts.
class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(ErrorInfo info) : info_(std::make_shared<ErrorInfo>(std::move(info))) {}

  template <class... Parts>
  static Status error(ErrorKind kind, Code code, const Parts&... parts) {
    std::ostringstream text;
    (text << ... << parts);
    ErrorInfo info;
    info.kind = kind;
    info.code = code;
    info.message = text.str();
    return Status(std::move(info));
  }

  bool ok() const { return info_ == nullptr; }
  ErrorKind kind() const { return info().kind; }
  Code code() const { return ok() ? Code::kOk : info_->code; }
  std::string_view message() const { return ok() ? "ok" : std::string_view(info_->message); }
  const ErrorInfo& info() const {
    assert(!ok());
    return *info_;
  }
  // The facts are shared by copies of this Status: add to them before handing it on.
  ErrorInfo& edit() {
    assert(!ok());
    return *info_;
  }
  // Prefixes `where` so that the message reads outermost first.
  Status at(std::string_view where) && {
    if (!ok()) info_->message.insert(0, std::string(where) + ": ");
    return std::move(*this);
  }

 private:
  std::shared_ptr<ErrorInfo> info_;
};

// The user described something wrongly.
template <class... Parts>
Status invalid_argument(const Parts&... parts) {
  return Status::error(ErrorKind::kUser, Code::kInvalidArgument, parts...);
}
// This element is bad.
template <class... Parts>
Status bad_data(Code code, const Parts&... parts) {
  return Status::error(ErrorKind::kData, code, parts...);
}
template <class... Parts>
Status out_of_resource(const Parts&... parts) {
  return Status::error(ErrorKind::kResource, Code::kResourceExhausted, parts...);
}
template <class... Parts>
Status internal_bug(const Parts&... parts) {
  return Status::error(ErrorKind::kBug, Code::kInternal, parts...);
}
Status cancelled();

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<1>, std::move(value)) {}
  Result(Status error) : state_(std::in_place_index<0>, std::move(error)) {
    assert(!std::get<0>(state_).ok() && "a Result needs a value or an error");
  }
  bool ok() const { return state_.index() == 1; }
  T& value() & { return std::get<1>(state_); }
  const T& value() const& { return std::get<1>(state_); }
  T&& value() && { return std::get<1>(std::move(state_)); }
  Status status() && { return ok() ? Status() : std::get<0>(std::move(state_)); }
  const Status& error() const { return std::get<0>(state_); }
  Status& error() { return std::get<0>(state_); }

 private:
  std::variant<Status, T> state_;
};

}  // namespace spillway

#define SW_CONCAT_(a, b) a##b
#define SW_CONCAT(a, b) SW_CONCAT_(a, b)
#define SW_RETURN_IF_ERROR(expr)                             \
  do {                                                       \
    if (::spillway::Status s_ = (expr); !s_.ok()) return s_; \
  } while (false)
#define SW_ASSIGN_(tmp, lhs, expr)               \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return std::move(tmp).status(); \
  lhs = std::move(tmp).value()
#define SW_ASSIGN(lhs, expr) SW_ASSIGN_(SW_CONCAT(r_, __LINE__), lhs, expr)
