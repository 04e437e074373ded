// Functions on their way to workers: packed by the package, kept and sent by the engine.
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "interrupts.h"
#include "spillway/guard/cargo.h"
#include "workers.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

struct NativeCargo {
  CargoPtr cargo;
};

// One that is being filled; a file to a pickler.
struct CargoWriter {
  std::shared_ptr<Cargo> cargo;
};

CargoWriter begin_cargo(std::size_t text, const std::vector<std::size_t>& parts) {
  static const AccountPtr& account =
      *new AccountPtr(Budget::process().open_account("functions of workers"));
  Result<std::shared_ptr<Cargo>> made = cancelled();
  begin_watching();
  Interrupts interrupts;
  {
    const WithoutGil free;
    made = Cargo::large(account, text, parts);
  }
  if (interrupts.raise()) throw nb::python_error();
  return {value_or_throw(std::move(made))};
}

std::size_t write(CargoWriter& self, nb::handle data) {
  Py_buffer view;
  if (PyObject_GetBuffer(data.ptr(), &view, PyBUF_CONTIG_RO) != 0) throw nb::python_error();
  Status status;
  {
    const WithoutGil free;
    status = self.cargo->write(
        {static_cast<const std::byte*>(view.buf), static_cast<std::size_t>(view.len)});
  }
  const auto written = static_cast<std::size_t>(view.len);
  PyBuffer_Release(&view);
  if (!status.ok()) throw_status(status);
  return written;
}

void check(const Status& status) {
  if (!status.ok()) throw_status(status);
}

}  // namespace

CargoPtr cargo_of(nb::handle object) { return nb::cast<NativeCargo&>(object).cargo; }

void bind_cargo(nb::module_& m) {
  nb::class_<NativeCargo>(m, "Cargo", "A function, packed for workers.")
      .def(
          "__init__",
          [](NativeCargo* self, const nb::bytes& text) {
            new (self) NativeCargo{Cargo::small(std::string(text.c_str(), text.size()))};
          },
          nb::arg("text"))
      .def(
          "open",
          [](const NativeCargo& self) { return to_python(value_or_throw(self.cargo->open())); },
          "What it holds: a text and parts.")
      .def("__reduce__",
           [](const NativeCargo& self) {
             return nb::make_tuple(nb::module_::import_("spillway.guard.cargo").attr("again"),
                                   to_python(value_or_throw(self.cargo->open())));
           })
      .def_prop_ro("bytes", [](const NativeCargo& self) { return self.cargo->bytes(); });
  nb::class_<CargoWriter>(m, "CargoWriter", "A large one that is being filled.")
      .def("write", &write, nb::arg("data"))
      .def("begin_part", [](CargoWriter& self) { check(self.cargo->begin_part()); })
      .def("seal", [](CargoWriter& self) {
        check(self.cargo->seal());
        return NativeCargo{std::move(self.cargo)};
      });
  m.def("begin_cargo", &begin_cargo, nb::arg("text"), nb::arg("parts"),
        "Room for a text and parts of these sizes, reserved.");
  m.attr("MOST_IN_MESSAGE") = Cargo::kMostInMessage;
}

}  // namespace spillway::python
