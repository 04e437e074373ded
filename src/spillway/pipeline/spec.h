#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/pipeline/value.h"

namespace spillway {

struct OperatorDef;
class Node;
using NodePtr = std::shared_ptr<const Node>;

inline constexpr std::int64_t kInfinite = -1;
inline constexpr std::int64_t kUnknownCount = -2;

// What is known about a node's elements without running it.
struct Inferred {
  StructurePtr structure;                    // null: known from the first element on
  std::int64_t cardinality = kUnknownCount;  // or kInfinite
};

// One operator of a pipeline. A pipeline is its last node: an immutable DAG. Identity matters for
// what nodes share between their iterators (a memory cache, a reshuffle generator), never for
// equality or hash.
class Node {
 public:
  // Checks the parameters against the definition and infers; kUser errors name the parameter.
  static Result<NodePtr> make(const OperatorDef& op, std::vector<Value> params,
                              std::vector<NodePtr> inputs, std::string line, std::string name = "");

  const OperatorDef& op() const { return *op_; }
  const std::vector<NodePtr>& inputs() const { return inputs_; }
  const std::vector<Value>& params() const { return params_; }
  const std::string& line() const { return line_; }
  const std::string& name() const { return name_; }  // the user's, or empty
  const StructurePtr& structure() const { return inferred_.structure; }
  std::int64_t cardinality() const { return inferred_.cardinality; }

  // Typed access; the type was checked by make(). `fallback` where the value is None.
  const Value& param(std::string_view name) const;
  std::int64_t int_param(std::string_view name, std::int64_t fallback = 0) const;
  double float_param(std::string_view name, double fallback = 0) const;
  bool bool_param(std::string_view name, bool fallback = false) const;
  std::string string_param(std::string_view name, std::string fallback = "") const;
  FunctionPtr function_param(std::string_view name) const;    // null when None
  ElementPtr element_param(std::string_view name) const;      // null when None
  StructurePtr signature_param(std::string_view name) const;  // null when None
  std::vector<std::int64_t> ints_param(std::string_view name) const;
  ObjectPtr object_param(std::string_view name) const;

  // State that all iterators of this very node share, made at first use.
  template <class T>
  std::shared_ptr<T> shared(const std::function<std::shared_ptr<T>()>& make) const {
    const MutexLock lock(shared_mutex_);
    if (shared_ == nullptr) shared_ = make();
    return std::static_pointer_cast<T>(shared_);
  }

  // Of the longest way to a source: a source has 1.
  std::int64_t depth() const { return depth_; }
  // Over the whole subtree: see is_pure() and may_overpull().
  bool pure() const { return pure_; }
  bool overpullable() const { return overpullable_; }

  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Operator names, semantic parameters, inputs and code of functions; equal for equal pipelines
  // built separately, in Python or C++, on any machine.
  std::uint64_t hash() const;
  // The same whatever seeds order its elements: as TensorFlow names the snapshots of a pipeline.
  std::uint64_t hash_without_seeds() const;
  // A line a node, the source first, with the user's lines.
  std::string to_string() const;

 private:
  Node() = default;
  const OperatorDef* op_ = nullptr;
  std::vector<Value> params_;
  std::vector<NodePtr> inputs_;
  std::string line_;
  std::string name_;
  Inferred inferred_;
  std::int64_t depth_ = 1;
  bool pure_ = false;
  bool overpullable_ = false;
  mutable Mutex shared_mutex_;
  mutable std::shared_ptr<void> shared_ SW_GUARDED_BY(shared_mutex_);
};

// The nodes of a pipeline, each once, inputs before those that use them. Never recurses: a pipeline
// may be thousands of stages long.
std::vector<const Node*> inputs_first(const Node& root);

// A dataset as a component of an element.
class DatasetValue final : public Variant {
 public:
  explicit DatasetValue(NodePtr node) : node_(std::move(node)) {}
  const NodePtr& node() const { return node_; }
  std::string describe() const override { return "dataset"; }

 private:
  NodePtr node_;
};

// An Optional as a component of an element.
class OptionalValue final : public Variant {
 public:
  explicit OptionalValue(ElementPtr element) : element_(std::move(element)) {}
  const ElementPtr& element() const { return element_; }  // null: empty
  std::string describe() const override { return "optional"; }

 private:
  ElementPtr element_;
};

// JSON, versioned. Arrays go along as base64; functions by the hash of their code: from_json asks
// `functions` for each, by its name in the file. What cannot be written (a Python object) is
// refused by name.
Result<std::string> to_json(const Node& node);
using FunctionLookup =
    std::function<Result<FunctionPtr>(const std::string& name, const std::string& code)>;
Result<NodePtr> from_json(const std::string& text, const FunctionLookup& functions);

}  // namespace spillway
