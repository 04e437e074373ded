#include "spillway/graph/spilled.h"

#include "spillway/memory/spill_file.h"

namespace spillway::graph {
namespace {

constexpr std::string_view kValue = "value";

// One nameless file for all tensors of the process.
Result<std::shared_ptr<SpillFile>> tensor_file() {
  static auto& mutex = *new Mutex();
  static auto& file = *new std::shared_ptr<SpillFile>();
  const MutexLock lock(mutex);
  if (file == nullptr) {
    SW_ASSIGN(file, SpillFile::create());
  }
  return file;
}

// Bytes on disk; their place is free again when nobody refers to them.
struct SpilledValue {
  SpilledValue(std::shared_ptr<SpillFile> in, SpillSlot at, Spec of)
      : file(std::move(in)), slot(at), spec(std::move(of)) {}
  ~SpilledValue() { file->release(slot); }
  SpilledValue(const SpilledValue&) = delete;
  SpilledValue& operator=(const SpilledValue&) = delete;

  const std::shared_ptr<SpillFile> file;
  const SpillSlot slot;
  const Spec spec;
};

const SpilledValue& value_of(const Attrs& attrs) {
  return *static_cast<const SpilledValue*>(attrs.get<std::shared_ptr<const void>>(kValue)->get());
}

Status infer(Infer& c) {
  const Spec& spec = value_of(c.attrs()).spec;
  c.set(0, spec.dtype, spec.shape);
  return {};
}

Status read_back(Compute& c) {
  const SpilledValue& value = value_of(c.attrs);
  SW_ASSIGN(Tensor out, make_tensor(c.account, value.spec.dtype, value.spec.shape, c.ask));
  SW_RETURN_IF_ERROR(value.file->read(value.slot, out.mutable_data()));
  out.buffer()->touch();
  c.outputs.push_back(std::move(out));
  return {};
}

}  // namespace

constexpr OpDef unspill_op{.name = "unspill",
                           .summary = "A value that was moved to disk to make room.",
                           .params = {},
                           .infer = infer,
                           .compute = read_back};

Result<NodePtr> spill(const Operand& operand) {
  const Tensor& value = *operand.value();
  if (&operand.node->op() == &unspill_op) {
    return Node::make(unspill_op, {}, operand.node->attrs(), operand.node->site());
  }
  SW_ASSIGN(std::shared_ptr<SpillFile> file, tensor_file());
  SW_ASSIGN(const SpillSlot slot, file->write({value.data(), value.bytes()}));
  std::shared_ptr<const void> kept = std::make_shared<const SpilledValue>(
      std::move(file), slot, Spec{value.dtype(), value.shape()});
  Attrs attrs;
  attrs.set(kValue, Attr(std::move(kept)));
  return Node::make(unspill_op, {}, std::move(attrs), operand.node->site());
}

}  // namespace spillway::graph
