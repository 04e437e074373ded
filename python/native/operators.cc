// The operators of tensors whose values are known, without a Python frame in between.
#include <array>

#include "bindings.h"
#include "spillway/graph/op.h"
#include "tensors.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

// Which dtypes an operator takes here; all others go to the class's own method.
enum class Takes : std::uint8_t { kNumbers, kFloats };

struct Operator {
  const char* method;
  std::string_view op;
  bool swapped = false;
  Takes takes = Takes::kNumbers;
};

constexpr std::array kOperators = {
    Operator{"__add__", "add"},
    Operator{"__radd__", "add", true},
    Operator{"__sub__", "subtract"},
    Operator{"__rsub__", "subtract", true},
    Operator{"__mul__", "multiply"},
    Operator{"__rmul__", "multiply", true},
    Operator{"__truediv__", "divide", false, Takes::kFloats},
    Operator{"__rtruediv__", "divide", true, Takes::kFloats},
    Operator{"__floordiv__", "floordiv"},
    Operator{"__mod__", "floormod"},
    Operator{"__lt__", "less"},
    Operator{"__le__", "less_equal"},
    Operator{"__gt__", "greater"},
    Operator{"__ge__", "greater_equal"},
};

struct Installed {
  const graph::OpDef* op = nullptr;
  Ref python;  // the class's own method, which knows every rule
};
std::array<Installed, kOperators.size()>& installed() {
  static auto& all = *new std::array<Installed, kOperators.size()>();  // outlives the interpreter
  return all;
}

bool takes(Takes what, DType dtype) {
  if (dtype == DType::kFloat32 || dtype == DType::kFloat64) return true;
  return what == Takes::kNumbers && (dtype == DType::kInt32 || dtype == DType::kInt64);
}

// The other side, where it needs no conversion but that of a Python number.
std::optional<graph::Operand> simple(PyObject* object, DType dtype) {
  if (Py_TYPE(object) != reinterpret_cast<PyTypeObject*>(types().tensor.get())) {
    return number_operand(object, dtype);
  }
  const graph::Operand& operand = operand_of(object);
  if (operand.spec().dtype != dtype) return std::nullopt;
  return operand;
}

template <std::size_t kIndex>
PyObject* method(PyObject* self, PyObject* other) {
  constexpr const Operator& kThis = kOperators[kIndex];
  const Installed& mine = installed()[kIndex];
  if (Py_TYPE(self) == reinterpret_cast<PyTypeObject*>(types().tensor.get())) {
    const graph::Operand& x = operand_of(self);
    const DType dtype = x.spec().dtype;
    if (takes(kThis.takes, dtype)) {
      if (auto y = simple(other, dtype)) {
        std::vector<graph::Operand> operands;
        operands.reserve(2);
        operands.push_back(x);
        operands.push_back(std::move(*y));
        if (kThis.swapped) std::swap(operands[0], operands[1]);
        return apply_op(*mine.op, std::move(operands), {});
      }
    }
  }
  return PyObject_CallFunctionObjArgs(mine.python.get(), self, other, nullptr);
}

// ---- A scalar as a Python number: null without an exception where it is not so simple.

PyObject* as_float(const Tensor& x) {
  switch (x.dtype()) {
    case DType::kFloat32:
      return PyFloat_FromDouble(*x.as<float>());
    case DType::kFloat64:
      return PyFloat_FromDouble(*x.as<double>());
    case DType::kInt32:
      return PyFloat_FromDouble(*x.as<std::int32_t>());
    default:
      return nullptr;
  }
}

PyObject* as_int(const Tensor& x) {
  switch (x.dtype()) {
    case DType::kInt32:
      return PyLong_FromLong(*x.as<std::int32_t>());
    case DType::kInt64:
      return PyLong_FromLongLong(*x.as<std::int64_t>());
    default:
      return nullptr;
  }
}

PyObject* as_bool(const Tensor& x) {
  switch (x.dtype()) {
    case DType::kBool:
      return PyBool_FromLong(*x.as<bool>() ? 1 : 0);
    case DType::kInt32:
      return PyBool_FromLong(*x.as<std::int32_t>() != 0);
    case DType::kInt64:
      return PyBool_FromLong(*x.as<std::int64_t>() != 0);
    case DType::kFloat32:
      return PyBool_FromLong(*x.as<float>() != 0);
    default:
      return nullptr;
  }
}

struct Conversion {
  const char* method;
  PyObject* (*number)(const Tensor&);
};
constexpr std::array kConversions = {
    Conversion{"__float__", as_float},
    Conversion{"__int__", as_int},
    Conversion{"__index__", as_int},
    Conversion{"__bool__", as_bool},
};
std::array<Ref, kConversions.size()>& converters() {
  static auto& all = *new std::array<Ref, kConversions.size()>();  // the class's own methods
  return all;
}

template <std::size_t kIndex>
PyObject* conversion(PyObject* self, PyObject*) {
  if (Py_TYPE(self) == reinterpret_cast<PyTypeObject*>(types().tensor.get())) {
    const Tensor* value = operand_of(self).value();
    if (value != nullptr && value->shape().rank() == 0) {
      PyObject* number = kConversions[kIndex].number(*value);
      if (number != nullptr || PyErr_Occurred() != nullptr) return number;
    }
  }
  return PyObject_CallOneArg(converters()[kIndex].get(), self);
}

template <std::size_t... kIndex>
std::array<PyMethodDef, sizeof...(kIndex)> methods(std::index_sequence<kIndex...>) {
  return {PyMethodDef{kOperators[kIndex].method, &method<kIndex>, METH_O, nullptr}...};
}

template <std::size_t... kIndex>
std::array<PyMethodDef, sizeof...(kIndex)> conversions(std::index_sequence<kIndex...>) {
  return {PyMethodDef{kConversions[kIndex].method, &conversion<kIndex>, METH_NOARGS, nullptr}...};
}

// Puts a method into the class and returns the one that was there.
Ref replace(nb::handle type, PyMethodDef& def) {
  Ref before = Ref::steal(PyObject_GetAttrString(type.ptr(), def.ml_name));
  if (!before) throw nb::python_error();
  const Ref made = Ref::steal(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &def));
  if (!made || PyObject_SetAttrString(type.ptr(), def.ml_name, made.get()) != 0) {
    throw nb::python_error();
  }
  return before;
}

void install(nb::handle type) {
  static auto operators = methods(std::make_index_sequence<kOperators.size()>());
  for (std::size_t i = 0; i < kOperators.size(); ++i) {
    Installed& slot = installed()[i];
    slot.op = graph::find_op(kOperators[i].op);
    slot.python = replace(type, operators[i]);
  }
  static auto numbers = conversions(std::make_index_sequence<kConversions.size()>());
  for (std::size_t i = 0; i < kConversions.size(); ++i) {
    converters()[i] = replace(type, numbers[i]);
  }
}

// A Python number as a tensor of TensorFlow's default dtype; None: not so simple.
PyObject* scalar(PyObject*, PyObject* value) {
  auto operand = number_operand(value, std::nullopt);
  if (!operand) return PyErr_Occurred() == nullptr ? Py_NewRef(Py_None) : nullptr;
  return recorded(tensor_to_python(std::move(*operand)), "constant");
}

PyMethodDef scalar_method = {"scalar", scalar, METH_O, "scalar(number) -> Tensor | None"};

}  // namespace

void bind_operators(nb::module_& m) {
  m.def("install_operators", &install);
  m.attr("scalar") = nb::steal(PyCFunction_New(&scalar_method, nullptr));
}

}  // namespace spillway::python
