#include "py_function.h"

#include <cstring>

#include "async_function.h"
#include "interrupts.h"
#include "objects.h"
#include "spillway/base/clock.h"
#include "spillway/guard/copies.h"

namespace spillway::python {
namespace {

constexpr std::size_t kMostBlock = 1 << 20;

// Collects results row by row: into blocks when they are static and small, else one by one.
class Collector {
 public:
  Collector(StructurePtr structure, std::int64_t rows, const AccountPtr& account)
      : structure_(std::move(structure)) {
    if (structure_ == nullptr) return;
    const std::int64_t bytes = structure_->static_bytes();
    if (rows < 2 || bytes < 0 || static_cast<std::size_t>(bytes * rows) > kMostBlock) return;
    for (const Structure* leaf : structure_->leaves()) {
      auto block =
          make_tensor(account, leaf->dtype(), leaf->shape().with_leading(rows), Buffer::Ask::kOwed);
      if (!block.ok()) {
        blocks_.clear();
        return;
      }
      blocks_.push_back(std::move(block).value());
      row_bytes_.push_back(blocks_.back().bytes() / static_cast<std::size_t>(rows));
    }
  }

  void add(std::vector<Tensor> values) {
    if (blocks_.empty()) {
      rows_.push_back(Row{std::move(values), {}});
    } else {
      for (std::size_t c = 0; c < blocks_.size(); ++c) {
        std::memcpy(blocks_[c].mutable_data() + static_cast<std::size_t>(added_) * row_bytes_[c],
                    values[c].data(), row_bytes_[c]);
      }
    }
    ++added_;
  }

  Chunk finish(const StructurePtr& structure) && {
    if (added_ == 0) return {};
    if (blocks_.empty()) return Chunk::from_rows(structure, std::move(rows_));
    std::vector<Column> columns;
    for (const Tensor& block : blocks_) {
      block.buffer()->touch();
      columns.emplace_back(block.slice(0, added_));
    }
    return {structure, added_, std::move(columns), Origins()};
  }

 private:
  const StructurePtr structure_;
  std::vector<Tensor> blocks_;
  std::vector<std::size_t> row_bytes_;
  std::vector<Row> rows_;
  std::int64_t added_ = 0;
};

// A coroutine that nobody awaits: said in words, and not warned about a second time.
void refuse_coroutine(PyObject* result) {
  const Ref closed = Ref::steal(PyObject_CallMethod(result, "close", nullptr));
  forget_exception();
  PyErr_SetString(PyExc_TypeError,
                  "the function returned a coroutine that nobody awaits: hand over the `async def` "
                  "function itself, or one that awaits (`async def f(x): return await g(x)`)");
}

}  // namespace

Function::Outcome PyFunction::call(const Chunk& rows, const CallContext& context) {
  return call_all(rows, context, nullptr);
}

Function::Outcome PyFunction::call_into(const Chunk& rows, const CallContext& context,
                                        RowSink& sink) {
  return call_all(rows, context, &sink);
}

Function::Outcome PyFunction::call_all(const Chunk& rows, const CallContext& context,
                                       RowSink* sink) {
  const WithGil gil;
  Outcome outcome;
  StructurePtr known = known_output();
  Collector collector(known, sink == nullptr ? rows.rows() : 1, context.account);
  std::size_t bytes = 0;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    if (i > 0 && (bytes >= context.bytes || now_ns() >= context.deadline_ns)) break;
    if (context.at != nullptr) *context.at = i;
    if (Interrupts::waiting()) {
      outcome.error = cancelled();
      break;
    }
    Taken taken;
    Ref result = invoke(*rows.structure(), rows.row(i));
    end_copy_of_worker();
    if (result && PyCoro_CheckExact(result.get())) {
      refuse_coroutine(result.get());
      result = Ref();
    }
    if (!result || !take(result.get(), known, context.account, taken)) {
      outcome.error = status_from_exception();
      break;
    }
    if (known == nullptr) known = learn(taken.structure);
    for (const Tensor& value : taken.values) bytes += value.bytes();
    if (sink != nullptr && sink->add(known, taken.values)) continue;
    collector.add(std::move(taken.values));
    if (sink != nullptr) break;
  }
  outcome.out = std::move(collector).finish(known);
  return outcome;
}

Ref PyFunction::invoke(const Structure& structure, const Row& row) const {
  const Ref element = Ref::steal(give_nest(structure, row.values, leaves_));
  if (!element) return {};
  PyObject* callable = kept_object(callable_);
  const UserCode running;
  // A tuple is taken apart; anything else (a dict, a namedtuple) is one argument.
  return Ref::steal(structure.kind() == Structure::Kind::kTuple
                        ? PyObject_CallObject(callable, element.get())
                        : PyObject_CallOneArg(callable, element.get()));
}

bool PyFunction::take(PyObject* result, const StructurePtr& known, const AccountPtr& account,
                      Taken& taken) {
  // As in TensorFlow a list of results is a tuple of them; one within a nest is a tensor.
  Ref tuple;
  if (PyList_Check(result) && (known == nullptr || !known->is_component())) {
    tuple = Ref::steal(PyList_AsTuple(result));
    if (!tuple) return false;
    result = tuple.get();
  }
  Mismatch why = Mismatch::kNone;
  const TakeRules rules{account, false, &why, true};
  return take_nest(result, known, rules, true, taken);
}

StructurePtr PyFunction::learn(const StructurePtr& first) {
  const MutexLock lock(mutex_);
  if (known_ == nullptr) {
    known_ = first->map_leaves([](const Structure& leaf) -> StructurePtr {
      if (leaf.kind() != Structure::Kind::kTensor) {
        return leaf.kind() == Structure::Kind::kDataset ? Structure::dataset(nullptr)
                                                        : Structure::optional(nullptr);
      }
      return Structure::tensor(leaf.dtype(), Shape::unknown_rank());
    });
  }
  return known_;
}

StructurePtr PyFunction::known_output() {
  const MutexLock lock(mutex_);
  return known_;
}

FunctionPtr make_function(Ref callable, StructurePtr output, std::string code, std::string name,
                          bool numpy_arguments, std::string why) {
  const bool awaited = is_async(callable.get());
  auto made = awaited ? make_async_function(std::move(callable), std::move(output), std::move(code),
                                            std::move(name), numpy_arguments, std::move(why))
                      : std::make_shared<PyFunction>(std::move(callable), std::move(output),
                                                     std::move(code), std::move(name),
                                                     numpy_arguments, std::move(why));
  return made;
}

PythonParts python_parts(const Function& function) {
  const auto* made = dynamic_cast<const PyFunction*>(&function);
  return made == nullptr ? PythonParts{} : made->parts();
}

bool is_python(const Function& function) {
  return dynamic_cast<const PyFunction*>(&function) != nullptr;
}

}  // namespace spillway::python
