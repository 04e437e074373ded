// The iterator: hands rows out one by one, as fast as Python can take them.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "async_function.h"
#include "bindings.h"
#include "interrupts.h"
#include "nest.h"
#include "pass_facts.h"
#include "spillway/base/bytes.h"
#include "spillway/base/clock.h"
#include "spillway/base/forks.h"
#include "spillway/base/interruption.h"
#include "spillway/base/mutex.h"
#include "spillway/observe/flight_file.h"
#include "spillway/observe/watchdog.h"
#include "spillway/pipeline/consumer.h"
#include "stop_button.h"
#include "tensors.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

// Lets a dataset tell of its last pass, also when the iterator is gone, without keeping it alive.
class AuditBox {
 public:
  void follow(const std::shared_ptr<Consumer>& consumer) {
    consumer_ = consumer;
    timeline_ = consumer->timeline();
  }
  void close(Audit audit) {
    std::size_t bytes = 0;
    for (const AuditEntry& entry : audit.entries) bytes += bytes_of(entry);
    paid_ = reports_of(Budget::process())->owe(bytes);
    paid_.touch();
    last_ = std::move(audit);
  }
  const Timeline& timeline() const { return *timeline_; }
  Audit audit() const {
    const auto consumer = consumer_.lock();
    return consumer != nullptr ? consumer->audit() : last_;
  }

 private:
  std::weak_ptr<Consumer> consumer_;
  std::shared_ptr<Timeline> timeline_;
  Audit last_;
  Reservation paid_;  // for its entries
};

// One kept row must not hold a whole chunk: a row that is less than half of its buffer is handed
// out as a copy, charged like the chunk; without room for that, as a view after all.
Tensor by_itself(Tensor row) {
  constexpr std::size_t kLarge = 64 * kKiB;  // smaller ones are copied by NumPy
  if (!is_plain(row.dtype()) || row.bytes() < kLarge) return row;
  const BufferPtr& buffer = row.buffer();
  if (buffer->charged() <= 2 * row.bytes()) return row;
  auto copy = compact(buffer->account(), row, Buffer::Ask::kOptional);
  return copy.ok() ? std::move(copy).value() : row;
}

// The same for a row that becomes a tensor: its bytes are the user's from now on, and still
// counted.
Tensor as_own(Tensor row) {
  if (row.dtype() == DType::kVariant) return row;
  const bool strings = row.dtype() == DType::kString;
  const bool small = (strings ? row.footprint() : row.bytes()) * 2 < row.buffer()->size();
  if (small) {
    auto copy = compact(tensor_account(), row, Buffer::Ask::kOwed);
    if (copy.ok()) return std::move(copy).value();
  } else {
    row.buffer()->transfer(tensor_account());
    if (strings) row.string_offsets()->transfer(tensor_account());
  }
  return row;
}

// For whoever may write into what he is given: bytes that nothing else refers to. A copy, charged
// to `account`, where something does: a cache, a constant, the user's own array, the rows beside
// it; and where they do not lie as `alignment` wants, since whoever gets them would copy them, into
// bytes that are in no ledger. Without room for that it waits for some, as any stage does, and is
// refused where none comes: then `row` is what it was.
Status make_sole(Tensor& row, const AccountPtr& account, std::size_t alignment) {
  if (!shown_as_view(row)) return {};  // NumPy copies it
  const BufferPtr& buffer = row.buffer();
  const bool foreign = buffer->adopted() && buffer->charged() == 0;
  const bool most = row.bytes() * 2 >= buffer->size();
  const bool aligned = reinterpret_cast<std::uintptr_t>(row.data()) % alignment == 0;
  if (buffer.use_count() == 1 && !foreign && most && aligned) return {};
  auto copy = compact(account, row, Buffer::Ask::kOptional);
  if (!copy.ok()) {
    Interrupts interrupts;
    {
      const WithoutGil free;
      copy = compact(account, row, Buffer::Ask::kRequired);
    }
    if (interrupts.raise()) return cancelled();
  }
  if (!copy.ok()) return std::move(copy).status();
  row = std::move(copy).value();
  return {};
}

// Tells the user, once, that what he keeps takes half of the limit; again only after he let most
// of it go. `in_use` is what a loop that keeps nothing refers to. False: the warning is an error.
bool warn_of_kept_elements(const Consumer& consumer, std::size_t in_use) {
  static bool told = false;  // with the GIL
  const Budget& budget = Budget::process();
  const std::size_t kept = budget.exported();
  if (kept == 0) return true;
  const std::size_t limit = budget.limit();
  if (kept < limit / 4) told = false;
  if (told || kept <= limit / 2 + in_use) return true;
  told = true;
  const std::string text = "your code keeps " + format_bytes(kept) +
                           " of elements it was given, more than half of the memory limit of " +
                           format_bytes(limit) +
                           "; pipelines slow down, and end with a BudgetError when it keeps all; "
                           "copy what you need of them, or raise memory_limit; the pipeline: " +
                           consumer.run().root()->line();
  return PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) == 0;
}

// What the pipeline wants its user to know, on his thread. False: a warning is an error here.
bool show_warnings(const Consumer& consumer) {
  Run& run = consumer.run();
  if (!run.has_warnings()) return true;
  for (const std::string& text : run.take_warnings()) {
    // Messages may hold bytes of the user's files.
    const Ref shown = Ref::steal(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
    const char* chars = shown ? PyUnicode_AsUTF8(shown.get()) : nullptr;
    if (chars == nullptr || PyErr_WarnEx(PyExc_RuntimeWarning, chars, 1) != 0) return false;
  }
  return true;
}

constexpr std::int64_t kCloseNs = 300'000'000;

// One thread at a time asks the engine for rows; others wait until it has them. Taken and left
// with the GIL.
class Turn {
 public:
  bool taken() const { return taken_; }
  bool taken_here() const { return taken_ && by_ == std::this_thread::get_id(); }
  void take() {
    by_ = std::this_thread::get_id();
    taken_ = true;
  }
  void leave() {
    const MutexLock lock(mutex_);
    taken_ = false;
    left_.notify_all();
  }
  // Without the GIL. Ends early when the thread is interrupted, and after `most_ns`.
  void wait(std::int64_t most_ns = INT64_MAX) {
    const std::int64_t begun = now_ns();
    while (taken_ && !interrupted() && now_ns() - begun < most_ns) {
      const MutexLock lock(mutex_);
      if (taken_) left_.wait_for(mutex_, std::chrono::milliseconds(20));
    }
  }

 private:
  std::atomic<bool> taken_{false};
  std::thread::id by_;
  Mutex mutex_;
  CondVar left_;
};

class NativeIterator {
 public:
  // How a pass hands over its rows.
  struct How {
    std::size_t alignment = 1;  // of arrays that are handed over (kOwned)
    bool main_waits = false;    // the main thread, in other code, for this one: see StopButton
  };
  using Opener = std::function<Result<std::unique_ptr<Consumer>>()>;
  NativeIterator(std::unique_ptr<Consumer> consumer, Opener open, Leaves leaves, How how,
                 graph::SitePtr site)
      : leaves_(leaves),
        how_(how),
        site_(std::move(site)),
        line_(site_ == nullptr || leaves != Leaves::kTensor ? nullptr : line_of(*site_)),
        open_(std::move(open)),
        box_(std::make_shared<AuditBox>()) {
    adopt(std::move(consumer));
  }
  ~NativeIterator() { close(); }
  NativeIterator(NativeIterator&&) = default;

  // New reference; null with an exception, or without one at the end. A signal whose handler raises
  // comes before the element leaves, or after it has reached the caller: nothing of ours runs
  // between.
  PyObject* next() {
    if (!home_.here()) {
      raise(check_not_forked());
      return nullptr;
    }
    PyObject* out = returned_.empty() ? take() : take_again();
    if (out == nullptr || PyErr_CheckSignals() == 0) return out;
    give_back(Ref::steal(out));
    return nullptr;
  }

  // An element that did not reach whoever asked for it: it is the next one.
  void give_back(Ref element) {
    if (closed_) return;
    returned_.push_back(std::move(element));
    count_handed();
  }

  PyObject* take() {
    while (at_ >= rows_) {
      if (!(turn_->taken() ? wait_for_turn() : refill())) return nullptr;
    }
    // Making a Python object may let another thread in here: the row is taken before.
    const std::int64_t mine = at_++;
    const StructurePtr structure = structure_;
    count_handed();
    const ElementLine counted(line_);
    PyObject* out = nullptr;
    if (leaves_ == Leaves::kOwned) {
      out = give_over(*structure, mine);
    } else {
      out = single_ != nullptr ? give_leaf(*structure, handed(single_->row(mine)), leaves_)
                               : give_row(*structure, mine);
    }
    if (out == nullptr && at_ == mine + 1) {
      --at_;
      count_handed();
    }
    return out;
  }

  // Goes on for about so long without handing anything out. Elements that fail are no exceptions
  // here; many of them end it early.
  struct Stretch {
    std::int64_t rows = 0;
    bool more = true;
    std::vector<AuditEntry> failed;
  };
  Stretch run_for(std::int64_t ns) {
    constexpr std::size_t kMostFailed = 1000;
    Stretch turn;
    if (raise_later() || !settle_position()) throw nb::python_error();
    touched_ = true;
    Status error;
    Interrupts interrupts;
    turn_->take();
    {
      const WithoutGil free;
      const std::int64_t until = now_ns() + ns;
      do {
        Next next = consumer_->next();
        if (next.ok() && next.value()) {
          turn.rows += next.value()->rows();
          consumer_->handed_out(next.value()->rows());
        } else if (next.ok()) {
          turn.more = false;
        } else if (is_position(next.error())) {
          ErrorInfo info = next.error().info();
          info.input = nullptr;  // its bytes are not kept
          info.cause = nullptr;
          turn.failed.push_back({"failed", Status(std::move(info)), 1});
        } else {
          error = std::move(next).status();
        }
      } while (turn.more && error.ok() && now_ns() < until && turn.failed.size() < kMostFailed);
    }
    leave_turn();
    // What is beside rows or failed elements comes with the next turn.
    if (turn.rows > 0 || !turn.failed.empty()) {
      interrupted_ = interrupts.take();
      if (is_interruption(error)) later_ = std::move(error);
      return turn;
    }
    if (interrupts.raise()) throw nb::python_error();
    if (!error.ok()) throw_status(error);
    return turn;
  }

  std::string save() {
    wait_for_others();
    if (!settle_position()) throw nb::python_error();
    turn_->take();
    auto saved = [&] {
      const WithoutGil free;
      return consumer_->save();
    }();
    leave_turn();
    return value_or_throw(std::move(saved));
  }

  // Goes on from `state`, or is what it was before: also when it is interrupted.
  void restore(std::string_view state) {
    wait_for_others();
    std::string before = std::exchange(position_, {});
    if (before.empty() && !touched_) {
      if (auto saved = consumer_->save(); saved.ok()) before = std::move(saved).value();
    }
    Interrupts interrupts;
    const Status status = restore_from(state);
    if (!status.ok() && !touched_) position_ = std::move(before);
    if (interrupts.raise()) throw nb::python_error();
    if (!status.ok()) throw_status(status);
  }
  // While a thread is inside the engine, that one lets go of everything when it comes out.
  void close() {
    if (closed_ || consumer_ == nullptr) return;
    closed_ = true;
    if (turn_->taken()) {
      const bool elsewhere = !turn_->taken_here();
      const WithoutGil free;
      consumer_->request_stop();
      if (elsewhere) turn_->wait(kCloseNs);
      return;
    }
    let_go();
  }
  // Open ones, with the GIL: the interpreter's end closes them.
  struct Open {
    std::weak_ptr<Consumer> consumer;
    std::shared_ptr<Turn> turn;
  };
  static std::unordered_map<Consumer*, Open>& alive() {
    static auto& all = *new std::unordered_map<Consumer*, Open>;
    return all;
  }
  static bool& ending() {
    static bool now = false;
    return now;
  }
  const Consumer& consumer() const { return *consumer_; }
  const std::shared_ptr<AuditBox>& box() const { return box_; }
  bool closed() const { return closed_; }

 private:
  PyObject* take_again() {
    PyObject* out = returned_.back().release();
    returned_.pop_back();
    count_handed();
    return out;
  }
  void count_handed() {
    consumer_->handed_out(std::max<std::int64_t>(at_ - std::ssize(returned_), 0));
  }

  // What could not be raised when it came, since a signal's handler raised something first.
  bool raise_later() {
    if (const Ref exception = std::exchange(interrupted_, Ref())) {
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.get())), exception.get());
      return true;
    }
    if (later_.ok()) return false;
    raise_error(std::exchange(later_, Status()));
    return true;
  }
  // An element's error is told: where making the exception is interrupted, the next time.
  void raise_error(const Status& error) {
    if (!raise_whole(error)) later_ = error;
  }

  Status restore_from(std::string_view state) {
    turn_->take();
    Status status;
    {
      const WithoutGil free;
      if (!touched_ && consumer_->position() > 0) status = reopen();  // it was restored before
      if (status.ok()) status = consumer_->restore(state);
      if (!status.ok() && consumer_->half_restored()) broken_ = reopen();
    }
    leave_turn();
    return status;
  }

  // Goes to where the iterator was before a restore() that failed: when somebody asks, since that
  // may take as long. False: with an exception.
  bool settle_position() {
    if (position_.empty()) return true;
    Interrupts interrupts;
    const std::string to = position_;
    const Status status = restore_from(to);
    if (status.ok()) position_.clear();
    if (interrupts.raise()) return false;
    if (!status.ok()) raise(status);
    return status.ok();
  }

  // A new pass in the place of one that restore() has left between two positions.
  // Without the GIL.
  Status reopen() {
    const InterruptScope short_enough(nullptr);
    consumer_->close();
    SW_ASSIGN(std::unique_ptr<Consumer> fresh, open_());
    const WithGil gil;
    alive().erase(consumer_.get());
    adopt(std::move(fresh));
    return {};
  }
  void adopt(std::unique_ptr<Consumer> consumer) {
    consumer_ = std::move(consumer);
    box_->follow(consumer_);
    alive().emplace(consumer_.get(), Open{consumer_, turn_});
  }

  void wait_for_others() {
    while (turn_->taken()) {
      if (!wait_for_turn()) throw nb::python_error();
    }
  }
  bool wait_for_turn() {
    if (turn_->taken_here()) {
      PyErr_SetString(PyExc_ValueError,
                      "iterator already executing: a function of this pipeline asks the pipeline "
                      "for its next element; give the function its own iter(dataset)");
      return false;
    }
    Interrupts interrupts;
    {
      const WithoutGil free;
      turn_->wait();
    }
    return !interrupts.raise();
  }

  bool refill() {
    if (closed_ || ending() || refused_on_loop() || raise_later()) return false;
    if (!broken_.ok()) {
      raise(broken_);
      return false;
    }
    if (!settle_position()) return false;
    turn_->take();
    touched_ = true;
    const std::size_t in_use = in_use_;
    drop_rows();
    const std::optional<StopButton> button =
        how_.main_waits ? std::make_optional<StopButton>() : std::nullopt;
    Interrupts interrupts(button ? StopButton::pressed : nullptr);
    Next next = [&] {
      const WithoutGil free;
      return consumer_->next();
    }();
    at_ = rows_ = 0;
    leave_turn();
    if (closed_) return static_cast<void>(interrupts.raise()), false;
    const bool stopped = button && !next.ok() && next.error().code() == Code::kCancelled &&
                         !is_interruption(next.error()) && StopButton::pressed();
    if (stopped) PyErr_SetNone(PyExc_KeyboardInterrupt);
    if (stopped) return false;
    // What the engine gave is kept, whatever is raised now.
    if (!next.ok()) {
      const Status error = std::move(next).status();
      const bool comes_again = !is_position(error) && !is_interruption(error);
      if (!interrupts.raise()) {
        // The error of an element goes before a warning that became one.
        if (!show_warnings(*consumer_)) PyErr_WriteUnraisable(nullptr);
        raise_error(error);
      } else if (!comes_again) {
        later_ = error;
      }
      return false;
    }
    if (!next.value()) {
      if (interrupts.raise()) return false;
      if (!std::exchange(ended_, true)) note_step();
      show_warnings(*consumer_);
      return false;
    }
    if (!show(std::move(*next.value()))) return false;
    if (interrupts.raise()) return false;
    return show_warnings(*consumer_) && warn_of_kept_elements(*consumer_, in_use);
  }

  // Rows to hand out, one by one.
  bool show(Chunk rows) {
    chunk_ = std::move(rows);
    rows_ = chunk_.rows();
    in_use_ = chunk_.footprint();
    structure_ = chunk_.structure();
    if (structure_ == nullptr) {
      PyErr_SetString(PyExc_RuntimeError, "spillway: a chunk without a structure");
      return false;
    }
    if (leaves_ == Leaves::kOwned) {
      take_apart();
    } else if (structure_->is_component()) {
      single_ = &chunk_.columns()[0];
    }
    return true;
  }

  void leave_turn() {
    if (closed_) let_go();
    turn_->leave();
  }
  void let_go() {
    alive().erase(consumer_.get());
    drop_rows();
    refused_ = {};
    const auto dropped = std::exchange(returned_, {});
    at_ = rows_ = 0;
    if (Py_IsInitialized() && PyGILState_Check() != 0) {
      const WithoutGil free;
      consumer_->close();
    } else {
      consumer_->close();
    }
    box_->close(consumer_->audit());
  }

  PyObject* give_row(const Structure& structure, std::int64_t at) {
    Row row = chunk_.row(at);
    for (Tensor& value : row.values) value = handed(std::move(value));
    return give_nest(structure, row.values, leaves_);
  }
  // Rows that have bytes of their own are held one by one, not by the chunk as well.
  void take_apart() {
    if (std::ranges::all_of(chunk_.columns(), &Column::is_block)) return;
    for (std::int64_t i = 0; i < rows_; ++i) apart_.push_back(chunk_.row(i));
    chunk_ = Chunk();
  }
  // A row whose bytes are the user's alone. The chunk lets go of its last row for that; one that
  // was refused memory is kept for the next time it is asked for.
  PyObject* give_over(const Structure& structure, std::int64_t at) {
    Row row = refused_.values.empty() ? taken(at) : std::exchange(refused_, {});
    if (at + 1 == rows_) drop_rows();
    Status status;
    for (Tensor& value : row.values) {
      status = make_sole(value, consumer_->run().account(), how_.alignment);
      if (!status.ok()) break;
    }
    PyObject* out = status.ok() ? give_nest(structure, row.values, leaves_) : nullptr;
    if (!status.ok() && PyErr_Occurred() == nullptr) raise(status);
    if (out == nullptr && !closed_) refused_ = std::move(row);
    return out;
  }
  Row taken(std::int64_t at) {
    if (apart_.empty()) return chunk_.row(at);
    return std::exchange(apart_[static_cast<std::size_t>(at)], {});
  }
  void drop_rows() {
    chunk_ = Chunk();
    apart_.clear();
    single_ = nullptr;
  }
  Tensor handed(Tensor row) const {
    return leaves_ == Leaves::kNumpy ? by_itself(std::move(row)) : as_own(std::move(row));
  }

  HomeProcess home_;
  Leaves leaves_;
  How how_;
  graph::SitePtr site_;  // the line that began the pass
  LineCount* line_;      // of its elements; valid while site_ is

  Opener open_;
  std::shared_ptr<Consumer> consumer_;
  std::shared_ptr<AuditBox> box_;
  Chunk chunk_;
  StructurePtr structure_;
  const Column* single_ = nullptr;
  std::vector<Row> apart_;     // instead of the chunk's
  Row refused_;                // handed over by nobody yet: there was no room for its copy
  std::vector<Ref> returned_;  // handed out to nobody: the next elements, the last one first
  Status later_;               // told to nobody yet
  Ref interrupted_;            // the same, of a handler
  Status broken_;              // there is no pass
  std::size_t in_use_ = 0;     // bytes of the chunk as it came
  std::int64_t at_ = 0;
  std::int64_t rows_ = 0;
  std::shared_ptr<Turn> turn_ = std::make_shared<Turn>();
  std::string position_;  // of the pass, where that is not what its consumer stands at
  bool touched_ = false;  // somebody has asked for an element
  bool closed_ = false;
  bool ended_ = false;
};

PyObject* iterator_next(PyObject* self) { return nb::inst_ptr<NativeIterator>(self)->next(); }
PyObject* iterator_self(PyObject* self) { return Py_NewRef(self); }
PyType_Slot iterator_slots[] = {{Py_tp_iternext, reinterpret_cast<void*>(iterator_next)},
                                {Py_tp_iter, reinterpret_cast<void*>(iterator_self)},
                                {0, nullptr}};

// Before the interpreter ends: all passes stop, generators close, and nobody comes back.
void shut_down() {
  std::vector<std::pair<std::shared_ptr<Consumer>, std::shared_ptr<Turn>>> open;
  for (const auto& [key, each] : NativeIterator::alive()) {
    if (auto consumer = each.consumer.lock()) open.emplace_back(std::move(consumer), each.turn);
  }
  NativeIterator::ending() = true;
  {
    const WithoutGil free;
    for (const auto& [consumer, turn] : open) consumer->request_stop();
    for (const auto& [consumer, turn] : open) {
      turn->wait(kCloseNs);
      // One whose thread is stuck in user code is left as it is.
      if (!turn->taken()) consumer->close();
    }
    open.clear();
  }
  close_accesses();
  end_process_guard();
  end_workers();
  end_async_loop();
  Watchdog::process().silence();
  end_flight();
  leave_interpreter();
}

NativeIterator open_iterator(nb::handle node, std::int64_t read_ahead_ns, const std::string& name,
                             bool tensors, std::size_t owned, bool main_waits, bool any_order,
                             bool early) {
  const NodePtr root = node_of(node.ptr());
  if (root == nullptr) throw nb::python_error();
  begin_watching();
  RunOptions options;
  options.read_ahead_ns = read_ahead_ns;
  options.pipeline_name = name;
  options.deterministic = !any_order;
  const auto open = [root, options] { return Consumer::open(root, options); };
  Interrupts interrupts;
  auto consumer = [&] {
    const WithoutGil free;
    auto opened = open();
    if (early && opened.ok()) opened.value()->start_early();
    return opened;
  }();
  if (interrupts.raise()) throw nb::python_error();
  const Leaves plain = owned > 0 ? Leaves::kOwned : Leaves::kNumpy;
  return {
      value_or_throw(std::move(consumer)), open, tensors ? Leaves::kTensor : plain,
      NativeIterator::How{.alignment = std::max<std::size_t>(owned, 1), .main_waits = main_waits},
      current_site()};
}

}  // namespace

PyObject* next_element(PyObject* pass) { return nb::inst_ptr<NativeIterator>(pass)->next(); }
void give_back_element(PyObject* pass, Ref element) {
  nb::inst_ptr<NativeIterator>(pass)->give_back(std::move(element));
}

void bind_iterator(nb::module_& m) {
  nb::class_<AuditBox>(m, "AuditBox", "What became of the elements of one pass.")
      .def("facts", [](const AuditBox& box) { return audit_dict(box.audit()); })
      .def("timeline", [](const AuditBox& box) { return timeline_list(box.timeline()); });
  nb::class_<NativeIterator>(m, "Iterator", nb::type_slots(iterator_slots),
                             nb::is_weak_referenceable(),
                             "One pass over a dataset; see Dataset.__iter__.")
      .def(
          "save",
          [](NativeIterator& it) {
            const std::string state = it.save();
            return nb::bytes(state.data(), state.size());
          },
          "The position as bytes: small, for restore() of an equal pipeline's iterator.")
      .def(
          "restore",
          [](NativeIterator& it, nb::bytes state) {
            it.restore(std::string_view(state.c_str(), state.size()));
          },
          nb::arg("state"), "Goes on where save() was called. Only before the first element.")
      .def("close", &NativeIterator::close,
           "Stops, closes generators, lets go of the memory. Further next() ends.")
      .def_prop_ro("closed", &NativeIterator::closed)
      .def_prop_ro("_held",
                   [](const NativeIterator& it) { return it.consumer().run().account()->held(); })
      .def("__enter__", [](nb::object self) { return self; })
      .def(
          "__exit__", [](NativeIterator& it, nb::object, nb::object, nb::object) { it.close(); },
          nb::arg("type").none(), nb::arg("value").none(), nb::arg("trace").none())
      .def("_run_for",
           [](NativeIterator& it, double seconds) {
             const auto turn = it.run_for(static_cast<std::int64_t>(seconds * 1e9));
             return nb::make_tuple(turn.rows, turn.more, entry_list(turn.failed));
           })
      .def("_give_back",
           [](NativeIterator& it, nb::handle element) { it.give_back(Ref::borrow(element.ptr())); })
      .def("_glance", [](const NativeIterator& it) { return glance(it.consumer()); })
      .def_prop_ro("_node",
                   [](const NativeIterator& it) {
                     return nb::steal(node_to_python(it.consumer().run().root()));
                   })
      .def("_audit_box", [](const NativeIterator& it) { return it.box(); })
      .def("_audit", [](const NativeIterator& it) { return audit_dict(it.consumer().audit()); });
  m.def("shut_down", &shut_down);
  m.def("open", &open_iterator, nb::arg("node"), nb::arg("read_ahead_ns"), nb::arg("name"),
        nb::arg("tensors") = false, nb::arg("owned") = 0, nb::arg("main_waits") = false,
        nb::arg("any_order") = false, nb::arg("early") = false);
}

}  // namespace spillway::python
