// Calls of any Python callable in a worker of its own: pickled by the package, moved here.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "interrupts.h"
#include "spillway/guard/copies.h"
#include "spillway/guard/guarded_call.h"
#include "workers.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

// Objects whose bytes are sent: held until they are copied.
class Lent {
 public:
  explicit Lent(nb::handle objects) {
    for (nb::handle object : objects) {
      views_.emplace_back();
      if (PyObject_GetBuffer(object.ptr(), &views_.back(), PyBUF_CONTIG_RO) != 0) {
        views_.pop_back();
        release();
        throw nb::python_error();
      }
    }
  }
  ~Lent() { release(); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  std::vector<BufferPtr> parts() const {
    std::vector<BufferPtr> out;
    out.reserve(views_.size());
    for (const Py_buffer& view : views_) {
      out.push_back(std::make_shared<Buffer>(Buffer::adopt(
          static_cast<std::byte*>(view.buf), static_cast<std::size_t>(view.len), nullptr)));
    }
    return out;
  }

 private:
  void release() {
    for (Py_buffer& view : views_) PyBuffer_Release(&view);
    views_.clear();
  }
  std::deque<Py_buffer> views_;  // must not move
};

void free_part(PyObject* capsule) {
  delete static_cast<BufferPtr*>(PyCapsule_GetPointer(capsule, nullptr));
}

// An array of bytes over the part, which the user may write to.
nb::object bytes_array(const BufferPtr& part) {
  auto* owner = new BufferPtr(part);
  PyObject* capsule = PyCapsule_New(owner, nullptr, free_part);
  if (capsule == nullptr) {
    delete owner;
    throw nb::python_error();
  }
  npy_intp size = static_cast<npy_intp>(part->size());
  PyObject* array = PyArray_SimpleNewFromData(1, &size, NPY_UINT8, part->data());
  if (array == nullptr ||
      PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array), capsule) != 0) {
    if (array == nullptr) Py_DECREF(capsule);
    Py_XDECREF(array);
    throw nb::python_error();
  }
  return nb::steal(array);
}

// A long text travels as the first part, through the shared memory.
void put_text(const nb::bytes& text, Parcel& parcel) {
  if (text.size() <= Cargo::kMostInMessage) {
    parcel.text.assign(text.c_str(), text.size());
    return;
  }
  auto* const begin = reinterpret_cast<std::byte*>(const_cast<char*>(text.c_str()));
  parcel.parts.insert(parcel.parts.begin(),
                      std::make_shared<Buffer>(Buffer::adopt(begin, text.size(), nullptr)));
}

struct NativeGuarded {
  std::unique_ptr<GuardedCall> guarded;
  AccountPtr account;
};

nb::tuple call(NativeGuarded& self, const nb::bytes& text, nb::handle buffers) {
  begin_watching();
  Parcel request;
  Result<Parcel> answer = cancelled();
  Interrupts interrupts;
  {
    const Lent lent(buffers);
    request.parts = lent.parts();
    put_text(text, request);
    {
      const WithoutGil free;
      answer = self.guarded->call(request, self.account);
    }
    request.parts.clear();
  }
  if (interrupts.raise()) throw nb::python_error();
  return to_python(value_or_throw(std::move(answer)));
}

}  // namespace

nb::tuple to_python(const Parcel& parcel) {
  nb::list parts;
  for (const BufferPtr& part : parcel.parts) parts.append(bytes_array(part));
  return nb::make_tuple(nb::bytes(parcel.text.data(), parcel.text.size()), parts);
}

Result<Parcel> serve_parcel(PyObject* serve, const Parcel& request) {
  const WithGil gil;
  try {
    const nb::tuple given = to_python(request);
    const Ref made = Ref::steal(PyObject_CallObject(serve, given.ptr()));
    end_copy_of_worker();
    if (!made) return status_from_exception();
    const nb::tuple answer = nb::cast<nb::tuple>(nb::handle(made.get()));
    Parcel parcel;
    // The parts live until they were copied: `keep` holds the views, on this thread only.
    auto lent = std::make_shared<std::pair<nb::tuple, Lent>>(answer, answer[1]);
    Parcel lying;
    lying.parts = lent->second.parts();
    put_text(nb::cast<nb::bytes>(answer[0]), lying);
    parcel.text = std::move(lying.text);
    for (const BufferPtr& part : lying.parts) {
      const auto keep = std::shared_ptr<void>(part.get(), [lent](void*) mutable {
        const WithGil again;
        lent.reset();
      });
      parcel.parts.push_back(
          std::make_shared<Buffer>(Buffer::adopt(part->data(), part->size(), keep)));
    }
    return parcel;
  } catch (nb::python_error& error) {
    error.restore();
    return status_from_exception();
  } catch (const std::exception& error) {
    return internal_bug("a guarded call's answer: ", error.what());
  }
}

void bind_guarded(nb::module_& m) {
  nb::class_<NativeGuarded>(m, "GuardedCall", "A callable in a worker of its own.")
      .def(
          "__init__",
          [](NativeGuarded* self, nb::handle setup, const std::vector<std::string>& command,
             const std::string& name, const nb::dict& rules) {
            const GuardRules how = rules_of(rules);
            new (self) NativeGuarded{std::make_unique<GuardedCall>(worker_pool(command, how.kind),
                                                                   cargo_of(setup), name, how),
                                     Budget::process().open_account(name)};
          },
          nb::arg("setup"), nb::arg("command"), nb::arg("name"), nb::arg("rules"))
      .def("call", &call, nb::arg("text"), nb::arg("buffers"))
      .def("close", [](NativeGuarded& self) {
        const WithoutGil free;
        self.guarded->close();
      });
}

}  // namespace spillway::python
