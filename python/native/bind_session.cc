// What graphs, sessions and functions ask of the engine: prepared graphs, and who is told of nodes.
#include <nanobind/stl/string.h>

#include <unordered_set>

#include "bindings.h"
#include "interrupts.h"
#include "spillway/graph/graph.h"
#include "spillway/graph/prepared.h"
#include "spillway/pipeline/run.h"
#include "tensors.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

using graph::Operand;
using graph::Prepared;
using PreparedPtr = std::shared_ptr<Prepared>;

struct NativePrepared {
  PreparedPtr prepared;
};

// Bytes that exist in Python's own memory, in the ledger for as long as this is kept.
class Charge {
 public:
  explicit Charge(const std::string& name) : account_(Budget::process().open_account(name)) {}
  void set(std::size_t bytes) {
    Reservation held = account_->charge(bytes);
    held.touch();
    held_ = std::move(held);
  }

 private:
  AccountPtr account_;
  Reservation held_;
};

nb::object steal(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

std::vector<Operand> operands_of(nb::handle tensors) {
  std::vector<Operand> out;
  for (nb::handle tensor : tensors) out.push_back(operand_of(tensor.ptr()));
  return out;
}

NativePrepared prepare(nb::handle given, nb::handle results) {
  std::vector<Operand> values = operands_of(given);
  std::vector<Operand> wanted = operands_of(results);
  Interrupts interrupts;
  auto made = [&] {
    const WithoutGil unlocked;
    return Prepared::make(std::move(values), std::move(wanted), tensor_account());
  }();
  if (interrupts.raise()) throw nb::python_error();
  return {value_or_throw(std::move(made))};
}

// Values in, tensors out. Inside a user function the stage that calls it pays.
nb::list run(const NativePrepared& self, nb::handle given, std::int64_t number) {
  std::vector<Tensor> values;
  for (nb::handle tensor : given) {
    const Tensor* value = evaluated(tensor.ptr());
    if (value == nullptr) throw nb::python_error();
    values.push_back(*value);
  }
  const AccountPtr* stage = UserCodeScope::current();
  const AccountPtr account = stage == nullptr ? tensor_account() : *stage;
  const auto ask = stage == nullptr ? Buffer::Ask::kRequired : Buffer::Ask::kOwed;
  const PreparedPtr prepared = self.prepared;
  Interrupts interrupts;
  auto done = [&] {
    const WithoutGil unlocked;
    auto made = prepared->run(values, {number, 0}, account, ask);
    values.clear();
    return made;
  }();
  if (interrupts.raise()) throw nb::python_error();
  nb::list out;
  for (Tensor& result : value_or_throw(std::move(done))) {
    out.append(steal(tensor_to_python(std::move(result))));
  }
  return out;
}

// The serials of everything symbolic below, parameters too; not what only `given` needs, whose
// values come from elsewhere.
nb::list serials_below(nb::handle tensors, nb::handle given) {
  std::unordered_set<const graph::Node*> seen;
  for (const Operand& operand : operands_of(given)) seen.insert(operand.node.get());
  std::vector<Operand> stack = operands_of(tensors);
  nb::list out;
  while (!stack.empty()) {
    const Operand operand = std::move(stack.back());
    stack.pop_back();
    const graph::Node& node = *operand.node;
    if (!node.symbolic() || !seen.insert(&node).second) continue;
    out.append(node.serial());
    for (Operand& input : node.inputs()) stack.push_back(std::move(input));
  }
  return out;
}

// The value as an array of the caller's own: the very bytes where nobody else refers to them.
nb::object take_array(nb::handle tensor) {
  const Tensor* value = evaluated(tensor.ptr());
  if (value == nullptr) throw nb::python_error();
  if (value->shape().rank() == 0) return steal(python::value_from(*value));
  const Operand& operand = operand_of(tensor.ptr());
  const BufferPtr& buffer = value->buffer();
  const bool own = operand.node.use_count() == 1 && buffer != nullptr && buffer.use_count() == 1 &&
                   !buffer->adopted();
  nb::object array = steal(array_from(*value));
  if (own || buffer == nullptr) {
    PyArray_ENABLEFLAGS(reinterpret_cast<PyArrayObject*>(array.ptr()), NPY_ARRAY_WRITEABLE);
    return array;
  }
  return array.attr("copy")();
}

// The same value, left for a run: what a graph's operations must come before.
nb::object deferred(nb::handle tensor) {
  const graph::OpDef* identity = graph::find_op("identity");
  auto made = graph::Node::make(*identity, {operand_of(tensor.ptr())}, {}, current_site());
  const graph::NodePtr node = value_or_throw(std::move(made));
  return steal(tensor_to_python(Operand{graph::Node::deferred(*node), 0}));
}

}  // namespace

void bind_session(nb::module_& m) {
  nb::class_<NativePrepared>(m, "Prepared")
      .def("run", &run, nb::arg("values"), nb::arg("number") = 0)
      .def_prop_ro("plans", [](const NativePrepared& self) { return self.prepared->plans(); })
      .def("drop_plans", [](const NativePrepared& self) { self.prepared->drop_plans(); });
  nb::class_<Charge>(m, "Charge").def(nb::init<std::string>()).def("set", &Charge::set);
  m.def("prepare", &prepare, nb::arg("given"), nb::arg("results"));
  m.def("serials_below", &serials_below, nb::arg("tensors"), nb::arg("given"));
  m.def("compute", [](nb::handle tensor) {
    if (evaluated(tensor.ptr()) == nullptr) throw nb::python_error();
  });
  m.def("take_array", &take_array);
  m.def("deferred", &deferred);
  m.def("in_stage", [] { return UserCodeScope::current() != nullptr; });
  m.def(
      "set_recorder", [](nb::handle recorder) { set_recorder(Ref::borrow(recorder.ptr())); },
      nb::arg("recorder").none());
}

}  // namespace spillway::python
