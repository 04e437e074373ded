#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spillway/pipeline/function.h"

namespace spillway {

// Something of the front's that the engine only carries: a generator, its arguments.
class Object {
 public:
  virtual ~Object() = default;
  virtual std::string describe() const = 0;
  // What enters the spec's hash; empty: nothing but that it is there.
  virtual std::string code() const { return {}; }
};
using ObjectPtr = std::shared_ptr<Object>;

struct ValueList;

// A parameter of an operator.
using Value = std::variant<std::monostate,  // None
                           bool, std::int64_t, double, std::string,
                           StructurePtr,  // a nest of specs
                           ElementPtr,    // a nest of tensors
                           FunctionPtr, ObjectPtr, std::shared_ptr<const ValueList>>;
struct ValueList {
  std::vector<Value> items;
};
inline bool is_none(const Value& value) { return value.index() == 0; }

enum class ParamType : std::uint8_t {
  kInt,  // also from an integer tensor
  kFloat,
  kBool,
  kString,
  kElement,    // nest of arrays -> ElementPtr
  kSlices,     // the same, lists become tensors (from_tensor_slices)
  kSignature,  // nest of specs -> StructurePtr
  kFunction,
  kDataset,   // becomes an input, not a parameter
  kDatasets,  // a list (or nest) of datasets, all of them inputs
  kInts,      // an int or a list of ints -> ValueList
  kShapes,    // nest of shapes (None: unknown) -> StructurePtr with dtype ignored
  kObject,
};
std::string_view to_string(ParamType type);

// One parameter in an operator's definition: the front's signature, the docs, the hash and the
// CLI are derived from it.
struct ParamDef {
  std::string_view name;
  ParamType type;
  std::string_view fallback;  // default as Python writes it: "None", "1", "False"; empty: required
  std::string_view doc;
  bool tuning = false;  // changes speed or safety, never results: left out of the hash
  bool seed = false;    // of an order: left out of Node::hash_without_seeds()
};

// What its text means; None for a required one.
Value default_of(const ParamDef& param);

// What every stage can be told about elements that fail in it (policy.h reads them).
inline constexpr ParamDef kPolicyParams[] = {
    {"on_error", ParamType::kString, "None", "'raise', 'skip', 'retry' or 'quarantine'"},
    {"retries", ParamType::kInt, "None", "further attempts for an element that fails", true},
    {"backoff", ParamType::kFloat, "None", "seconds before the first retry, doubled each time",
     true},
    {"max_errors", ParamType::kInt, "None", "then TooManyErrors", true},
    {"max_error_rate", ParamType::kFloat, "None", "share of elements, from the 100th on", true},
    {"quarantine", ParamType::kString, "None", "file for on_error='quarantine'", true},
    {"early_end", ParamType::kBool, "None",
     "True: a source that fails and gives no more may be skipped, too", true},
};

// An operator's parameters: its own, then the policy every stage has.
class ParamList {
 public:
  constexpr ParamList() = default;
  template <std::size_t N>
  constexpr ParamList(const ParamDef (&own)[N]) : own_(own) {}
  // Of an operator that is itself a policy.
  template <std::size_t N>
  static constexpr ParamList without_policy(const ParamDef (&own)[N]) {
    ParamList out(own);
    out.policy_ = {};
    return out;
  }

  constexpr std::size_t size() const { return own_.size() + policy_.size(); }
  constexpr const ParamDef& operator[](std::size_t i) const {
    return i < own_.size() ? own_[i] : policy_[i - own_.size()];
  }
  constexpr std::span<const ParamDef> own() const { return own_; }
  constexpr std::span<const ParamDef> policy() const { return policy_; }

  class Position {
   public:
    Position(const ParamList& list, std::size_t at) : list_(&list), at_(at) {}
    const ParamDef& operator*() const { return (*list_)[at_]; }
    Position& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const Position& other) const { return at_ != other.at_; }

   private:
    const ParamList* list_;
    std::size_t at_;
  };
  Position begin() const { return {*this, 0}; }
  Position end() const { return {*this, size()}; }

 private:
  std::span<const ParamDef> own_;
  std::span<const ParamDef> policy_ = kPolicyParams;
};

}  // namespace spillway
