#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spillway/element.h"

namespace spillway {

class Dataset;
class Function;
struct DatasetData;
struct NamedArgument;

// User functions. An error, or a std::exception thrown, is that element's error; the pipeline goes
// on behind it. With parallel calls they run on the engine's threads, several at a time. The sample
// may be kept; its bytes then stay in the ledger.
using MapFunction = std::function<Result<Sample>(const Sample&)>;
using Predicate = std::function<Result<bool>(const Sample&)>;
using DatasetFunction = std::function<Result<Dataset>(const Sample&)>;

// A user function on its way into a pipeline. C++ shows no code to hash, so `name` stands for it in
// the spec's hash, in checkpoints and in JSON: give another one when the function's meaning
// changes.
class Callable {
 public:
  static Callable map(std::string name, Spec output, MapFunction function);
  static Callable predicate(std::string name, Predicate function);
  static Callable dataset(std::string name, Spec element, DatasetFunction function);

 private:
  friend class FrontAccess;
  std::shared_ptr<Function> function_;
  Status status_;
};

// What became of the source's rows in one pass:
// total = delivered + filtered + skipped + failed + dropped + held.
struct AuditTotals {
  std::int64_t total = 0;
  std::int64_t delivered = 0;
  std::int64_t filtered = 0;
  std::int64_t skipped = 0;
  std::int64_t failed = 0;
  std::int64_t dropped = 0;
  std::int64_t held = 0;  // read ahead, or still in a buffer
};

struct IterateOptions {
  bool read_ahead = true;         // false: user functions are called exactly as demanded
  std::string name = "pipeline";  // in the memory report
};

inline constexpr std::int64_t kAutotune = -1;
inline constexpr std::int64_t kInfiniteCardinality = -1;
inline constexpr std::int64_t kUnknownCardinality = -2;

// A pipeline as a value: operators, parameters, functions and the lines that wrote them. A handle;
// immutable, cheap to copy, usable from any thread. Building never runs a user function. A mistake
// is kept in status(), passed on by later steps, and returned by iterate(). Nothing throws.
//
//   const auto ds = Dataset::range(10).shuffle(4, 42).batch(3);
//   for (const Result<Sample>& sample : ds) {
//     if (!sample.ok()) return fail(sample.error());
//     std::cout << sample.value().to_string() << '\n';
//   }
class Dataset {
 public:
  class Iterator;
  class Cursor;
  using Where = std::source_location;

  // Any operator by its name, with parameters as `spillway describe OP` lists them; what is not
  // named takes its default. The named methods below are short for these two.
  static Dataset source(std::string_view op, std::initializer_list<NamedArgument> arguments,
                        const Where& at = Where::current());
  Dataset apply(std::string_view op, std::initializer_list<NamedArgument> arguments,
                const Where& at = Where::current()) const;

  static Dataset range(std::int64_t stop, const Where& at = Where::current());
  static Dataset range(std::int64_t start, std::int64_t stop, std::int64_t step = 1,
                       const Where& at = Where::current());
  static Dataset from_tensors(const Sample& sample, const Where& at = Where::current());
  static Dataset from_tensor_slices(const Sample& sample, const Where& at = Where::current());
  static Dataset zip(const std::vector<Dataset>& datasets, const Where& at = Where::current());

  Dataset batch(std::int64_t batch_size, bool drop_remainder = false,
                const Where& at = Where::current()) const;
  Dataset cache(const std::string& filename = "", const Where& at = Where::current()) const;
  Dataset concatenate(const Dataset& other, const Where& at = Where::current()) const;
  Dataset enumerate(std::int64_t start = 0, const Where& at = Where::current()) const;
  Dataset filter(std::string name, Predicate predicate, const Where& at = Where::current()) const;
  Dataset flat_map(std::string name, Spec element, DatasetFunction function,
                   const Where& at = Where::current()) const;
  // `parallel_calls`: 1, more at a time, or kAutotune. Results are in order always.
  Dataset map(std::string name, Spec output, MapFunction function, std::int64_t parallel_calls = 1,
              const Where& at = Where::current()) const;
  Dataset prefetch(std::int64_t buffer_size = kAutotune, const Where& at = Where::current()) const;
  Dataset repeat(std::optional<std::int64_t> count = {}, const Where& at = Where::current()) const;
  Dataset shard(std::int64_t num_shards, std::int64_t index,
                const Where& at = Where::current()) const;
  // With a seed, TensorFlow's order, bit for bit; without one, another order every time.
  Dataset shuffle(std::int64_t buffer_size, std::optional<std::int64_t> seed = {},
                  bool reshuffle_each_iteration = true, const Where& at = Where::current()) const;
  Dataset skip(std::int64_t count, const Where& at = Where::current()) const;
  Dataset take(std::int64_t count, const Where& at = Where::current()) const;
  Dataset unbatch(const Where& at = Where::current()) const;

  Status status() const;
  Spec element_spec() const;         // not known() until a first element, or after a mistake
  std::int64_t cardinality() const;  // or kInfiniteCardinality, kUnknownCardinality
  // Equal for equal pipelines, in C++ or Python, on any machine. 0 after a mistake.
  std::uint64_t spec_hash() const;
  std::string to_string() const;  // a stage a line, the source first
  Result<std::string> to_json() const;
  // Reads what to_json wrote, here or in Python. `functions` brings each one it names.
  static Dataset from_json(const std::string& text,
                           const std::vector<std::pair<std::string, Callable>>& functions = {});

  // A fresh pass; many may run at a time.
  Result<Iterator> iterate(const IterateOptions& options = {}) const;
  // The same for a range-based for: Result<Sample> after Result<Sample>, errors in their element's
  // place; a pass that cannot begin is one error.
  Cursor begin() const;
  static std::default_sentinel_t end() { return {}; }

 private:
  friend class FrontAccess;
  explicit Dataset(std::shared_ptr<const DatasetData> data) : data_(std::move(data)) {}
  std::shared_ptr<const DatasetData> data_;
};

// One pass. Used by one thread at a time; stops and lets go of its memory when destroyed.
class Dataset::Iterator {
 public:
  Iterator(Iterator&&) noexcept;
  Iterator& operator=(Iterator&&) noexcept;
  ~Iterator();

  // The next sample; nullopt at the end, and from then on; or one element's error, behind which
  // the pass goes on.
  Result<std::optional<Sample>> next();

  // The position as bytes: small, bound to the spec's hash, restored before the first next() of an
  // iterator over an equal pipeline, in this program or another, in C++ or Python.
  Result<std::string> save() const;
  Status restore(std::string_view state);

  void close();  // next() then says the end
  AuditTotals audit() const;

 private:
  friend class Dataset;
  struct State;
  explicit Iterator(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class Dataset::Cursor {
 public:
  using value_type = Result<Sample>;
  using difference_type = std::ptrdiff_t;

  const Result<Sample>& operator*() const { return *current_; }
  Cursor& operator++() {
    advance();
    return *this;
  }
  void operator++(int) { advance(); }
  bool operator==(std::default_sentinel_t) const { return !current_.has_value(); }

 private:
  friend class Dataset;
  explicit Cursor(Result<Iterator> pass);
  void advance();

  std::optional<Iterator> pass_;
  std::optional<Result<Sample>> current_;
};

// A parameter: None, numbers, text, a list of whole numbers, arrays, a spec, a function, datasets.
using Argument =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                 Sample, Spec, Callable, Dataset, std::vector<Dataset>>;
struct NamedArgument {
  std::string_view name;
  Argument value;
};

}  // namespace spillway
