#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "spillway/pipeline/guarded_function.h"
#include "spillway/pipeline/guarded_generator.h"
#include "spillway/pipeline/row_message.h"
#include "spillway/testing/scripted_workers.h"

namespace {

using namespace spillway;
using testing::Said;

constexpr std::int64_t kRows = 3;

class Declared final : public Function {
 public:
  explicit Declared(StructurePtr output) : output_(std::move(output)) {}
  Outcome call(const Chunk&, const CallContext&) override { return {}; }
  StructurePtr output() const override { return output_; }
  std::string code() const override { return ""; }
  std::string name() const override { return "f"; }
  bool holds_interpreter() const override { return true; }

 private:
  const StructurePtr output_;
};

class NoFactory final : public GeneratorFactory {
 public:
  Result<std::unique_ptr<Generator>> start(const AccountPtr&) override { return cancelled(); }
  std::string code() const override { return ""; }
  std::string describe() const override { return "g"; }
};

Budget& budget() {
  static auto& budget = *new Budget(std::size_t{256} << 20U);
  return budget;
}
const AccountPtr& account() {
  static const AccountPtr& account = *new AccountPtr(budget().open_account("fuzz"));
  return account;
}

Tensor numbers(Shape shape, std::int64_t count) {
  Tensor out = make_tensor(account(), DType::kInt64, std::move(shape)).value();
  std::fill_n(reinterpret_cast<std::int64_t*>(out.mutable_data()), count, 7);
  return out;
}

Tensor text() {
  const std::string_view items[] = {"text"};
  return make_strings(account(), {}, items, Buffer::Ask::kRequired).value();
}

StructurePtr ints() { return Structure::tensor(DType::kInt64, {}); }
// What true answers hold: numbers, or texts beside vectors, one of them with pages of its own.
StructurePtr mixed() {
  return Structure::dict({"a", "b"}, {Structure::tensor(DType::kString, {}),
                                      Structure::tensor(DType::kInt64, Shape({kUnknownDim}))});
}
Chunk true_rows(bool of_mixed) {
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < kRows; ++i) {
    if (!of_mixed) {
      rows.push_back(Row{{numbers({}, 1)}, {}});
      continue;
    }
    const std::int64_t items = i == 1 ? 10'000 : i;
    rows.push_back(Row{{text(), numbers({items}, items)}, {}});
  }
  return Chunk::from_rows(of_mixed ? mixed() : ints(), std::move(rows));
}

// The input: what is written over a true answer and, from kInRoom on, over the room where its
// values lie, as (place, length, bytes).
constexpr std::size_t kInRoom = 0x1000;
void spoil(std::span<const std::uint8_t> input, std::string& answer, std::span<std::byte> room) {
  while (input.size() > 3) {
    const std::size_t at = input[0] | std::size_t{input[1]} << 8U;
    const std::size_t some = std::min<std::size_t>(input[2], input.size() - 3);
    for (std::size_t i = 0; i < some; ++i) {
      const std::size_t place = at % kInRoom + i;
      const std::uint8_t byte = input[3 + i];
      if (at < kInRoom && place < answer.size()) answer[place] = static_cast<char>(byte);
      if (at >= kInRoom && place < room.size()) room[place] = std::byte{byte};
    }
    input = input.subspan(3 + some);
  }
}

std::size_t sum_of(const Chunk& rows) {
  std::size_t sum = 0;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    const auto values = rows.row(i).values;
    if (!check_values(*rows.structure(), values).ok()) std::abort();
    for (const Tensor& value : values) {
      if (value.dtype() == DType::kString) {
        for (std::int64_t k = 0; k < value.count(); ++k) sum += value.string_at(k).size();
      } else {
        for (std::size_t k = 0; k < value.bytes(); ++k)
          sum += static_cast<std::size_t>(value.data()[k]);
      }
    }
  }
  return sum;
}

// What the workers say to this input.
testing::Script& script() {
  static auto& script = *new testing::Script;
  return script;
}
const std::shared_ptr<WorkerPool>& pool() {
  const auto say = [](WorkerVerb verb, MessageReader request, SharedMemory& memory) {
    return script()(verb, request, memory);
  };
  static const auto& pool = *new std::shared_ptr<WorkerPool>(
      std::make_shared<WorkerPool>(budget(), std::make_shared<testing::ScriptedWorkers>(say)));
  return pool;
}

std::size_t call(const StructurePtr& declared, const GuardRules& rules) {
  GuardedFunction function(std::make_shared<Declared>(declared), Cargo::small("f"), pool(), rules);
  const auto outcome = function.call(true_rows(false), {account(), 0, 0});
  if (outcome.out.rows() > kRows) std::abort();
  if (outcome.out.rows() == 0) return 0;
  if (declared != nullptr && !declared->accepts(*outcome.out.structure())) std::abort();
  return sum_of(outcome.out);
}

std::size_t generate(const StructurePtr& declared, const GuardRules& rules) {
  GuardedGeneratorFactory factory(std::make_shared<NoFactory>(), Cargo::small("g"), declared,
                                  pool(), rules);
  const auto generator = factory.start(account());
  std::vector<Tensor> slots;
  if (declared != nullptr && declared->static_bytes() > 0) slots.push_back(numbers({kRows}, kRows));
  GrowingRows block(declared, kRows, std::move(slots));
  const std::atomic<bool> stop{false};
  static_cast<void>(generator.value()->fill(block, 0, stop));
  return block.added() == 0 ? 0 : sum_of(block.take(0, block.added()));
}

}  // namespace

// What a worker may answer to a call, or a generator in it: refused, or rows as they were asked for
// and declared. The first byte chooses what is asked and how it is answered.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t choice = data[0];
  const std::span<const std::uint8_t> input(data + 1, size - 1);
  const bool of_mixed = (choice & 2U) != 0;
  WorkerVerb asked = WorkerVerb::kCall;
  script() = [&](WorkerVerb verb, MessageReader request, SharedMemory& memory) -> Said {
    if (verb == WorkerVerb::kCloseGenerator) return {{}, true};
    if (verb == WorkerVerb::kStartGenerator) return {{testing::done_with(verb, {})}, false};
    if (verb != WorkerVerb::kRoom) asked = verb;
    const Chunk rows = true_rows(of_mixed);
    const testing::Room place = testing::room_of(verb, request);
    const std::size_t needed = RowSender::room_for(rows);
    if (needed > place.bytes) {
      if (verb == WorkerVerb::kRoom) std::abort();
      return {{MessageWriter().add(WorkerVerb::kNeed).add(std::uint64_t{needed}).bytes()}, false};
    }
    const std::span<std::byte> room = memory.at(place.offset, place.bytes);
    RowSender sender;
    MessageWriter told;
    if (!sender.add(rows, place.offset, room, told).ok()) std::abort();
    std::string answer = testing::done_with(asked, told.bytes());
    if ((choice & 4U) != 0) {
      answer.assign(reinterpret_cast<const char*>(input.data()), input.size());
    } else {
      spoil(input, answer, room);
    }
    return {{std::move(answer)}, true};
  };
  GuardRules rules;
  rules.restarts = 0;
  rules.kind.sandboxed = (choice & 8U) != 0;
  const StructurePtr declared = (choice & 16U) != 0 ? nullptr : of_mixed ? mixed() : ints();
  const std::size_t sum = (choice & 1U) != 0 ? call(declared, rules) : generate(declared, rules);
  if (sum == SIZE_MAX) return 1;
  if (account()->held() != 0) std::abort();
  return 0;
}
