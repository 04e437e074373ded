#pragma once

#include <string>

#include "nest.h"
#include "objects.h"
#include "spillway/base/mutex.h"
#include "spillway/pipeline/function.h"
#include "spillway/pipeline/row_sink.h"

namespace spillway::python {

// A Python callable behind the engine's seam: called with Tensors (or NumPy's values), once a row.
class PyFunction : public Function, public SinkingFunction {
 public:
  PyFunction(Ref callable, StructurePtr output, std::string code, std::string name, bool numpy,
             std::string why)
      : callable_(keep_object(std::move(callable))),
        declared_(std::move(output)),
        known_(declared_),
        code_(std::move(code)),
        name_(std::move(name)),
        leaves_(numpy ? Leaves::kNumpy : Leaves::kTensor),
        why_(std::move(why)) {}

  Outcome call(const Chunk& rows, const CallContext& context) override;
  Outcome call_into(const Chunk& rows, const CallContext& context, RowSink& sink) override;
  StructurePtr output() const override { return declared_; }
  std::string code() const override { return code_; }
  std::string name() const override { return name_; }
  bool holds_interpreter() const override { return true; }
  std::string why() const override { return why_; }
  PythonParts parts() const {
    return {Ref::borrow(kept_object(callable_)), leaves_ == Leaves::kNumpy};
  }

  // The parts of a call, with the GIL. Null or false: with an exception.
  Ref invoke(const Structure& structure, const Row& row) const;
  // `result` is borrowed: where its one owner lets go of it afterwards, arrays are not copied.
  static bool take(PyObject* result, const StructurePtr& known, const AccountPtr& account,
                   Taken& taken);
  // What results look like, as far as that is known.
  StructurePtr known_output();
  // The first result's structure holds from then on; its shapes may vary.
  StructurePtr learn(const StructurePtr& first);

 private:
  Outcome call_all(const Chunk& rows, const CallContext& context, RowSink* sink);

  const std::shared_ptr<void> callable_;
  const StructurePtr declared_;
  Mutex mutex_;
  StructurePtr known_ SW_GUARDED_BY(mutex_);
  const std::string code_;
  const std::string name_;
  const Leaves leaves_;
  const std::string why_;
};

}  // namespace spillway::python
