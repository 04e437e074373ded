#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace spillway {

// What processes tell each other, put together piece by piece: numbers as they lie in memory (both
// ends are on one machine), texts with their length.
class MessageWriter {
 public:
  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  MessageWriter& add(T value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    return *this;
  }
  MessageWriter& add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    bytes_.append(text);
    return *this;
  }
  // All that another one holds.
  MessageWriter& append(const MessageWriter& other) {
    bytes_.append(other.bytes_);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Takes one apart. What is not there reads as zero or empty, and ok() is false from then on: a
// worker whose memory was damaged may have written anything.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : left_(bytes) {}

  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  T get() {
    T value{};
    const std::string_view bytes = take(sizeof(T));
    bytes.copy(reinterpret_cast<char*>(&value), sizeof(T));
    return value;
  }
  std::string_view text() { return take(get<std::uint64_t>()); }
  // How many things follow, each of at least `least` bytes: never more than can be there.
  std::uint64_t count(std::size_t least) {
    const auto many = get<std::uint64_t>();
    if (many > left_.size() / least) ok_ = false;
    return ok_ ? many : 0;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return left_.empty(); }

 private:
  std::string_view take(std::uint64_t bytes) {
    if (!ok_ || bytes > left_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view out = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return out;
  }
  std::string_view left_;
  bool ok_ = true;
};

}  // namespace spillway
