// NumPy's own loops as steps of a graph: `np.sqrt(x)` in a traced function is NumPy's root to the
// last bit, run on blocks, without the interpreter.
#include "numpy_loops.h"

#include <numpy/ufuncobject.h>

#include <array>
#include <cstring>

#include "spillway/graph/elementwise.h"
#include "tensors.h"

namespace spillway::python {
namespace {

constexpr int kMostOperands = 4;

struct NumpyLoop {
  PyUFuncGenericFunction function = nullptr;
  void* data = nullptr;
  int inputs = 0;
  DType out = DType::kFloat64;
  std::array<npy_intp, kMostOperands> steps{};
  std::shared_ptr<void> ufunc;
};

std::int64_t run(const graph::LoopArgs& args) {
  const auto& loop = *static_cast<const NumpyLoop*>(args.data);
  std::array<char*, kMostOperands> operands{};
  for (int i = 0; i < loop.inputs; ++i) {
    operands[static_cast<std::size_t>(i)] =
        const_cast<char*>(reinterpret_cast<const char*>(args.in[i]));
  }
  operands[static_cast<std::size_t>(loop.inputs)] = reinterpret_cast<char*>(args.out);
  npy_intp count = args.n;
  loop.function(operands.data(), &count, loop.steps.data(), loop.data);
  return -1;
}

const NumpyLoop& loop_of(const graph::Attrs& attrs) {
  const auto* held = attrs.get<std::shared_ptr<const void>>("loop");
  return *static_cast<const NumpyLoop*>(held->get());
}

constexpr graph::OpDef numpy_op{
    .name = "numpy",
    .summary = "A ufunc of NumPy's, item by item.",
    .params = {},
    .infer = [](graph::Infer& c) { return infer_broadcast(c, loop_of(c.attrs()).out); },
    .loop = [](const graph::Prepare& p) -> Result<graph::Loop> {
      graph::Loop loop;
      loop.fn = run;
      loop.data = *p.attrs.get<std::shared_ptr<const void>>("loop");
      return loop;
    }};

// The loop of a ufunc for exactly these types; false when it has none.
bool find_loop(PyUFuncObject* ufunc, const std::vector<DType>& types, NumpyLoop& found) {
  const int operands = ufunc->nin + ufunc->nout;
  for (int i = 0; i < ufunc->ntypes; ++i) {
    bool same = true;
    for (int k = 0; k < operands && same; ++k) {
      PyArray_Descr* descr = PyArray_DescrFromType(ufunc->types[i * operands + k]);
      const auto dtype = dtype_of(descr);
      Py_DECREF(descr);
      same = dtype && *dtype == types[static_cast<std::size_t>(k)] && is_plain(*dtype);
    }
    if (!same || ufunc->functions[i] == nullptr) continue;
    found.function = ufunc->functions[i];
    found.data = ufunc->data == nullptr ? nullptr : const_cast<void*>(ufunc->data[i]);
    return true;
  }
  return false;
}

}  // namespace

bool import_ufuncs() { return _import_umath() >= 0; }

PyObject* ufunc_of(const graph::Node& node) {
  return &node.op() == &numpy_op ? kept_object(loop_of(node.attrs()).ufunc) : nullptr;
}

PyObject* apply_ufunc(PyObject* object, const std::vector<graph::Operand>& inputs, DType out) {
  graph::NodePtr made = make_ufunc(object, inputs, out, current_site());
  return made == nullptr ? nullptr : tensor_to_python(graph::Operand{std::move(made), 0});
}

graph::NodePtr make_ufunc(PyObject* object, const std::vector<graph::Operand>& inputs, DType out,
                          graph::SitePtr site) {
  auto* ufunc = reinterpret_cast<PyUFuncObject*>(object);
  if (!PyObject_TypeCheck(object, &PyUFunc_Type) || ufunc->nout != 1 || ufunc->core_enabled != 0 ||
      ufunc->nin != static_cast<int>(inputs.size()) || ufunc->nin + 1 > kMostOperands) {
    PyErr_SetString(types().trace_break.get(), "calls a NumPy function that only NumPy can run");
    return nullptr;
  }
  auto loop = std::make_shared<NumpyLoop>();
  std::vector<DType> dtypes;
  dtypes.reserve(inputs.size() + 1);
  for (const graph::Operand& input : inputs) dtypes.push_back(input.spec().dtype);
  dtypes.push_back(out);
  if (!find_loop(ufunc, dtypes, *loop)) {
    PyErr_SetString(types().trace_break.get(), "calls a NumPy function for types only NumPy knows");
    return nullptr;
  }
  loop->inputs = ufunc->nin;
  loop->out = out;
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    loop->steps[i] = static_cast<npy_intp>(size_of(dtypes[i]));
  }
  loop->ufunc = keep_object(Ref::borrow(object));
  graph::Attrs attrs;
  attrs.set("loop", graph::Attr(std::shared_ptr<const void>(std::move(loop))));
  auto made = graph::Node::make(numpy_op, inputs, std::move(attrs), std::move(site));
  if (made.ok()) return std::move(made).value();
  raise(made.error());
  return nullptr;
}

}  // namespace spillway::python
