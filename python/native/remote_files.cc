#include "remote_files.h"

#include <algorithm>
#include <cstring>

#include "python.h"
#include "spillway/io/file.h"
#include "spillway/io/glob.h"
#include "spillway/memory/budget.h"

namespace spillway::python {
namespace {

// A range that is asked for at once. Python holds it as bytes until they are copied.
constexpr std::size_t kPiece = std::size_t{4} << 20U;

const AccountPtr& account() {
  static const auto& all = *new AccountPtr(Budget::process().open_account("remote files"));
  return all;
}

// remote.Failure as a status.
Status status_of(PyObject* failure, const std::string& path) {
  const auto number = [&](Py_ssize_t i) { return PyLong_AsLongLong(PyTuple_GET_ITEM(failure, i)); };
  const auto text = [&](Py_ssize_t i) {
    const char* const chars = PyUnicode_AsUTF8(PyTuple_GET_ITEM(failure, i));
    return std::string(chars == nullptr ? "" : chars);
  };
  ErrorInfo info;
  info.code = static_cast<Code>(number(0));
  const std::string kind = text(1);
  info.kind = kind == "transient" ? ErrorKind::kTransient
              : kind == "user"    ? ErrorKind::kUser
                                  : ErrorKind::kData;
  info.type = text(2);
  info.message = text(3);
  info.offset = number(4);
  info.attempts = static_cast<int>(number(5));
  info.file = path;
  PyErr_Clear();
  return Status(std::move(info));
}

// Calls a function or method of spillway.remote that never raises but for Ctrl-C and its like.
Result<Ref> answered(Ref answer, const std::string& path) {
  if (!answer) return status_from_exception();
  if (PyTuple_Check(answer.get())) return status_of(answer.get(), path);
  return answer;
}

Result<Ref> ask(const char* function, const std::string& path) {
  const Ref module = Ref::steal(PyImport_ImportModule("spillway.remote"));
  if (!module) return status_from_exception();
  const Ref name = Ref::steal(
      PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
  if (!name) return status_from_exception();
  return answered(Ref::steal(PyObject_CallMethod(module.get(), function, "O", name.get())), path);
}

// Waits for the store with the interpreter let go by Python's own I/O. What Python holds for a
// moment is charged before, and never waited for: this runs on any thread.
class RemoteFile final : public File {
 public:
  RemoteFile(const std::string& path, std::uint64_t size, bool whole, Ref object)
      : File(path, size), whole_(whole), object_(keep_object(std::move(object))) {}

 protected:
  Result<std::size_t> read_some(std::uint64_t offset, std::span<std::byte> out) const override {
    const std::size_t count = std::min(out.size(), kPiece);
    if (whole_ && size() > kPiece) {
      return Status::error(ErrorKind::kUser, Code::kUnimplemented, path(),
                           ": the server must send parts of files (ranges), or the file be "
                           "smaller than ",
                           kPiece, " bytes: ", size());
    }
    const Reservation held = account()->charge(whole_ ? size() : count);
    const WithGil gil;
    const Ref answer = Ref::steal(PyObject_CallMethod(kept_object(object_), "read", "Kn",
                                                      static_cast<unsigned long long>(offset),
                                                      static_cast<Py_ssize_t>(count)));
    SW_ASSIGN(const Ref bytes, answered(answer, path()));
    if (PyBytes_Check(bytes.get()) == 0 ||
        static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get())) != count) {
      return internal_bug("remote: read() must return the bytes asked for: ", path());
    }
    std::memcpy(out.data(), PyBytes_AS_STRING(bytes.get()), count);
    return count;
  }

 private:
  const bool whole_;
  const std::shared_ptr<void> object_;
};

Result<FilePtr> open_remote(const std::string& path) {
  const WithGil gil;
  SW_ASSIGN(Ref object, ask("opened", path));
  const Ref size = Ref::steal(PyObject_GetAttrString(object.get(), "size"));
  const Ref whole = Ref::steal(PyObject_GetAttrString(object.get(), "whole"));
  const std::uint64_t bytes = size ? PyLong_AsUnsignedLongLong(size.get()) : 0;
  if (!size || !whole || PyErr_Occurred() != nullptr) return status_from_exception();
  return FilePtr(std::make_shared<RemoteFile>(path, bytes, PyObject_IsTrue(whole.get()) == 1,
                                              std::move(object)));
}

Status list_remote(const std::string& pattern, std::vector<std::string>& out) {
  const WithGil gil;
  SW_ASSIGN(const Ref names, ask("matching", pattern));
  const Ref all = Ref::steal(PySequence_List(names.get()));
  if (!all) return status_from_exception();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(all.get()); ++i) {
    const Ref name = Ref::steal(PyUnicode_EncodeFSDefault(PyList_GET_ITEM(all.get(), i)));
    if (!name) return status_from_exception();
    out.emplace_back(PyBytes_AS_STRING(name.get()),
                     static_cast<std::size_t>(PyBytes_GET_SIZE(name.get())));
  }
  return {};
}

}  // namespace

void use_remote_files() {
  set_file_opener("", open_remote);
  set_file_lister(list_remote);
}

}  // namespace spillway::python
