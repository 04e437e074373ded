// The ledger, the limit and the guard on NumPy's own allocations.
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "interrupts.h"
#include "numpy_guard.h"
#include "spillway/base/bytes.h"
#include "spillway/base/workers.h"
#include "spillway/memory/machine.h"
#include "spillway/memory/slab_pool.h"
#include "spillway/memory/spill_file.h"
#include "tensors.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

nb::dict ledger() {
  const Ledger ledger = Budget::process().ledger();
  nb::dict out;
  out["limit"] = ledger.limit;
  out["effective"] = ledger.effective;
  out["used"] = ledger.used;
  out["peak"] = ledger.peak;
  out["untracked"] = ledger.untracked;
  out["container"] = ledger.container;
  out["others"] = surely_held_by_others(read_machine_memory());
  out["bound_by"] = ledger.bound_by;
  out["text"] = ledger.to_string();
  nb::list rows;
  for (const LedgerRow& row : ledger.rows) {
    nb::dict d;
    d["name"] = row.name;
    d["line"] = row.line;
    d["depth"] = row.depth;
    d["held"] = row.held;
    d["peak"] = row.peak;
    d["floor"] = row.floor;
    d["exported"] = row.exported;
    rows.append(d);
  }
  out["rows"] = rows;
  return out;
}

}  // namespace

void bind_memory(nb::module_& m) {
  m.def("ledger", &ledger);
  m.def("parse_bytes", [](const std::string& text) { return value_or_throw(parse_bytes(text)); });
  m.def("format_bytes", [](std::size_t bytes) { return format_bytes(bytes); });
  m.def("set_memory_limit", [](std::size_t bytes) {
    const WithoutGil free;
    Budget::process().set_limit(bytes);
    SlabPool::process().drop_idle(SIZE_MAX);
  });
  m.def("default_memory_limit",
        [] { return default_limit(read_machine_memory(), own_anonymous_bytes()); });
  m.def("memory_limit", [] { return Budget::process().limit(); });
  m.def("set_spill_directory", [](const std::string& dir) { SpillFile::set_directory(dir); });
  m.def("drop_idle_memory", [] {
    const WithoutGil free;
    return SlabPool::process().drop_idle(SIZE_MAX);
  });
  m.def("set_threads", [](int most) { Workers::set_most_threads(most); });
  m.def("guard_numpy", [](bool on) { guard_numpy(on); });
  m.def("set_garbage_hook", [](nb::object hook) {
    const auto kept = keep_object(Ref::borrow(hook.ptr()));
    Budget::process().set_last_resort([kept](std::size_t wanted) {
      const WithGil gil;
      const Ref done = Ref::steal(PyObject_CallNoArgs(kept_object(kept)));
      if (!done) tell_unraisable(kept_object(kept));
      if (Budget::process().free_pool() < wanted) spill_tensors(wanted);
    });
  });
}

}  // namespace spillway::python
