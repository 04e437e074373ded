#define SPILLWAY_IMPORTS_NUMPY
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "bindings.h"
#include "file_watch.h"
#include "interrupts.h"
#include "numpy_loops.h"
#include "spillway/base/interrupt.h"
#include "spillway/base/mutant.h"
#include "spillway/base/test_point.h"

namespace nb = nanobind;

#ifdef SW_TEST_POINTS
namespace {

// Calls `action` once, when a thread of this process comes to the point `name`; None: no more.
void at_test_point(const std::string& name, const nb::object& action) {
  using namespace spillway::python;
  static auto& armed = *new std::unique_ptr<spillway::ScopedTestPoint>;
  armed = nullptr;
  if (action.is_none()) return;
  const auto kept = keep_object(Ref::borrow(action.ptr()));
  armed = std::make_unique<spillway::ScopedTestPoint>(name, [kept] {
    const WithGil gil;
    const Ref done = Ref::steal(PyObject_CallNoArgs(kept_object(kept)));
    if (!done) tell_unraisable(kept_object(kept));
  });
}

}  // namespace
#endif

NB_MODULE(_native, m) {
  // Whether tests can step in and break promises (base/test_point.h, base/mutant.h).
#ifdef SW_TEST_POINTS
  m.attr("test_points") = true;
  m.def("at_test_point", &at_test_point, nb::arg("name"), nb::arg("action").none());
#else
  m.attr("test_points") = false;
#endif
  m.def("interrupt_looks", [] {
    const spillway::InterruptLooks looks = spillway::take_interrupt_looks();
    return std::pair(looks.count, looks.longest_ns);
  });
  m.def("mutant", [](std::string_view name) { return spillway::mutant(name); });
  using namespace spillway::python;
  m.doc() = "Native half of spillway; use the package, not this module.";
  if (_import_array() < 0 || !import_ufuncs()) throw nb::python_error();
  nb::set_leak_warnings(false);  // iterators may be alive at exit, by design
  FileWatch::install();
  bind_access(m);
  bind_spec(m);
  bind_graph(m);
  bind_lines(m);
  bind_operators(m);
  bind_session(m);
  bind_iterator(m);
  bind_elements(m);
  bind_memory(m);
  bind_process_guard(m);
  bind_files(m);
  bind_fit(m);
  bind_workers(m);
  bind_guarded(m);
  bind_cargo(m);
  bind_async(m);
  bind_flight(m);
  bind_travel(m);
  m.def("register_types", [](nb::dict given) {
    const auto get = [&](const char* key) { return Ref::borrow(given[key].ptr()); };
    PythonTypes& all = types();
    all.tensor = get("tensor");
    all.symbolic = get("symbolic");
    all.convert = get("convert");
    all.integers = get("integers");
    all.dtype_name = get("dtype_name");
    all.trace_break = get("trace_break");
    all.describe_line = get("describe_line");
    all.package = get("package");
    all.dataset = get("dataset");
    all.make_dataset = get("make_dataset");
    all.optional = get("optional");
    all.make_optional = get("make_optional");
    all.make_error = get("make_error");
    all.facts_of = get("facts_of");
    all.meaning_of = get("meaning_of");
    all.variable = get("variable");
  });
}
