#include "objects.h"
#include "spillway/pipeline/arrow_source.h"

namespace spillway::python {
namespace {

constexpr const char* kStreamCapsule = "arrow_array_stream";

// `ask(part, skip)` gives what has an Arrow stream, and how many rows it begins behind; its
// attribute `leaves_out`, if it has one, is the source's.
class PyArrowSource final : public ArrowSource {
 public:
  PyArrowSource(Ref ask, std::vector<std::string> files, std::string name)
      : ask_(keep_object(std::move(ask))), files_(std::move(files)), name_(std::move(name)) {
    const Ref said = Ref::steal(PyObject_GetAttrString(kept_object(ask_), "leaves_out"));
    leaves_out_ = said && PyObject_IsTrue(said.get()) == 1;
    PyErr_Clear();  // most have none
  }

  std::size_t parts() const override { return files_.size(); }
  std::string file(std::size_t part) const override { return files_[part]; }
  std::string describe() const override { return name_; }
  bool leaves_out() const override { return leaves_out_; }

 protected:
  Result<Stream> ask(std::size_t part, std::int64_t& skip) override {
    const WithGil gil;
    const Ref made = Ref::steal(PyObject_CallFunction(
        kept_object(ask_), "nL", static_cast<Py_ssize_t>(part), static_cast<long long>(skip)));
    if (!made) return status_from_exception();
    PyObject* object = nullptr;
    long long passed = 0;
    if (PyArg_ParseTuple(made.get(), "OL", &object, &passed) == 0) return status_from_exception();
    const Ref capsule = Ref::steal(PyObject_CallMethod(object, "__arrow_c_stream__", nullptr));
    if (!capsule) return status_from_exception();
    auto* found = static_cast<arrow::Stream*>(PyCapsule_GetPointer(capsule.get(), kStreamCapsule));
    if (found == nullptr) return status_from_exception();
    Stream stream;
    stream.take(*found);  // the capsule then frees nothing but itself
    if (!stream.has_value()) {
      return invalid_argument("from_arrow: ", name_, " gave a stream that was released before");
    }
    skip -= passed;
    return stream;
  }

 private:
  const std::shared_ptr<void> ask_;
  const std::vector<std::string> files_;
  const std::string name_;
  bool leaves_out_ = false;
};

}  // namespace

Result<std::pair<ObjectPtr, StructurePtr>> make_arrow_source(Ref ask,
                                                             std::vector<std::string> files,
                                                             std::string name) {
  auto source = std::make_shared<PyArrowSource>(std::move(ask), std::move(files), std::move(name));
  const WithoutGil released;  // a producer may have threads that want it
  SW_ASSIGN(const auto type, source->type());
  return std::pair<ObjectPtr, StructurePtr>(source, type->structure());
}

}  // namespace spillway::python
