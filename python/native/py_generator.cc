#include <algorithm>
#include <cstring>

#include "file_watch.h"
#include "interrupts.h"
#include "objects.h"
#include "spillway/base/clock.h"
#include "spillway/guard/copies.h"

namespace spillway::python {
namespace {

std::string repr(PyObject* object) {
  const Ref text = Ref::steal(PyObject_Repr(object));
  const char* chars = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  std::string out = chars == nullptr ? "an object" : chars;
  PyErr_Clear();
  if (out.size() > 200) out = out.substr(0, 200) + "...";
  return out;
}

std::string type_list(const Structure& structure) {
  const auto leaves = structure.leaves();
  if (leaves.size() == 1 && structure.is_component())
    return std::string(name_of(leaves[0]->dtype()));
  std::string text = "(";
  for (const Structure* leaf : leaves) {
    text += (text.size() > 1 ? ", " : "") + std::string(name_of(leaf->dtype()));
  }
  return text + ")";
}

constexpr const char* kRest = "__spillway_rest__";
thread_local const std::atomic<bool>* stop_flag = nullptr;

// While user code runs that can be told to stop: stop_wanted() then answers for this thread.
class Stoppable {
 public:
  explicit Stoppable(const std::atomic<bool>& stop) : before_(std::exchange(stop_flag, &stop)) {}
  ~Stoppable() { stop_flag = before_; }
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;

 private:
  const std::atomic<bool>* before_;
};
// Whether an object tells its state and takes it back, as torchdata's loaders do.
bool has_states(PyObject* object) {
  return PyObject_HasAttrString(object, "state_dict") != 0 &&
         PyObject_HasAttrString(object, "load_state_dict") != 0;
}

// The package's own functions for states: `pack_state(object)`, `load_state(object, bytes)`.
Ref state_function(const char* name) {
  const Ref module = Ref::steal(PyImport_ImportModule("spillway.guard.travel"));
  return module ? Ref::steal(PyObject_GetAttrString(module.get(), name)) : Ref();
}

class PyGenerator final : public Generator {
 public:
  // `stateful`: what tells the state, or nothing.
  PyGenerator(Ref iterator, Ref stateful, StructurePtr structure, AccountPtr account)
      : iterator_(keep_object(std::move(iterator))),
        stateful_(stateful ? keep_object(std::move(stateful)) : nullptr),
        structure_(std::move(structure)),
        account_(std::move(account)),
        rests_(PyObject_HasAttrString(kept_object(iterator_), kRest) != 0) {
    if (structure_ != nullptr) leaves_ = structure_->leaves();
    // As in TensorFlow, which makes tensors of the elements only where NumPy's arrays do not do.
    strict_ =
        std::ranges::any_of(leaves_, [](const auto* leaf) { return !leaf->shape().has_rank(); });
  }

  // On the generator's own thread: its `finally` blocks run here.
  ~PyGenerator() override {
    if (!Py_IsInitialized()) return;
    const WithGil gil;
    PyObject* iterator = kept_object(iterator_);
    if (rests_ || PyGen_Check(iterator)) {
      const Ref closed = Ref::steal(PyObject_CallMethod(iterator, "close", nullptr));
      if (!closed) tell_unraisable(iterator);
    }
    iterator_.reset();
    stateful_.reset();
  }

  Filled fill(GrowingRows& block, std::int64_t deadline_ns,
              const std::atomic<bool>& stop) override {
    const WithGil gil;
    const FileWatch watch;
    const Stoppable stoppable(stop);
    PyObject* iterator = kept_object(iterator_);
    const iternextfunc advance = Py_TYPE(iterator)->tp_iternext;
    Filled filled;
    for (int i = 0; !block.full() && !stop; ++i) {
      // The clock is not free: look at every eighth row, or after one that was slow to come.
      if ((i & 7) == 0 && i > 0 && now_ns() >= deadline_ns) break;
      Ref item = Ref::steal(advance(iterator));
      end_copy_of_worker();
      if (!item) {
        if (PyErr_Occurred() == nullptr || PyErr_ExceptionMatches(PyExc_StopIteration) != 0) {
          PyErr_Clear();
          filled.more = More::kEnd;
        } else {
          filled.more = More::kError;
          filled.error = status_from_exception();
          if (filled.error.info().file.empty()) filled.error.edit().file = FileWatch::last();
        }
        filled.finished = filled.more == More::kEnd || ends_with_error();
        filled.unsure = !filled.finished;
        break;
      }
      failures_ = 0;
      if (block.in_block() && write_row(item.get(), block)) continue;
      if (!add_row(item, block)) {
        filled.more = More::kError;
        filled.error = element_error(item.get());
        break;
      }
    }
    last_file_ = FileWatch::last();
    return filled;
  }

  std::string last_file() const override { return last_file_; }

  bool rests() const override { return rests_; }
  void rest(int wake, std::int64_t most_ns) override {
    const WithGil gil;
    PyObject* iterator = kept_object(iterator_);
    const double seconds = static_cast<double>(most_ns) / 1e9;
    const Ref rested = Ref::steal(PyObject_CallMethod(iterator, kRest, "id", wake, seconds));
    if (!rested) tell_unraisable(iterator);
  }

  Result<std::string> state() override {
    if (stateful_ == nullptr) return std::string();
    const WithGil gil;
    const Ref pack = state_function("pack_state");
    const Ref told =
        pack ? Ref::steal(PyObject_CallOneArg(pack.get(), kept_object(stateful_))) : Ref();
    if (!told) return status_from_exception();
    return std::string(PyBytes_AS_STRING(told.get()),
                       static_cast<std::size_t>(PyBytes_GET_SIZE(told.get())));
  }

 private:
  // A generator that raised is over. What else is iterated over may go on behind an element that
  // failed, as a map object does; but not for ever.
  bool ends_with_error() {
    constexpr int kMostFailures = 100;
    return rests_ || PyGen_Check(kept_object(iterator_)) || ++failures_ >= kMostFailures;
  }

  // Straight into the block, without a tensor of its own.
  bool write_row(PyObject* item, GrowingRows& block) {
    if (leaves_.size() == 1 && structure_->is_component()) {
      if (!write_leaf(item, *leaves_[0], block.slot(0))) return false;
      block.publish();
      return true;
    }
    if (structure_->kind() != Structure::Kind::kTuple || !PyTuple_CheckExact(item) ||
        leaves_.size() != structure_->children().size() ||
        static_cast<std::size_t>(PyTuple_GET_SIZE(item)) != leaves_.size()) {
      return false;
    }
    for (std::size_t c = 0; c < leaves_.size(); ++c) {
      PyObject* leaf = PyTuple_GET_ITEM(item, static_cast<Py_ssize_t>(c));
      if (!write_leaf(leaf, *leaves_[c], block.slot(c))) return false;
    }
    block.publish();
    return true;
  }

  bool add_row(Ref& item, GrowingRows& block) {
    Taken taken;
    why_ = Mismatch::kNone;
    const TakeRules rules{account_, false, &why_, strict_};
    if (!take_nest(item.get(), structure_, rules, true, taken)) return false;
    if (structure_ == nullptr) {
      // Nothing was declared: the first element says what it is, shapes may vary.
      if (learnt_ == nullptr) {
        learnt_ = taken.structure->map_leaves([](const Structure& leaf) {
          return leaf.kind() == Structure::Kind::kTensor
                     ? Structure::tensor(leaf.dtype(), Shape::unknown_rank())
                     : Structure::dataset(nullptr);
        });
      } else if (!learnt_->accepts(*taken.structure)) {
        PyErr_SetString(PyExc_TypeError, "expected structure as in the first element");
        why_ = Mismatch::kStructure;
        return false;
      }
      if (block.added() == 0) block.learn(learnt_);
    }
    if (block.in_block()) {
      for (std::size_t c = 0; c < taken.values.size(); ++c) {
        const Tensor& value = taken.values[c];
        if (value.bytes() > 0) std::memcpy(block.slot(c), value.data(), value.bytes());
      }
      block.publish();
    } else {
      block.publish(std::move(taken.values));
    }
    return true;
  }

  // In TensorFlow's words, which people search for.
  Status element_error(PyObject* item) {
    Status inner = status_from_exception();
    std::string text = "`generator` yielded an element that ";
    const auto& info = inner.info();
    if (why_ == Mismatch::kShape) {
      const auto found = info.message.rfind("found ");
      const auto expected = info.message.find("expected shape ");
      text =
          "`generator` yielded an element of shape " +
          (found == std::string::npos ? "?" : info.message.substr(found + 6)) +
          " where an element of shape " +
          (expected == std::string::npos
               ? "?"
               : info.message.substr(expected + 15, info.message.find(", found") - expected - 15)) +
          " was expected.";
    } else if (why_ == Mismatch::kStructure) {
      text += "did not match the expected structure. The expected structure was " +
              (structure_ != nullptr ? structure_ : learnt_)->to_string() +
              ", but the yielded element was " + repr(item) + ".";
    } else {
      text += "could not be converted to the expected type. The expected type was " +
              (structure_ == nullptr ? "a tensor" : type_list(*structure_)) +
              ", but the yielded element was " + repr(item) + ": " + info.message + ".";
    }
    ErrorInfo out = info;
    if (out.code == Code::kUnknown) out.code = Code::kInvalidArgument;
    out.message = "TypeError: " + text;
    if (out.kind != ErrorKind::kResource) out.code = Code::kInvalidArgument;
    return Status(std::move(out));
  }

  std::shared_ptr<void> iterator_;
  std::shared_ptr<void> stateful_;
  const StructurePtr structure_;
  StructurePtr learnt_;
  std::vector<const Structure*> leaves_;
  const AccountPtr account_;
  const bool rests_;  // an event loop runs it (spillway/async_items.py)
  bool strict_ = false;
  Mismatch why_ = Mismatch::kNone;
  int failures_ = 0;  // of the iterator, with no element between them
  std::string last_file_;
};

class PyGeneratorFactory final : public GeneratorFactory {
 public:
  PyGeneratorFactory(Ref callable, Ref args, StructurePtr structure, std::string code,
                     std::string name)
      : callable_(keep_object(std::move(callable))),
        args_(keep_object(std::move(args))),
        structure_(std::move(structure)),
        code_(std::move(code)),
        name_(std::move(name)) {}

  Result<std::unique_ptr<Generator>> start(const AccountPtr& account) override {
    return begin(account, nullptr);
  }
  Result<std::unique_ptr<Generator>> resume(const AccountPtr& account,
                                            std::string_view state) override {
    return begin(account, &state);
  }
  std::string describe() const override { return name_; }
  std::string code() const override { return code_; }

 private:
  Result<std::unique_ptr<Generator>> begin(const AccountPtr& account,
                                           const std::string_view* state) const {
    const WithGil gil;
    Ref made = Ref::steal(PyObject_CallObject(kept_object(callable_), kept_object(args_)));
    if (!made) return status_from_exception();
    // A loader goes on when it is next iterated over, an iterator where it stands.
    const bool loader = PyIter_Check(made.get()) == 0 && has_states(made.get());
    if (loader && state != nullptr && !load(made.get(), *state)) return status_from_exception();
    Ref iterator = Ref::steal(PyObject_GetIter(made.get()));
    end_copy_of_worker();
    if (!iterator) return status_from_exception();
    Ref stateful;
    if (loader) {
      stateful = std::move(made);
    } else if (has_states(iterator.get())) {
      stateful = Ref::borrow(iterator.get());
      if (state != nullptr && !load(iterator.get(), *state)) return status_from_exception();
    }
    return std::unique_ptr<Generator>(std::make_unique<PyGenerator>(
        std::move(iterator), std::move(stateful), structure_, account));
  }

  static bool load(PyObject* stateful, std::string_view state) {
    const Ref bytes =
        Ref::steal(PyBytes_FromStringAndSize(state.data(), static_cast<Py_ssize_t>(state.size())));
    const Ref function = state_function("load_state");
    if (!bytes || !function) return false;
    const Ref done =
        Ref::steal(PyObject_CallFunctionObjArgs(function.get(), stateful, bytes.get(), nullptr));
    return static_cast<bool>(done);
  }

  const std::shared_ptr<void> callable_;
  const std::shared_ptr<void> args_;
  const StructurePtr structure_;
  const std::string code_;
  const std::string name_;
};

}  // namespace

bool stop_wanted() { return stop_flag != nullptr && *stop_flag; }

ObjectPtr make_generator(Ref callable, Ref args, StructurePtr structure, std::string code,
                         std::string name) {
  return std::make_shared<PyGeneratorFactory>(
      std::move(callable), std::move(args), std::move(structure), std::move(code), std::move(name));
}

}  // namespace spillway::python
