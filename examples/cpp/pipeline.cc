// A pipeline in C++. twin.py builds the same one in Python and prints the same lines.
#include <spillway/spillway.h>

#include <iomanip>
#include <iostream>

using spillway::Array;
using spillway::Dataset;
using spillway::Result;
using spillway::Sample;
using spillway::Spec;
using spillway::Status;

// A user function: an error it returns is that element's error, the others come through.
static Result<Sample> label(const Sample& batch) {
  const auto numbers = batch[0].values<std::int64_t>();
  if (!numbers.ok()) return numbers.error();
  std::int64_t sum = 0;
  for (const std::int64_t number : numbers.value()) sum += number;
  if (sum == 12) return spillway::bad_data(spillway::Code::kDataLoss, "twelve is not allowed");
  return Sample::tuple({"sum " + std::to_string(sum), batch[0]});
}

static void print(const std::string& title, const Dataset& dataset) {
  std::cout << title << '\n';
  for (const Result<Sample>& sample : dataset) {
    if (sample.ok()) {
      std::cout << "  " << sample.value().to_string() << '\n';
    } else {
      std::cout << "  failed: " << sample.error().message() << '\n';
    }
  }
}

static Status resume(const Dataset& dataset) {
  auto first = dataset.iterate();
  if (!first.ok()) return first.error();
  for (int i = 0; i < 3; ++i) {
    if (auto next = first.value().next(); !next.ok()) return next.error();
  }
  auto state = first.value().save();
  if (!state.ok()) return state.error();

  auto second = dataset.iterate();
  if (!second.ok()) return second.error();
  if (Status restored = second.value().restore(state.value()); !restored.ok()) return restored;
  auto next = second.value().next();
  if (!next.ok()) return next.error();
  std::cout << "after the checkpoint\n  " << next.value()->to_string() << '\n';
  return {};
}

int main() {
  if (!spillway::set_memory_limit("64MiB").ok()) return 1;

  const Dataset dataset = Dataset::range(10).shuffle(4, /*seed=*/42).batch(3).repeat(2).take(6);
  std::cout << "spec " << std::hex << std::setw(16) << std::setfill('0') << dataset.spec_hash()
            << std::dec << '\n';
  print("elements", dataset);

  const Spec labelled = Spec::tuple({Spec::tensor("string"), Spec::of<std::int64_t>({-1})});
  print("labelled", dataset.map("label", labelled, label));

  const Dataset table = Dataset::from_tensor_slices(
      Sample::dict({{"name", Array::of({std::string("a"), std::string("b")})},
                    {"weight", Array::of(std::vector<float>{0.5F, 1.5F})}}));
  std::cout << "spec " << std::hex << std::setw(16) << table.spec_hash() << std::dec << '\n';
  print("table", table);

  if (const Status status = resume(dataset); !status.ok()) {
    std::cerr << spillway::describe(status) << '\n';
    return 1;
  }
  return 0;
}
