#include "tensors.h"

#include <nanobind/nanobind.h>

#include <array>
#include <optional>
#include <typeinfo>

#include "bindings.h"
#include "interrupts.h"
#include "spillway/graph/evaluate.h"
#include "spillway/pipeline/run.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

// A code object and a place in it: turned into words only when somebody asks.
class FrameSite final : public graph::Site {
 public:
  FrameSite(PyCodeObject* code, int at)
      : code_(keep_object(Ref::borrow(reinterpret_cast<PyObject*>(code)))),
        at_(at),
        use_(line_count(code->co_filename, PyCode_Addr2Line(code, at))) {}

  LineCount& count() const { return use_.count(); }

  std::string describe() const override {
    const WithGil gil;
    PyObject* code = kept_object(code_);
    const int line = PyCode_Addr2Line(reinterpret_cast<PyCodeObject*>(code), at_);
    const Ref text =
        Ref::steal(PyObject_CallFunction(types().describe_line.get(), "Oi", code, line));
    const char* chars = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
    if (chars == nullptr) forget_exception();
    return chars == nullptr ? std::string() : std::string(chars);
  }

 private:
  const std::shared_ptr<void> code_;
  const int at_;
  const LineUse use_;
};

// What loops ask for again and again is remembered, by address: what is remembered is kept alive,
// so that no other object can have its address. With the GIL; never destroyed.
constexpr std::size_t kRemembered = 64;
constexpr std::size_t kRememberedSites = 512;  // a new one costs as much as its tensor

std::size_t slot_of(const void* object, int at, std::size_t slots = kRemembered) {
  return (reinterpret_cast<std::uintptr_t>(object) / 16 + static_cast<unsigned>(at)) % slots;
}

graph::SitePtr site_at(PyCodeObject* code, int at) {
  struct Known {
    PyCodeObject* code = nullptr;
    int at = 0;
    graph::SitePtr site;
  };
  static auto& known = *new std::array<Known, kRememberedSites>();
  Known& slot = known[slot_of(code, at, kRememberedSites)];
  if (slot.code != code || slot.at != at) {
    slot.code = code;
    slot.at = at;
    slot.site = std::make_shared<FrameSite>(code, at);
  }
  return slot.site;
}

bool begins_as_ours(PyObject* filename) {
  const char* prefix = PyUnicode_AsUTF8(types().package.get());
  Py_ssize_t size = 0;
  const char* file = PyUnicode_AsUTF8AndSize(filename, &size);
  if (file == nullptr) {
    PyErr_Clear();
    return false;
  }
  const std::string_view name(file, static_cast<std::size_t>(size));
  return name.starts_with(prefix) || name.starts_with("<spillway");
}

// Whether a frame is the package's own: by the folder of its file.
bool ours(PyCodeObject* code) {
  struct Known {
    Ref filename;
    bool ours = false;
  };
  static auto& known = *new std::array<Known, kRemembered>();
  PyObject* filename = code->co_filename;
  Known& slot = known[slot_of(filename, 0)];
  if (slot.filename.get() != filename) {
    slot.ours = begins_as_ours(filename);
    slot.filename = Ref::borrow(filename);
  }
  return slot.ours;
}

}  // namespace

const AccountPtr& tensor_account() {
  static const auto& account = *new AccountPtr(Budget::process().open_account("tensors"));
  return account;
}

Status evaluate_now(const graph::Operand& operand, bool may_wait) {
  const AccountPtr* stage = UserCodeScope::current();
  const bool waits = may_wait && stage == nullptr;
  return graph::evaluate(std::span(&operand, 1), stage == nullptr ? tensor_account() : *stage,
                         waits ? Buffer::Ask::kRequired : Buffer::Ask::kOwed);
}

bool is_tensor(PyObject* object) {
  auto* type = reinterpret_cast<PyTypeObject*>(types().tensor.get());
  return type != nullptr && PyObject_TypeCheck(object, type);
}

const graph::Operand& operand_of(PyObject* tensor) {
  return nb::inst_ptr<NativeTensor>(nb::handle(tensor))->value;
}

PyObject* tensor_to_python(graph::Operand value) {
  const Ref& type = value.node->symbolic() ? types().symbolic : types().tensor;
  nb::object made = nb::inst_alloc(nb::handle(type.get()));
  new (nb::inst_ptr<NativeTensor>(made)) NativeTensor(std::move(value));
  nb::inst_mark_ready(made);
  return made.release().ptr();
}

PyObject* tensor_to_python(Tensor value) {
  return tensor_to_python(graph::Operand{graph::Node::constant(std::move(value)), 0});
}

const Tensor* evaluated(PyObject* tensor) {
  const graph::Operand& operand = operand_of(tensor);
  if (const Tensor* value = operand.value()) return value;
  if (operand.node->symbolic()) {
    // Its own method says why: a trace ends, a graph has to run first.
    const Ref none = Ref::steal(PyObject_CallMethod(tensor, "numpy", nullptr));
    if (none) PyErr_SetString(types().trace_break.get(), "needs the value of a traced tensor");
    return nullptr;
  }
  Status status;
  Interrupts interrupts;
  {
    const graph::Operand held = operand;
    const WithoutGil unlocked;
    status = evaluate_now(held, true);
  }
  if (interrupts.raise()) return nullptr;
  if (!status.ok()) {
    raise(status);
    return nullptr;
  }
  return operand.value();
}

graph::SitePtr current_site() {
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  while (frame != nullptr) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const bool skip = ours(code);
    if (!skip) {
      auto site = site_at(code, PyFrame_GetLasti(frame));
      Py_DECREF(code);
      Py_DECREF(frame);
      return site;
    }
    Py_DECREF(code);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return nullptr;
}

LineCount* line_of(const graph::Site& site) {
  return typeid(site) == typeid(FrameSite) ? &static_cast<const FrameSite&>(site).count() : nullptr;
}

namespace {
Ref& recorder() {
  static auto& kept = *new Ref();  // outlives the interpreter
  return kept;
}
}  // namespace

void set_recorder(Ref wanted) { recorder() = wanted.get() == Py_None ? Ref() : std::move(wanted); }

PyObject* recorded(PyObject* made, std::string_view op) {
  if (made == nullptr || !recorder() || UserCodeScope::current() != nullptr) return made;
  const Ref owned = Ref::steal(made);
  const Ref told = Ref::borrow(recorder().get());  // may be replaced while it runs
  const Ref name =
      Ref::steal(PyUnicode_FromStringAndSize(op.data(), static_cast<Py_ssize_t>(op.size())));
  if (!name) return nullptr;
  return PyObject_CallFunctionObjArgs(told.get(), made, name.get(), nullptr);
}

PyObject* outputs_of(graph::NodePtr node) {
  if (node->op().outputs == 1) return tensor_to_python(graph::Operand{std::move(node), 0});
  const int count = static_cast<int>(node->outputs().size());
  Ref out = Ref::steal(PyTuple_New(count));
  for (int i = 0; out && i < count; ++i) {
    PyTuple_SET_ITEM(out.get(), i, tensor_to_python(graph::Operand{node, i}));
  }
  return out.release();
}

namespace {

// Pays for the numbers that are remembered: whoever uses one must not take the charge along.
const AccountPtr& number_account() {
  static const auto& account = *new AccountPtr(Budget::process().open_account("numbers"));
  return account;
}

// A number written somewhere in the code: the same object, of the same type, at the same place. The
// second time it is met its tensor is kept.
struct KnownNumber {
  Ref object;
  DType dtype = DType::kFloat32;
  graph::SitePtr site;
  graph::Operand operand;
};

KnownNumber& known_number(PyObject* object, DType dtype, const graph::SitePtr& site) {
  static auto& known = *new std::array<KnownNumber, kRemembered>();
  const auto at = reinterpret_cast<std::uintptr_t>(site.get()) / 16;
  return known[slot_of(object, static_cast<int>(at + static_cast<std::size_t>(dtype)))];
}

}  // namespace

std::optional<graph::Operand> number_operand(PyObject* object, std::optional<DType> dtype) {
  DType type = DType::kBool;
  if (PyLong_CheckExact(object)) {
    type = dtype.value_or(DType::kInt32);
  } else if (PyFloat_CheckExact(object)) {
    type = dtype.value_or(DType::kFloat32);
    if (type != DType::kFloat32 && type != DType::kFloat64) return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (!is_plain(type)) return std::nullopt;
  graph::SitePtr site = current_site();
  KnownNumber& known = known_number(object, type, site);
  const bool again =
      known.object.get() == object && known.dtype == type && known.site == site && site != nullptr;
  if (again && known.operand.node != nullptr) return known.operand;
  auto made =
      make_tensor(again ? number_account() : tensor_account(), type, Shape(), Buffer::Ask::kOwed);
  if (!made.ok()) return std::nullopt;
  if (!write_scalar(object, type, made.value().mutable_data())) return std::nullopt;
  graph::Operand operand{graph::Node::constant(std::move(made).value(), site), 0};
  known = {Ref::borrow(object), type, std::move(site), again ? operand : graph::Operand{}};
  return operand;
}

namespace {

// Whether an op reads so little that letting another thread in would cost more, and that what it
// may need beside its result is not worth asking the budget for.
bool reads_little(const std::vector<graph::Operand>& operands) {
  constexpr std::size_t kLittle = 256 * 1024;
  std::size_t bytes = 0;
  for (const graph::Operand& operand : operands) {
    const Tensor* value = operand.value();
    if (value == nullptr) continue;
    bytes += is_plain(value->dtype()) ? value->bytes()
                                      : static_cast<std::size_t>(value->count()) * sizeof(void*);
    if (bytes > kLittle) return false;
    if (value->dtype() == DType::kString) bytes += value->footprint();
  }
  return bytes <= kLittle;
}

// Whether a function is traced or a graph written on this thread. Asked only where something
// failed.
bool tracing_now() {
  return nb::cast<bool>(nb::module_::import_("spillway.modes").attr("deferring")());
}

// Whether the values are at fault: other values would have done, or this graph will never ask.
bool of_values(const Status& status) {
  return status.kind() == ErrorKind::kUser || status.kind() == ErrorKind::kData;
}

}  // namespace

PyObject* apply_op(const graph::OpDef& op, std::vector<graph::Operand> operands,
                   graph::Attrs attrs) {
  const bool light = reads_little(operands);
  auto made = graph::Node::make(op, std::move(operands), std::move(attrs), current_site());
  if (!made.ok()) return raise(made.error());
  graph::Operand root{std::move(made).value(), 0};
  const graph::Node* node = root.node.get();
  if (graph::evaluate_at_once(*node)) {
    Status status;
    if (light && graph::is_small(*node)) {
      status = evaluate_now(root, false);
    } else {
      Interrupts interrupts;
      {
        const WithoutGil unlocked;
        status = evaluate_now(root, true);
      }
      if (interrupts.raise()) return nullptr;
    }
    // A graph drops what no result needs, and fails for each element otherwise, as in TensorFlow.
    if (!status.ok() && of_values(status) && tracing_now()) {
      return recorded(outputs_of(graph::Node::deferred(*node)), op.name);
    }
    if (!status.ok()) return raise(status);
  }
  return recorded(outputs_of(std::move(root.node)), op.name);
}

}  // namespace spillway::python
