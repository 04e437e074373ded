// What does not fit: forecasts, and values that go to files and come from them.
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "interrupts.h"
#include "spillway/graph/forecast.h"
#include "spillway/graph/npy_source.h"
#include "tensors.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

// (needed bytes, limit, fits, how, [(bytes, dtype and shape, op, line), ...])
nb::tuple forecast_tensors(const nb::list& tensors) {
  std::vector<graph::Operand> roots;
  for (nb::handle tensor : tensors) roots.push_back(operand_of(tensor.ptr()));
  Interrupts interrupts;
  auto made = [&] {
    const WithoutGil free;
    return graph::forecast(roots, tensor_account());
  }();
  if (interrupts.raise()) throw nb::python_error();
  const graph::Forecast seen = value_or_throw(std::move(made));
  nb::list offenders;
  for (const graph::Offender& each : seen.offenders) {
    offenders.append(nb::make_tuple(each.bytes, each.spec, each.op, each.line));
  }
  return nb::make_tuple(seen.needed, seen.limit, seen.fits, seen.how, offenders);
}

void save_npy(nb::handle tensor, const std::string& path) {
  const graph::Operand root = operand_of(tensor.ptr());
  Interrupts interrupts;
  const Status status = [&] {
    const WithoutGil free;
    return graph::save_npy(root, path, tensor_account());
  }();
  if (interrupts.raise()) throw nb::python_error();
  if (!status.ok()) throw_status(status);
}

nb::object load_npy(const std::string& path) {
  graph::SitePtr site = current_site();
  Interrupts interrupts;
  auto made = [&] {
    const WithoutGil free;
    return graph::load_npy(path, std::move(site));
  }();
  if (interrupts.raise()) throw nb::python_error();
  return nb::steal(outputs_of(value_or_throw(std::move(made))));
}

}  // namespace

void bind_fit(nb::module_& m) {
  m.def("forecast_tensors", forecast_tensors);
  m.def("save_npy", save_npy);
  m.def("load_npy", load_npy);
}

}  // namespace spillway::python
