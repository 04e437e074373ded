#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spillway/base/status.h"
#include "spillway/graph/attr.h"
#include "spillway/tensor/tensor.h"

namespace spillway::graph {

// What is known of a value before it exists. The shape may be partly or wholly unknown.
struct Spec {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::string to_string() const;  // "float32 (3, None)"
};

// ---- What an op is asked
// -------------------------------------------------------------------------

// Shapes and types of a node's outputs from those of its inputs. The same function runs when the
// node is written (shapes may be unknown) and when it is planned (they are known).
class Infer {
 public:
  Infer(std::span<const Spec> inputs, std::span<const Tensor* const> constants,
        std::span<const std::optional<Shape>> shapes, const Attrs& attrs)
      : inputs_(inputs), constants_(constants), shapes_(shapes), attrs_(attrs) {}

  int inputs() const { return static_cast<int>(inputs_.size()); }
  const Spec& input(int i) const { return inputs_[static_cast<std::size_t>(i)]; }
  // The value of an input where it is known already; null otherwise.
  const Tensor* constant(int i) const { return constants_[static_cast<std::size_t>(i)]; }
  // An integer vector input read as a shape: dimensions not known yet are unknown.
  const std::optional<Shape>& as_shape(int i) const { return shapes_[static_cast<std::size_t>(i)]; }
  const Attrs& attrs() const { return attrs_; }

  void set(int output, DType dtype, Shape shape) {
    const auto at = static_cast<std::size_t>(output);
    if (outputs_.size() <= at) outputs_.resize(at + 1);
    outputs_[at] = Spec{dtype, std::move(shape)};
  }
  std::vector<Spec>& outputs() { return outputs_; }

 private:
  std::span<const Spec> inputs_;
  std::span<const Tensor* const> constants_;
  std::span<const std::optional<Shape>> shapes_;
  const Attrs& attrs_;
  std::vector<Spec> outputs_;
};

// A node whose operands have known types and shapes, ready to be made runnable.
struct Prepare {
  std::span<const Spec> inputs;
  std::span<const Spec> outputs;
  std::span<const Tensor* const> constants;
  const Attrs& attrs;
};

// ---- How an op runs
// ------------------------------------------------------------------------------

// Which rows a graph is run for: what random ops inside a function draw from.
struct Call {
  std::int64_t first_row = 0;  // index of the first row in the stage's input
  std::int64_t epoch = 0;
};

// Elementwise: a block of items at a time, in cache. Fused with its neighbours.
struct LoopArgs {
  const std::byte* const* in;  // one contiguous run of n items an input
  std::byte* out;
  std::int64_t n;
  std::int64_t first;  // index of the first item; row r begins at r * the row's items
  const void* data;
  const Call* call;
};
// -1, or the first item that failed.
using LoopFn = std::int64_t (*)(const LoopArgs&);
struct Loop {
  LoopFn fn = nullptr;
  std::shared_ptr<const void> data;
  std::string failure;  // what an item that failed is told
};

// A kernel on plain bytes: row-major operands whose shapes were fixed by prepare. run() allocates
// nothing and may be called from several threads, each with scratch of its own.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::size_t scratch() const { return 0; }
  virtual Status run(const std::byte* const* in, std::byte* const* out,
                     std::byte* scratch) const = 0;
  // What run() does, in parts that may run at the same time and in any order, each as run() does.
  // Splitting may cost a little, and changes no bit of the result.
  virtual std::int64_t parts() const { return 1; }
  virtual Status run_part(std::int64_t /*part*/, const std::byte* const* in, std::byte* const* out,
                          std::byte* scratch) const {
    return run(in, out, scratch);
  }
};
using KernelPtr = std::unique_ptr<Kernel>;

struct Fold;  // a reduction; see fold.h

// Tensors in, tensors out: strings, sizes that depend on values, control flow.
struct Compute {
  std::span<const Tensor> inputs;
  const Attrs& attrs;
  const AccountPtr& account;
  Buffer::Ask ask = Buffer::Ask::kRequired;
  Call call;
  std::vector<Tensor> outputs;

  Result<Tensor> make(DType dtype, const Shape& shape) const {
    return make_tensor(account, dtype, shape, ask);
  }
  Result<Tensor> strings(const Shape& shape, std::span<const std::string_view> items) const {
    return make_strings(account, shape, items, ask);
  }
};

// ---- What an op is
// -------------------------------------------------------------------------------

inline constexpr std::string_view kNothing;

enum class ParamKind : std::uint8_t {
  kTensor,    // one operand
  kTensors,   // a list of operands
  kOptional,  // an operand or None
  kBool,
  kInt,
  kFloat,
  kString,
  kDType,
  kInts,  // None, an integer or a list of them
  kShape,
};
// A parameter, in the order of the Python signature. Operands with the same `type` letter have the
// same dtype: a Python number takes that of the tensor beside it. Capital: any dtype; 'i': int32,
// 'l': int64, 's': string, 'b': bool, 'n': int32 or int64 (int32 when it comes from Python); '*':
// each of a list its own dtype.
struct ParamDef {
  std::string_view name;
  ParamKind kind;
  std::string_view fallback = kNothing;  // Python text of the default; empty: required
  char type = 'T';
};

// How far an op reaches.
enum class Effect : std::uint8_t {
  kNone,      // a function of its inputs that cannot fail on values
  kFallible,  // can fail on values: never deferred
  kState,     // draws from, or changes, something outside: never deferred, never folded
};

struct OpDef {
  std::string_view name;
  std::string_view summary;
  std::string_view example = kNothing;  // a doctest
  std::span<const ParamDef> params;
  std::string_view paths = kNothing;  // names in spillway.tf: "add math.add"; empty: not public
  int outputs = 1;                    // -1: as many as infer sets
  Effect effect = Effect::kNone;
  Status (*infer)(Infer&) = nullptr;
  // Exactly one of these five.
  Result<Loop> (*loop)(const Prepare&) = nullptr;
  Result<Fold> (*fold)(const Prepare&) = nullptr;  // attributes axis and keepdims
  Result<KernelPtr> (*prepare)(const Prepare&) = nullptr;
  Status (*compute)(Compute&) = nullptr;
  bool view = false;  // the same items under another shape
  // compute only: output item i depends on input items i alone (broadcast scalars aside), so that
  // many rows are computed as one.
  bool per_item = false;
  // compute only: the output depends on the inputs' shapes alone, never on their items.
  bool of_shape = false;
  // kernel: row i of the first output depends on row i of the first input alone (leading axis),
  // other inputs whole.
  bool rows = false;
};

// A known integer scalar or vector as a shape (negative: unknown); nullopt for anything else.
std::optional<Shape> shape_from(const Tensor& value);

std::span<const OpDef* const> all_ops();
const OpDef* find_op(std::string_view name);

template <class F>
class FunctionKernel final : public Kernel {
 public:
  FunctionKernel(F run, std::size_t scratch) : run_(std::move(run)), scratch_(scratch) {}
  std::size_t scratch() const override { return scratch_; }
  Status run(const std::byte* const* in, std::byte* const* out, std::byte* scratch) const override {
    return run_(in, out, scratch);
  }

 private:
  F run_;
  std::size_t scratch_;
};
// A kernel from a callable (in, out, scratch) -> Status.
template <class F>
KernelPtr make_kernel(F run, std::size_t scratch = 0) {
  return std::make_unique<FunctionKernel<F>>(std::move(run), scratch);
}

}  // namespace spillway::graph
