#include "line_counts.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bindings.h"
#include "spillway/graph/spilled.h"
#include "tensors.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

constexpr std::size_t kMostLines = 2048;
constexpr std::size_t kLineBytes = sizeof(LineCount) + 64;  // with its place in the table
constexpr std::size_t kBlock = 64;                          // lines that are charged at once

struct Key {
  Ref file;
  int line;
  bool operator==(const Key& other) const {
    return line == other.line &&
           (file.get() == other.file.get() || PyUnicode_Compare(file.get(), other.file.get()) == 0);
  }
};
struct HashOfKey {
  std::size_t operator()(const Key& key) const {
    return static_cast<std::size_t>(PyObject_Hash(key.file.get())) * 31 +
           static_cast<std::size_t>(key.line);
  }
};

class Table {
 public:
  static Table& process() {
    static auto& table = *new Table;
    return table;
  }

  LineCount& at(PyObject* file, int line) {
    Key key{Ref::borrow(file), line};
    if (const auto found = counts_.find(key); found != counts_.end()) return *found->second;
    if (counts_.size() >= kMostLines && !make_room()) return elsewhere_;
    if (counts_.size() >= charged_.size() * kBlock) {
      charged_.push_back(account_->charge(kBlock * kLineBytes));
    }
    auto made = std::make_unique<LineCount>();
    made->file = key.file;
    made->line = line;
    return *counts_.emplace(std::move(key), std::move(made)).first->second;
  }

  template <class Visit>
  void each(Visit visit) {
    for (auto& [key, count] : counts_) visit(*count);
    visit(elsewhere_);
  }

 private:
  // Looks through all of them only now and then.
  bool make_room() {
    if (refused_++ % kBlock != 0) return false;
    std::erase_if(counts_, [](const auto& entry) {
      const LineCount& count = *entry.second;
      return count.live == 0 && count.told == 0 && count.uses.load(std::memory_order_acquire) == 0;
    });
    return counts_.size() < kMostLines;
  }

  std::unordered_map<Key, std::unique_ptr<LineCount>, HashOfKey> counts_;
  LineCount elsewhere_;
  AccountPtr account_ = Budget::process().open_account("lines of tensors");
  std::vector<Reservation> charged_;
  std::size_t refused_ = 0;
};

Ref& growth_hook() {
  static auto& hook = *new Ref;
  return hook;
}

bool look_is_due = false;

int look(void*) {
  look_is_due = false;
  if (!growth_hook()) return 0;
  const Ref done = Ref::steal(PyObject_CallOneArg(growth_hook().get(), Py_False));
  return done ? 0 : -1;
}

nb::object file_of(const LineCount& count) {
  return count.file ? nb::borrow(count.file.get()) : nb::object(nb::str(""));
}

// Adds up what tensors hold, each buffer once: of those that Python has, and of what they wait for.
class Measure {
 public:
  void add(const graph::Operand& operand, LineCount* count) {
    if (operand.node->evaluated()) {
      add_values(*operand.node, count);
    } else if (pending_.insert(operand.node.get()).second) {
      waiting_.push_back(operand.node);
      if (&operand.node->op() == &graph::unspill_op && count != nullptr) {
        const graph::Spec& spec = operand.spec();
        count->on_disk += static_cast<std::size_t>(spec.shape.count()) * size_of(spec.dtype);
      }
    }
  }
  void finish() {
    while (!waiting_.empty()) {
      const graph::NodePtr node = std::move(waiting_.back());
      waiting_.pop_back();
      for (const graph::Operand& input : node->inputs()) {
        const graph::Site* site = input.node->site().get();
        add(input, site == nullptr ? nullptr : line_of(*site));
      }
    }
  }

 private:
  void add_values(const graph::Node& node, LineCount* count) {
    if (count == nullptr) return;
    for (const Tensor& value : node.values()) {
      for (const BufferPtr& buffer : {value.buffer(), value.string_offsets()}) {
        if (buffer != nullptr && buffers_.insert(buffer.get()).second) {
          count->bytes += buffer->charged();
        }
      }
    }
  }

  std::unordered_set<const Buffer*> buffers_;
  std::unordered_set<const graph::Node*> pending_;
  std::vector<graph::NodePtr> waiting_;
};

nb::list changed_lines() {
  nb::list out;
  Table::process().each([&](LineCount& count) {
    if (count.live == count.told) return;
    count.told = count.live;
    out.append(nb::make_tuple(file_of(count), count.line, count.live, count.made));
  });
  return out;
}

nb::list measure_lines() {
  Table::process().each([](LineCount& count) { count.bytes = count.on_disk = 0; });
  Measure measure;
  each_tensor([&](const NativeTensor& tensor) {
    measure.add(tensor.value, tensor.line());
    return true;
  });
  measure.finish();
  nb::list out;
  Table::process().each([&](LineCount& count) {
    if (count.live == 0 && count.bytes == 0) return;
    out.append(nb::make_tuple(file_of(count), count.line, count.live, count.made, count.bytes,
                              count.on_disk));
  });
  return out;
}

nb::list tensors_at(nb::handle file, int line, std::size_t most) {
  nb::list out;
  each_tensor([&](const NativeTensor& tensor) {
    const LineCount* count = tensor.line();
    if (count == nullptr || count->line != line || !count->file) return true;
    if (PyUnicode_Compare(count->file.get(), file.ptr()) != 0) return true;
    nb::object found = nb::find(tensor);
    if (found.is_valid()) out.append(std::move(found));
    return nb::len(out) < most;
  });
  return out;
}

}  // namespace

LineCount& line_count(PyObject* file, int line) { return Table::process().at(file, line); }

void ask_for_a_look() {
  if (look_is_due || !growth_hook()) return;
  // Later and on the main thread: a tensor that is being made cannot wait for what a look costs.
  look_is_due = Py_AddPendingCall(look, nullptr) == 0;
}

bool note_step() {
  if (!growth_hook()) return true;
  const Ref done = Ref::steal(PyObject_CallOneArg(growth_hook().get(), Py_True));
  return static_cast<bool>(done);
}

void bind_lines(nb::module_& m) {
  m.def("changed_tensor_lines", &changed_lines,
        "(file, line, live, made) of lines whose live tensors are more or fewer than last time.");
  m.def("measure_tensor_lines", &measure_lines,
        "(file, line, live, made, bytes, bytes on disk) of every line of which something lives.");
  m.def("tensors_at", &tensors_at, nb::arg("file"), nb::arg("line"), nb::arg("most"),
        "Some tensors that a line made, the oldest first.");
  m.def(
      "set_growth_hook", [](nb::object hook) { growth_hook() = Ref::borrow(hook.ptr()); },
      "Who is told of steps (True), and when a line has made twice as many tensors (False).");
}

}  // namespace spillway::python
