#include <nanobind/stl/string.h>

#include <memory>
#include <unordered_set>
#include <vector>

#include "async_function.h"
#include "bindings.h"
#include "interrupts.h"
#include "nest.h"
#include "spillway/pipeline/access.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

// Random access to a dataset, kept with it. A thread still inside at() owns the engine's part too,
// and lets go of it without the GIL, as close() does: what runs below (a generator, a prefetch) may
// need the GIL to end.
class NativeAccess {
 public:
  explicit NativeAccess(std::shared_ptr<Access> access) : access_(std::move(access)) {
    alive().insert(this);
  }
  NativeAccess(NativeAccess&& other) noexcept : NativeAccess(std::move(other.access_)) {}
  ~NativeAccess() {
    alive().erase(this);
    close();
  }

  nb::object at(std::int64_t index) {
    if (access_ == nullptr) throw_status(cancelled());
    if (refused_on_loop()) throw nb::python_error();
    Interrupts interrupts;
    Result<Chunk> row = [index, mine = access_]() mutable {
      const WithoutGil free;
      Result<Chunk> found = mine->at(index);
      mine.reset();
      return found;
    }();
    if (interrupts.raise()) throw nb::python_error();
    if (!row.ok()) throw_status(row.error());
    PyObject* out = give_nest(*row.value().structure(), row.value().row(0).values, Leaves::kNumpy);
    if (out == nullptr) throw nb::python_error();
    return nb::steal(out);
  }

  void close() {
    std::shared_ptr<Access> mine = std::move(access_);
    if (mine == nullptr) return;
    mine->request_stop();
    if (Py_IsInitialized() && PyGILState_Check() != 0) {
      const WithoutGil free;
      mine.reset();
    }
  }
  // With the GIL: the interpreter's end closes them.
  static std::unordered_set<NativeAccess*>& alive() {
    static auto& all = *new std::unordered_set<NativeAccess*>;
    return all;
  }

 private:
  std::shared_ptr<Access> access_;  // null: closed
};

NativeAccess open_access(nb::handle node, const std::string& name) {
  const NodePtr root = node_of(node.ptr());
  if (root == nullptr) throw nb::python_error();
  begin_watching();
  RunOptions options;
  options.pipeline_name = name;
  Interrupts interrupts;
  auto access = [&] {
    const WithoutGil free;
    return Access::open(root, options);
  }();
  if (interrupts.raise()) throw nb::python_error();
  return NativeAccess(value_or_throw(std::move(access)));
}

}  // namespace

void close_accesses() {
  const std::vector<NativeAccess*> all(NativeAccess::alive().begin(), NativeAccess::alive().end());
  for (NativeAccess* access : all) access->close();
}

void bind_access(nb::module_& m) {
  nb::class_<NativeAccess>(m, "Access", "Elements by their position; see Dataset.__getitem__.")
      .def("at", &NativeAccess::at, nb::arg("index"));
  m.def("access", &open_access, nb::arg("node"), nb::arg("name"));
}

}  // namespace spillway::python
