#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spillway/base/status.h"
#include "spillway/tensor/tensor.h"

namespace spillway {

// Bytes of a state that others contain: shared by all of them, so that a chain of stages, each of
// which notes the state of what is below it, does not copy what is below all of them. Immutable.
class StateBytes {
 public:
  StateBytes() = default;
  ~StateBytes();
  StateBytes(const StateBytes&) = delete;
  StateBytes& operator=(const StateBytes&) = delete;

  std::size_t size() const { return size_; }
  std::string flat() const;

 private:
  friend class StateWriter;
  struct Piece {
    std::string own;
    std::shared_ptr<const StateBytes> nested;  // behind `own`; may be null
  };
  std::vector<Piece> pieces_;
  std::size_t size_ = 0;
};
using StatePtr = std::shared_ptr<const StateBytes>;

// The state of an iterator, as bytes: small integers in one byte each, one section an operator in
// the order of the pipeline. Written and read in the same order; a reader never reads past its
// section, and a wrong section names both operators.
class StateWriter {
 public:
  void put(std::int64_t value);
  void put(std::string_view bytes);
  void put_values(std::span<const Tensor> values);  // content; fails at read if not storable
  void begin(std::string_view op);                  // a tag that restore checks
  // As put(bytes) of the same bytes, which stay shared.
  void put(const StatePtr& state);
  const std::string& bytes() const;
  std::string take() && {
    if (before_.empty()) return std::move(bytes_);
    return bytes();
  }
  // What was written, to be put into another state.
  StatePtr share() &&;
  Status status() const { return status_; }

 private:
  std::vector<StateBytes::Piece> before_;
  std::size_t size_before_ = 0;  // of them
  mutable std::string flat_;     // all of it, made by bytes()
  std::string bytes_;
  Status status_;
};

class StateReader {
 public:
  explicit StateReader(std::string_view bytes) : bytes_(bytes) {}
  Status begin(std::string_view op);
  Status get(std::int64_t& value);
  Status get(std::string& value);
  Status get(std::string_view& value);  // good as long as the bytes that are read
  // A count or a position: refused unless in [0, most]. States are not trusted.
  Status get_count(std::int64_t& value, std::int64_t most = INT64_MAX);
  Result<std::vector<Tensor>> get_values(const AccountPtr& account);
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

// What the passes over a node share and the next pass depends on (a reshuffle's generator). Goes
// into the state of a pass that has ended; a pass under way saves it with its iterator.
class SharedState {
 public:
  virtual ~SharedState() = default;
  virtual void save(StateWriter& out) const = 0;
  virtual Status restore(StateReader& in) = 0;
};

}  // namespace spillway
