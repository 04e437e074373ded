#pragma once

#include "arrays.h"
#include "spillway/graph/node.h"

// Tensors as Python sees them: nodes of the graph room. With the GIL.
namespace spillway::python {

// What a spillway.Tensor holds. All of them are known, the oldest first: when memory runs out,
// those that nothing else refers to go to disk.
class NativeTensor {
 public:
  explicit NativeTensor(graph::Operand of);
  ~NativeTensor();
  NativeTensor(const NativeTensor&) = delete;
  NativeTensor& operator=(const NativeTensor&) = delete;

  graph::Operand value;

 private:
  friend std::size_t spill_tensors(std::size_t wanted);
  NativeTensor* before_;
  NativeTensor* after_ = nullptr;
};
// Moves values to disk until `wanted` bytes are free or there are none left, and says how many
// became free. They are read back when they are asked for.
std::size_t spill_tensors(std::size_t wanted);

const AccountPtr& tensor_account();
// Computes a tensor's value. Inside a user function the stage that calls it pays, and never waits
// for memory (its thread may be a pool's, R12); elsewhere the user's tensors do.
// They wait only where they may: never with the GIL.
Status evaluate_now(const graph::Operand& operand, bool may_wait);
// The tensor of a node, or the tuple of them. New reference.
PyObject* outputs_of(graph::NodePtr node);

bool is_tensor(PyObject* object);
// Only of what is_tensor.
const graph::Operand& operand_of(PyObject* tensor);
// New references.
PyObject* tensor_to_python(graph::Operand value);
PyObject* tensor_to_python(Tensor value);
// The value, computed now if it was not; null with an exception, for a traced tensor the one that
// ends the trace.
const Tensor* evaluated(PyObject* tensor);
// Who is told of every tensor an op makes, (tensor or tuple, name of the op) -> what the caller is
// given in its place; None: nobody. Set while some thread writes a graph.
void set_recorder(Ref recorder);
// What is made, as the recorder wants it. Takes the reference; null with an exception.
PyObject* recorded(PyObject* made, std::string_view op);
// The line of the user's code that is running.
graph::SitePtr current_site();
// A plain Python number without a detour through NumPy; nullopt: not such a simple case.
std::optional<graph::Operand> number_operand(PyObject* object, std::optional<DType> dtype);
// An op on its operands, run at once where waiting gains nothing. A new reference, a tuple of
// several outputs, or null with an exception.
PyObject* apply_op(const graph::OpDef& op, std::vector<graph::Operand> operands,
                   graph::Attrs attrs);

}  // namespace spillway::python
