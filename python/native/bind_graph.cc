// Tensors, ops and traced functions.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "interrupts.h"
#include "numpy_loops.h"
#include "objects.h"
#include "spillway/graph/control.h"
#include "spillway/graph/evaluate.h"
#include "spillway/graph/graph.h"
#include "spillway/pipeline/graph_function.h"
#include "spillway/pipeline/run.h"
#include "survival.h"
#include "tensors.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

using graph::Attr;
using graph::OpDef;
using graph::Operand;
using graph::ParamDef;
using graph::ParamKind;

// ---- Operands
// ------------------------------------------------------------------------------------

// The dtype each type letter stands for in one call.
class Letters {
 public:
  std::optional<DType> of(char letter) const {
    switch (letter) {
      case 'i':
        return DType::kInt32;
      case 'l':
        return DType::kInt64;
      case 's':
        return DType::kString;
      case 'b':
        return DType::kBool;
      default:
        return letter >= 'A' && letter <= 'Z' ? found_[static_cast<std::size_t>(letter - 'A')]
                                              : std::nullopt;
    }
  }
  void note(char letter, DType dtype) {
    if (letter < 'A' || letter > 'Z') return;
    auto& slot = found_[static_cast<std::size_t>(letter - 'A')];
    if (!slot) slot = dtype;
  }

 private:
  std::array<std::optional<DType>, 26> found_;
};

std::optional<Operand> operand_from(PyObject* object, std::optional<DType> dtype) {
  if (is_tensor(object)) {
    const Operand& operand = operand_of(object);
    if (!dtype || operand.spec().dtype == *dtype) return operand;
  }
  if (auto simple = number_operand(object, dtype)) return simple;
  const std::string_view name = dtype ? name_of(*dtype) : std::string_view();
  const Ref wanted = dtype ? Ref::steal(PyUnicode_FromStringAndSize(
                                 name.data(), static_cast<Py_ssize_t>(name.size())))
                           : Ref::borrow(Py_None);
  const Ref made = Ref::steal(
      PyObject_CallFunctionObjArgs(types().convert.get(), object, wanted.get(), nullptr));
  if (!made) return std::nullopt;
  return operand_of(made.get());
}

// ---- Parameters
// ----------------------------------------------------------------------------------

// False with an exception set, here and below.
bool integer(PyObject* object, std::int64_t& out) {
  const Ref index = Ref::steal(PyNumber_Index(object));
  if (!index) return false;
  int overflow = 0;
  out = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow != 0) PyErr_SetString(PyExc_ValueError, "an integer must fit into 64 bits");
  return overflow == 0;
}

bool integers(PyObject* object, std::vector<std::int64_t>& out) {
  const Ref list = Ref::steal(PyObject_CallOneArg(types().integers.get(), object));
  if (!list) return false;
  for (nb::handle item : nb::handle(list.get())) {
    if (!integer(item.ptr(), out.emplace_back())) return false;
  }
  return true;
}

// A truth value: text and lists, which are all true, are none.
bool truth(PyObject* object, bool& out) {
  const bool number = PyLong_CheckExact(object) && PyLong_AsSize_t(object) <= 1;
  PyErr_Clear();  // of a number that is negative or large
  const bool array =
      PyArray_Check(object) && PyArray_TYPE(reinterpret_cast<PyArrayObject*>(object)) == NPY_BOOL;
  if (!PyBool_Check(object) && !PyArray_IsScalar(object, Bool) && !number && !array &&
      !(is_tensor(object) && operand_of(object).spec().dtype == DType::kBool)) {
    PyErr_Format(PyExc_TypeError, "must be True or False, found %.100s", Py_TYPE(object)->tp_name);
    return false;
  }
  const int yes = PyObject_IsTrue(object);
  out = yes > 0;
  return yes >= 0;
}

bool attribute(const ParamDef& param, PyObject* object, graph::Attrs& attrs) {
  if (object == Py_None) return true;
  switch (param.kind) {
    case ParamKind::kBool: {
      bool yes = false;
      if (!truth(object, yes)) return false;
      attrs.set(param.name, Attr(yes));
      return true;
    }
    case ParamKind::kInt: {
      std::int64_t value = 0;
      if (!integer(object, value)) return false;
      attrs.set(param.name, Attr(value));
      return true;
    }
    case ParamKind::kFloat: {
      const double value = PyFloat_AsDouble(object);
      if (value == -1 && PyErr_ExceptionMatches(PyExc_OverflowError) != 0) {
        PyErr_SetString(PyExc_ValueError, "a number must fit into a float64");
      }
      if (value == -1 && PyErr_Occurred() != nullptr) return false;
      attrs.set(param.name, Attr(value));
      return true;
    }
    case ParamKind::kString: {
      Py_ssize_t size = 0;
      const char* chars = nullptr;
      if (PyBytes_Check(object)) {
        chars = PyBytes_AS_STRING(object);
        size = PyBytes_GET_SIZE(object);
      } else if (PyUnicode_Check(object)) {
        chars = PyUnicode_AsUTF8AndSize(object, &size);
      } else {
        PyErr_Format(PyExc_TypeError, "must be text, found %.100s", Py_TYPE(object)->tp_name);
      }
      if (chars == nullptr) return false;
      attrs.set(param.name, Attr(std::string(chars, static_cast<std::size_t>(size))));
      return true;
    }
    case ParamKind::kDType: {
      const Ref name = Ref::steal(PyObject_CallOneArg(types().dtype_name.get(), object));
      if (!name) return false;
      const auto dtype = dtype_from_name(PyUnicode_AsUTF8(name.get()));
      if (!dtype) {
        PyErr_Format(PyExc_TypeError, "no such dtype: %R", object);
        return false;
      }
      attrs.set(param.name, Attr(*dtype));
      return true;
    }
    case ParamKind::kInts: {
      std::vector<std::int64_t> values;
      if (!integers(object, values)) return false;
      attrs.set(param.name, Attr(std::move(values)));
      return true;
    }
    case ParamKind::kShape: {
      std::vector<std::int64_t> values;
      if (!integers(object, values)) return false;
      attrs.set(param.name, Attr(Shape(std::span<const std::int64_t>(values))));
      return true;
    }
    default:
      PyErr_SetString(PyExc_SystemError, "an operand is not an attribute");
      return false;
  }
}

// An error about an argument, with the user's line.
Status with_line(Status status, const char* type) {
  status.edit().type = type;
  if (const graph::SitePtr site = current_site()) status.edit().line = site->describe();
  return status;
}

// Sizes, axes and places: other numbers, and text, are refused here for every op. An empty list has
// no type of its own and is one of integers. False with an exception set.
bool as_integers(const OpDef& op, const ParamDef& param, Operand& operand) {
  const graph::Spec& spec = operand.spec();
  if (is_integer(spec.dtype)) return true;
  if (const Tensor* value = operand.value(); value != nullptr && value->count() == 0) {
    auto none = make_tensor(tensor_account(), DType::kInt32, value->shape(), Buffer::Ask::kOwed);
    if (none.ok()) {
      operand = {graph::Node::constant(std::move(none).value(), operand.node->site()), 0};
      return true;
    }
  }
  raise(with_line(invalid_argument(op.name, ": ", param.name, " must be int32 or int64, found ",
                                   spec.to_string()),
                  "TypeError"));
  return false;
}

// The exception now set, about an argument of an op, as one that says whose it is.
PyObject* refuse_argument(const OpDef& op, const ParamDef& param) {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  const Ref kept[] = {Ref::steal(type), Ref::steal(value), Ref::steal(trace)};
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  const Ref module = Ref::steal(PyImport_ImportModule("spillway.arguments"));
  if (!module) return nullptr;
  const std::string name(op.name);
  const std::string of(param.name);
  const Ref error = Ref::steal(
      PyObject_CallMethod(module.get(), "of_operand", "Oss", value, name.c_str(), of.c_str()));
  if (error) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), error.get());
  return nullptr;
}

bool is_variable(PyObject* object) {
  auto* type = reinterpret_cast<PyTypeObject*>(types().variable.get());
  return type != nullptr && PyObject_TypeCheck(object, type);
}

void note_letters(PyObject* object, char letter, Letters& letters) {
  if (is_tensor(object)) {
    letters.note(letter, operand_of(object).spec().dtype);
  } else if (is_variable(object)) {
    const auto dtype =
        dtype_from_name(nb::cast<std::string>(nb::handle(object).attr("_dtype_name")));
    if (dtype) letters.note(letter, *dtype);
  }
}

// apply(op, *parameters): parameters in the order of the definition.
PyObject* apply(PyObject*, PyObject* const* args, Py_ssize_t count) {
  const long index = PyLong_AsLong(args[0]);
  if (index < 0) return nullptr;
  const OpDef& op = *graph::all_ops()[static_cast<std::size_t>(index)];
  if (static_cast<std::size_t>(count - 1) != op.params.size()) {
    PyErr_Format(PyExc_TypeError, "%s takes %d parameters", std::string(op.name).c_str(),
                 static_cast<int>(op.params.size()));
    return nullptr;
  }
  Letters letters;
  for (std::size_t i = 0; i < op.params.size(); ++i) {
    const ParamDef& param = op.params[i];
    PyObject* object = args[i + 1];
    if (param.kind == ParamKind::kTensor || param.kind == ParamKind::kOptional) {
      note_letters(object, param.type, letters);
    } else if (param.kind == ParamKind::kTensors &&
               (PyList_Check(object) || PyTuple_Check(object))) {
      for (nb::handle item : nb::handle(object)) note_letters(item.ptr(), param.type, letters);
    }
  }
  std::vector<Operand> operands;
  operands.reserve(op.params.size());
  graph::Attrs attrs;
  const auto add = [&](const ParamDef& param, PyObject* object) {
    auto operand = operand_from(object, letters.of(param.type));
    if (!operand) return refuse_argument(op, param) != nullptr;
    letters.note(param.type, operand->spec().dtype);
    if (param.type == 'n' && !as_integers(op, param, *operand)) return false;
    operands.push_back(std::move(*operand));
    return true;
  };
  try {
    for (std::size_t i = 0; i < op.params.size(); ++i) {
      const ParamDef& param = op.params[i];
      PyObject* object = args[i + 1];
      if (param.kind == ParamKind::kTensor) {
        if (!add(param, object)) return nullptr;
      } else if (param.kind == ParamKind::kOptional) {
        if (object != Py_None && !add(param, object)) return nullptr;
        attrs.set(param.name, Attr(object != Py_None));
      } else if (param.kind == ParamKind::kTensors) {
        const Ref items = Ref::steal(PySequence_Fast(object, "must be a list of tensors"));
        if (!items) return refuse_argument(op, param);
        for (nb::handle item : nb::handle(items.get())) {
          if (!add(param, item.ptr())) return nullptr;
        }
      } else if (!attribute(param, object, attrs)) {
        return refuse_argument(op, param);
      }
    }
    return apply_op(op, std::move(operands), std::move(attrs));
  } catch (nb::python_error& error) {
    error.restore();
    return nullptr;
  } catch (const std::exception& error) {  // a size that no container can have
    return raise(with_line(invalid_argument(op.name, ": ", error.what()), "ValueError"));
  }
}

// NOLINTNEXTLINE(bugprone-casting-through-void): what METH_FASTCALL asks for
PyMethodDef apply_method = {"apply", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(apply)),
                            METH_FASTCALL, "apply(op, *parameters) -> Tensor"};

nb::object shape_to(const Shape& shape) {
  if (!shape.has_rank()) return nb::none();
  nb::list dims;
  for (const std::int64_t dim : shape.dims()) {
    dims.append(dim < 0 ? nb::none() : nb::object(nb::int_(dim)));
  }
  return nb::tuple(dims);
}

nb::object steal(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

// Before an array is copied: what is cold goes to disk, or the user is told that it cannot fit.
// Inside a user function the stage pays, which never waits there.
void make_room_for(nb::handle array) {
  constexpr std::size_t kSmall = 64 * 1024;
  if (PyArray_Check(array.ptr()) == 0 || UserCodeScope::current() != nullptr) return;
  const auto bytes =
      static_cast<std::size_t>(PyArray_NBYTES(reinterpret_cast<PyArrayObject*>(array.ptr())));
  if (bytes < kSmall || Budget::process().free_pool() >= bytes) return;
  Status status;
  Interrupts interrupts;
  {
    const WithoutGil unlocked;
    status = tensor_account()->wait_for_room(bytes);
  }
  if (interrupts.raise()) throw nb::python_error();
  if (!status.ok()) throw_status(status);
}

std::vector<Operand> operands_of(nb::handle tensors) {
  std::vector<Operand> out;
  for (nb::handle tensor : tensors) out.push_back(operand_of(tensor.ptr()));
  return out;
}

nb::dict describe(const OpDef& op, std::size_t index) {
  static constexpr const char* kKinds[] = {"tensor", "tensors", "optional", "bool", "int",
                                           "float",  "string",  "dtype",    "ints", "shape"};
  nb::dict out;
  const auto text = [](std::string_view s) { return nb::str(s.data(), s.size()); };
  out["index"] = index;
  out["name"] = text(op.name);
  out["summary"] = text(op.summary);
  out["example"] = text(op.example);
  out["paths"] = text(op.paths);
  out["outputs"] = op.outputs;
  nb::list params;
  for (const ParamDef& param : op.params) {
    nb::dict p;
    p["name"] = text(param.name);
    p["kind"] = kKinds[static_cast<std::size_t>(param.kind)];
    p["default"] = text(param.fallback);
    p["type"] = std::string(1, param.type);
    params.append(p);
  }
  out["params"] = params;
  return out;
}

}  // namespace

void bind_graph(nb::module_& m) {
  nb::class_<NativeTensor>(m, "Tensor", nb::is_weak_referenceable())
      .def_prop_ro("_dtype_name",
                   [](const NativeTensor& t) {
                     const std::string_view name = name_of(t.value.spec().dtype);
                     return nb::str(name.data(), name.size());
                   })
      .def_prop_ro("_dims", [](const NativeTensor& t) { return shape_to(t.value.spec().shape); })
      .def_prop_ro("_symbolic", [](const NativeTensor& t) { return t.value.node->symbolic(); })
      .def_prop_ro("_known", [](const NativeTensor& t) { return t.value.node->evaluated(); })
      .def_prop_ro("_op",
                   [](const NativeTensor& t) { return std::string(t.value.node->op().name); })
      .def_prop_ro("_serial", [](const NativeTensor& t) { return t.value.node->serial(); })
      .def_prop_ro("_output", [](const NativeTensor& t) { return t.value.output; })
      .def_prop_ro("_line", [](const NativeTensor& t) { return t.value.node->line(); })
      .def("_view",
           [](nb::handle self) -> nb::object {  // read-only; shares the bytes of large ones
             const Tensor* value = evaluated(self.ptr());
             return steal(value == nullptr ? nullptr : array_from(*value));
           })
      .def("_scalar", [](nb::handle self) -> nb::object {
        const Tensor* value = evaluated(self.ptr());
        return steal(value == nullptr ? nullptr : python::value_from(*value));
      });
  m.attr("apply") = nb::steal(PyCFunction_New(&apply_method, nullptr));
  m.def("ops", [] {
    nb::list out;
    std::size_t index = 0;
    for (const OpDef* op : graph::all_ops()) out.append(describe(*op, index++));
    return out;
  });
  m.def(
      "constant",
      [](nb::handle array, bool adopt) {
        if (!adopt) make_room_for(array);
        LeafRules rules;
        rules.account = tensor_account();
        rules.constant = adopt;
        auto made = tensor_from(array.ptr(), rules);
        if (!made) throw nb::python_error();
        PyObject* tensor =
            tensor_to_python(Operand{graph::Node::constant(std::move(*made), current_site()), 0});
        return steal(recorded(tensor, "constant"));
      },
      nb::arg("array"), nb::arg("adopt") = false);
  m.def(
      "parameter",
      [](const std::string& dtype, nb::handle dims, bool here) {
        Shape shape = Shape::unknown_rank();
        if (!dims.is_none()) {
          std::vector<std::int64_t> all;
          for (nb::handle dim : dims) all.push_back(dim.is_none() ? -1 : integer_from(dim));
          shape = Shape(std::span<const std::int64_t>(all));
        }
        return steal(tensor_to_python(
            Operand{graph::Node::parameter({dtype_from_name(dtype).value(), std::move(shape)},
                                           here ? current_site() : nullptr),
                    0}));
      },
      nb::arg("dtype"), nb::arg("dims").none(), nb::arg("here") = false);
  m.def("graph_function", [](nb::list parameters, nb::list results, nb::handle structure,
                             const std::string& code, const std::string& name) {
    std::vector<graph::NodePtr> params;
    std::vector<Operand> outs;
    for (nb::handle p : parameters) params.push_back(operand_of(p.ptr()).node);
    for (nb::handle r : results) outs.push_back(operand_of(r.ptr()));
    return function_to_python(
        make_graph_function(graph::Graph::make(std::move(params), std::move(outs)),
                            structure_of(structure), code, name));
  });
  // The function, and the tensors of an outer trace it takes values from.
  m.def("closed_function",
        [](nb::list parameters, nb::list results, std::int64_t mark, nb::handle structure,
           const std::string& code, const std::string& name) {
          std::vector<graph::NodePtr> params;
          for (nb::handle p : parameters) params.push_back(operand_of(p.ptr()).node);
          const std::vector<Operand> outs = operands_of(results);
          graph::Closed closed = value_or_throw(graph::close_over(params, outs, mark));
          nb::list captures;
          for (Operand& captured : closed.captures) {
            captures.append(steal(tensor_to_python(std::move(captured))));
          }
          FunctionPtr function =
              make_graph_function(std::move(closed.graph), structure_of(structure), code, name);
          return nb::make_tuple(function_to_python(std::move(function)), captures);
        });
  // ValueError where a number of the array is another one as that type.
  m.def("survives", [](nb::handle array, const std::string& dtype) {
    const auto want = dtype_from_name(dtype);
    if (PyArray_Check(array.ptr()) == 0 || !want) throw nb::type_error("needs an array and a type");
    if (!survives(reinterpret_cast<PyArrayObject*>(array.ptr()), *want)) throw nb::python_error();
  });
  m.def("next_serial", [] { return graph::next_serial(); });
  m.def("switch_case", [](nb::handle index, nb::list branches, std::int64_t mark) {
    std::vector<std::vector<Operand>> all;
    for (nb::handle results : branches) all.push_back(operands_of(results));
    auto made = graph::make_switch(operand_of(index.ptr()), all, mark, current_site());
    return steal(recorded(outputs_of(value_or_throw(std::move(made))), "switch_case"));
  });
  m.def("while_loop", [](nb::list state, nb::list parameters, nb::handle condition, nb::list body,
                         std::int64_t most, std::int64_t mark) {
    std::vector<graph::NodePtr> own;
    for (nb::handle p : parameters) own.push_back(operand_of(p.ptr()).node);
    auto made = graph::make_while(operands_of(state), own, operand_of(condition.ptr()),
                                  operands_of(body), most, mark, current_site());
    return steal(recorded(outputs_of(value_or_throw(std::move(made))), "while_loop"));
  });
  m.def("apply_ufunc", [](nb::handle ufunc, nb::list inputs, const std::string& out) {
    std::vector<Operand> operands;
    for (nb::handle input : inputs) operands.push_back(operand_of(input.ptr()));
    return steal(apply_ufunc(ufunc.ptr(), operands, dtype_from_name(out).value()));
  });
  // The same traced tensor as an instance of another of its classes.
  m.def("as_instance", [](nb::handle tensor, nb::handle type) {
    nb::object made = nb::inst_alloc(type);
    new (nb::inst_ptr<NativeTensor>(made)) NativeTensor(operand_of(tensor.ptr()));
    nb::inst_mark_ready(made);
    return made;
  });
}

}  // namespace spillway::python
