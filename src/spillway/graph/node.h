#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/graph/op.h"

namespace spillway::graph {

class Node;
using NodePtr = std::shared_ptr<const Node>;

// Where a node was written. Fronts keep it cheap and describe it when asked.
class Site {
 public:
  virtual ~Site() = default;
  virtual std::string describe() const = 0;
};
using SitePtr = std::shared_ptr<const Site>;

// One output of a node.
struct Operand {
  NodePtr node;
  int output = 0;

  inline const Spec& spec() const;
  // The value, when it is known. Stays valid while the operand is held.
  inline const Tensor* value() const;
};

// A step of a computation: an op, what it works on, where it was written. Immutable, but for the
// value, which is kept once it was computed; inputs are let go then. Thread-safe.
class Node {
 public:
  // Infers the outputs. An error names the op, each operand's spec and the line that made it.
  static Result<NodePtr> make(const OpDef& op, std::vector<Operand> inputs, Attrs attrs,
                              SitePtr site);
  // A value that is known.
  static NodePtr constant(Tensor value, SitePtr site = nullptr);
  // The same step, left for a call: what fails on known values fails there, where it is needed.
  static NodePtr deferred(const Node& node);
  // A value that comes with a call.
  static NodePtr parameter(Spec spec, SitePtr site = nullptr);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const OpDef& op() const { return *op_; }
  const Attrs& attrs() const { return attrs_; }
  // What was inferred; once evaluated, what the values are.
  const std::vector<Spec>& outputs() const {
    return evaluated() && !known_.empty() ? known_ : inferred_;
  }
  // What was inferred when it was made.
  const std::vector<Spec>& inferred() const { return inferred_; }
  const SitePtr& site() const { return site_; }
  std::string line() const { return site_ == nullptr ? std::string() : site_->describe(); }
  // Depends on a parameter, or is deferred: has no value outside a call.
  bool symbolic() const { return symbolic_; }
  bool evaluated() const { return evaluated_.load(std::memory_order_acquire); }
  // Only of an evaluated node.
  const std::vector<Tensor>& values() const { return values_; }
  // A copy: empty once evaluated, which another thread may do at any time.
  std::vector<Operand> inputs() const;
  // The inputs while it is pending; nullopt once evaluated.
  std::optional<std::vector<Operand>> pending_inputs() const;
  // How many inputs it was made with.
  std::size_t arity() const { return arity_; }
  // Hands the values of the inputs to `take`, one by one; only where all of them are known. False
  // once evaluated.
  template <class Take>
  bool take_inputs(Take take) const {
    const MutexLock lock(mutex_);
    if (evaluated_.load(std::memory_order_relaxed)) return false;
    for (const Operand& input : inputs_) take(*input.value());
    return true;
  }
  // Grows with every node made: tells what was traced since some moment.
  std::int64_t serial() const { return serial_; }
  // How many nodes must run for this one: at most so many, and exact from kMostPending on, where it
  // ends. Not of symbolic ones.
  static constexpr int kMostPending = 1000;
  int pending() const { return pending_; }

  // Keeps the values and lets go of the inputs; the first caller wins.
  void set_values(std::vector<Tensor> values) const;

 private:
  struct Made;  // what make_shared can make
  Node(const OpDef& op, std::vector<Operand> inputs, Attrs attrs, SitePtr site);

  const OpDef* const op_;
  const Attrs attrs_;
  const SitePtr site_;
  const std::int64_t serial_;
  const std::size_t arity_;
  std::vector<Spec> inferred_;
  bool symbolic_ = false;
  int pending_ = 0;
  mutable Mutex mutex_;
  mutable std::vector<Operand> inputs_ SW_GUARDED_BY(mutex_);
  mutable std::vector<Tensor> values_;  // written once, before evaluated_; so is known_
  mutable std::vector<Spec> known_;     // empty: as inferred
  mutable std::atomic<bool> evaluated_{false};
};

const Spec& Operand::spec() const { return node->outputs()[static_cast<std::size_t>(output)]; }
const Tensor* Operand::value() const {
  return node->evaluated() ? &node->values()[static_cast<std::size_t>(output)] : nullptr;
}

// An integer operand read as a shape, as far as it is known: a constant, the shape of something,
// a stack of dimensions.
std::optional<Shape> value_as_shape(const Operand& operand);

extern const OpDef constant_op;
extern const OpDef parameter_op;

}  // namespace spillway::graph
