#include "spillway/pipeline/worker_loop.h"

#include <algorithm>
#include <utility>

#include "spillway/base/bytes.h"
#include "spillway/base/clock.h"
#include "spillway/base/test_point.h"
#include "spillway/guard/copies.h"
#include "spillway/guard/exchange.h"
#include "spillway/guard/pass_seeds.h"
#include "spillway/guard/sandbox.h"
#include "spillway/guard/worker_verbs.h"

namespace spillway {
namespace {

constexpr std::size_t kMostState = std::size_t{4} << 20U;

// Rows of a generator that travel together: those made are not withheld for long.
constexpr std::int64_t kMostGenerated = 1024;
constexpr std::size_t kMostGeneratedBytes = std::size_t{1} << 20U;

}  // namespace

WorkerLoop::WorkerLoop(Channel channel, std::shared_ptr<SharedMemory> memory, Budget& budget,
                       WorkerFront front)
    : channel_(std::move(channel)),
      memory_(std::move(memory)),
      account_(budget.open_account("worker")),
      front_(std::move(front)) {}

void WorkerLoop::run() {
  std::string message;
  const auto receive = [this, &message] {
    end_copy_of_worker();
    if (generator_ != nullptr && generator_->rests()) generator_->rest(channel_.fd(), -1);
    std::vector<Descriptor> fds;
    const bool got = channel_.receive(message, nullptr, &fds) == Channel::Got::kAll;
    for (Descriptor& fd : fds) fds_.push_back(std::move(fd));
    return got;
  };
  while (receive()) {
    MessageReader in(message);
    number_ = in.get<std::uint64_t>();
    switch (in.get<WorkerVerb>()) {
      case WorkerVerb::kBecome:
        kind_ = read_kind(in);
        if (front_.become) front_.become(kind_);
        break;
      case WorkerVerb::kLoad:
        load(in);
        break;
      case WorkerVerb::kCall:
        if (!call(in)) return;
        break;
      case WorkerVerb::kSetUp:
        if (!serve(in, true)) return;
        break;
      case WorkerVerb::kParcel:
        if (!serve(in, false)) return;
        break;
      case WorkerVerb::kStartGenerator:
        if (!start_generator(in)) return;
        break;
      case WorkerVerb::kFillGenerator:
        if (!fill_generator(in)) return;
        break;
      case WorkerVerb::kCloseGenerator:
        SW_TEST_POINT("worker closes its generator");
        generator_ = nullptr;
        if (!send(MessageWriter().add(WorkerVerb::kDone))) return;
        break;
      default:
        return;
    }
  }
}

void WorkerLoop::load(MessageReader& in) {
  SW_TEST_POINT("worker is given a function");
  const auto id = in.get<std::uint64_t>();
  Loaded& loaded = functions_[id];
  auto made = make(in, loaded.draws);
  if (Status failed = enter_sandbox_once(); !failed.ok()) made = std::move(failed);
  if (made.ok()) {
    loaded.function = std::move(made).value();
    loaded.sinking = dynamic_cast<SinkingFunction*>(loaded.function.get());
  } else {
    loaded.failed = std::move(made).status();
  }
  SW_TEST_POINT("worker has its function");
}

Result<FunctionPtr> WorkerLoop::make(MessageReader& in, std::uint8_t& draws) {
  SW_ASSIGN(const Parcel sent, Cargo::receive(in, fds_));
  const std::string name(in.text());
  draws = in.get<std::uint8_t>();
  SW_ASSIGN(StructurePtr output, read_structure(in));
  return front_.load(sent, std::move(output), name);
}

// After the first load: what a module does when it is imported is nobody's attack.
Status WorkerLoop::enter_sandbox_once() {
  if (!kind_.sandboxed || in_sandbox_) return {};
  SW_RETURN_IF_ERROR(enter_sandbox(kind_.folders));
  in_sandbox_ = true;
  return {};
}

bool WorkerLoop::call(MessageReader& in) {
  SW_TEST_POINT("worker has a call");
  const auto id = in.get<std::uint64_t>();
  const std::span<std::byte> beat_bytes = memory_->at(in.get<std::uint64_t>(), sizeof(Beat));
  CallContext context{account_, in.get<std::int64_t>(), in.get<std::int64_t>()};
  context.bytes = in.get<std::uint64_t>();
  const auto time_ns = in.get<std::int64_t>();
  if (time_ns >= 0) context.deadline_ns = now_ns() + time_ns;
  const auto seed = in.get<std::uint64_t>();
  const Room room = read_room(in);
  if (!in.ok() || beat_bytes.empty()) return false;
  Beat& beat = *reinterpret_cast<Beat*>(beat_bytes.data());
  context.at = &beat.row;

  const std::span<std::byte> room_bytes = memory_->at(room.offset, room.bytes);
  const std::int64_t cpu = process_cpu_ns();
  const auto keep = std::make_shared<char>();
  MessageWriter out;
  out.add(WorkerVerb::kDone);
  Function::Outcome outcome;
  Room rest;
  {
    const auto rows = receiver_.view(in, account_, *memory_, keep);
    RowStream stream(room.offset, room_bytes, rows.ok() ? rows.value().rows() : 0);
    if (rows.ok()) {
      outcome = call_loaded(id, seed, rows.value(), context, stream);
    } else {
      outcome.error = rows.error();
    }
    beat.row = -1;
    SW_TEST_POINT("worker has results");
    add_stream(stream, out);
    // What the stream did not take lies in the room alone, or in another one.
    if (stream.rows() == 0) rest = room;
  }
  SW_TEST_POINT("worker writes results");
  Status refused;
  if (!write_rows(outcome.out, sender_, rest, out, refused)) return false;
  if (!refused.ok()) outcome.error = std::move(refused);
  outcome.out = Chunk();
  // Results may have been views of what came in; what is still held, the user's code keeps.
  out.add(static_cast<std::uint8_t>(keep.use_count() > 1 ? 1 : 0));
  out.add(process_cpu_ns() - cpu);
  write_status(outcome.error, out);
  const bool sent = send(out);
  SW_TEST_POINT("worker has answered");
  return sent;
}

void WorkerLoop::add_stream(const RowStream& stream, MessageWriter& out) {
  out.add(static_cast<std::uint8_t>(stream.rows() > 0 ? 1 : 0));
  if (stream.rows() == 0) return;
  MessageWriter written;
  sender_.add(stream, written);
  out.add(std::string_view(written.bytes()));
}

Function::Outcome WorkerLoop::call_loaded(std::uint64_t id, std::uint64_t seed, const Chunk& rows,
                                          const CallContext& context, RowStream& stream) {
  const Loaded& loaded = functions_[id];
  if (loaded.function == nullptr) {
    Function::Outcome outcome;
    outcome.error =
        loaded.failed.ok() ? internal_bug("a worker was not given its function") : loaded.failed;
    return outcome;
  }
  if (loaded.draws != 0 || !loaded.function->holds_interpreter()) {
    return call_one_by_one(loaded, seed, rows, context, stream);
  }
  if (loaded.sinking != nullptr) return loaded.sinking->call_into(rows, context, stream);
  return loaded.function->call(rows, context);
}

// Each row with random numbers of its own; and a native function does not say which row it is at,
// which must be known when it dies of one.
Function::Outcome WorkerLoop::call_one_by_one(const Loaded& loaded, std::uint64_t seed,
                                              const Chunk& rows, const CallContext& context,
                                              RowStream& stream) const {
  Function::Outcome all;
  std::vector<Chunk> parts;
  std::size_t bytes = 0;
  const std::uint64_t pass = mix_seeds(seed, static_cast<std::uint64_t>(context.epoch));
  for (std::int64_t i = 0; i < rows.rows() && all.error.ok(); ++i) {
    if (i > 0 && (bytes + stream.bytes() >= context.bytes || now_ns() >= context.deadline_ns)) {
      break;
    }
    if (context.at != nullptr) *context.at = i;
    const CallContext one{context.account, context.first_index + i, context.epoch};
    if (loaded.draws != 0 && front_.seed) {
      front_.seed(loaded.draws, mix_seeds(pass, static_cast<std::uint64_t>(one.first_index)));
    }
    const Chunk row = rows.slice(i, i + 1);
    Function::Outcome outcome = loaded.sinking != nullptr
                                    ? loaded.sinking->call_into(row, one, stream)
                                    : loaded.function->call(row, one);
    bytes += outcome.out.footprint();
    all.error = std::move(outcome.error);
    if (outcome.out.rows() == 0) continue;
    parts.push_back(std::move(outcome.out));
    // The stream has no place for this one: those after it would overtake it there.
    if (loaded.sinking != nullptr) break;
  }
  if (parts.empty()) return all;
  const StructurePtr structure = parts[0].structure();
  all.out = parts.size() == 1 ? std::move(parts[0]) : join_rows(structure, parts);
  return all;
}

WorkerLoop::Room WorkerLoop::read_room(MessageReader& in) {
  Room room;
  room.offset = in.get<std::uint64_t>();
  room.bytes = in.get<std::uint64_t>();
  return room;
}

bool WorkerLoop::send(const MessageWriter& out) {
  end_copy_of_worker();
  return channel_.send(numbered(number_, out.bytes()), nullptr) == Channel::Got::kAll;
}

bool WorkerLoop::enlarge(Room& room, std::size_t needed, Status& refused) {
  if (needed > room.bytes) {
    const auto ask = MessageWriter().add(WorkerVerb::kNeed).add(static_cast<std::uint64_t>(needed));
    std::string granted;
    SW_TEST_POINT("worker asks for room");
    if (!send(ask)) return false;
    SW_TEST_POINT("worker has asked for room");
    if (channel_.receive(granted, nullptr) != Channel::Got::kAll) return false;
    SW_TEST_POINT("worker was given room");
    MessageReader in(granted);
    if (in.get<std::uint64_t>() != number_ || in.get<WorkerVerb>() != WorkerVerb::kRoom)
      return false;
    room = read_room(in);
    if (!in.ok()) return false;
    if (needed > room.bytes) {
      refused = out_of_resource("no room for results of ", format_bytes(needed));
      return true;
    }
  }
  return memory_->at(room.offset, room.bytes).size() == room.bytes;
}

bool WorkerLoop::write_rows(const Chunk& rows, RowSender& sender, Room room, MessageWriter& out,
                            Status& refused) {
  MessageWriter written;
  if (rows.rows() > 0) {
    if (!enlarge(room, RowSender::room_for(rows), refused)) return false;
    if (!refused.ok()) {
      out.add(std::uint8_t{0});
      return true;
    }
    refused = sender.add(rows, room.offset, memory_->at(room.offset, room.bytes), written);
    SW_TEST_POINT("worker has written results");
    if (refused.ok()) {
      out.add(std::uint8_t{1}).add(std::string_view(written.bytes()));
      return true;
    }
  }
  out.add(std::uint8_t{0});
  return true;
}

bool WorkerLoop::start_generator(MessageReader& in) {
  SW_TEST_POINT("worker is to start a generator");
  generator_ = nullptr;
  generator_sender_ = RowSender();
  const Status failed = begin(in);
  SW_TEST_POINT("worker has started its generator");
  MessageWriter out;
  out.add(WorkerVerb::kDone);
  write_status(failed, out);
  return send(out);
}

Status WorkerLoop::begin(MessageReader& in) {
  SW_ASSIGN(const Parcel sent, Cargo::receive(in, fds_));
  const std::string name(in.text());
  const auto seed = in.get<std::uint64_t>();
  const std::string_view state = in.text();
  if (front_.seed) front_.seed(0xFF, seed);
  SW_ASSIGN(generated_, read_structure(in));
  SW_ASSIGN(const auto factory, front_.begin(sent, generated_, name));
  SW_RETURN_IF_ERROR(enter_sandbox_once());
  if (state.empty()) {
    SW_ASSIGN(generator_, factory->start(account_));
  } else {
    SW_ASSIGN(generator_, factory->resume(account_, state));
  }
  return {};
}

bool WorkerLoop::fill_generator(MessageReader& in) {
  const std::span<std::byte> beat_bytes = memory_->at(in.get<std::uint64_t>(), sizeof(Beat));
  const auto rows = std::max<std::int64_t>(in.get<std::int64_t>(), 1);
  const auto time_ns = in.get<std::int64_t>();
  const Room room = read_room(in);
  if (!in.ok() || beat_bytes.empty() || generator_ == nullptr) return false;
  SW_TEST_POINT("worker is asked for rows");
  auto& beat = *reinterpret_cast<Beat*>(beat_bytes.data());
  beat.row = 0;
  static const std::atomic<bool> kNever{false};
  GrowingRows block(generated_, std::min(rows, kMostGenerated), {}, kMostGeneratedBytes);
  block.tell(&beat.row);
  Generator::Filled filled = generator_->fill(block, now_ns() + time_ns, kNever);
  std::string state;
  if (filled.more == Generator::More::kYes) {
    auto told = generator_->state();
    if (!told.ok()) {
      filled.more = Generator::More::kError;
      filled.finished = true;
      filled.error = std::move(told).status();
    } else if (told.value().size() <= kMostState) {
      state = std::move(told).value();
    }
  }
  beat.row = -1;
  SW_TEST_POINT("worker has generated rows");
  MessageWriter out;
  out.add(WorkerVerb::kDone)
      .add(filled.more)
      .add(static_cast<std::uint8_t>(filled.finished ? 1
                                     : filled.unsure ? 2
                                                     : 0));
  out.add(std::string_view(generator_->last_file())).add(std::string_view(state));
  Status refused;
  const Chunk made = block.added() > 0 ? block.take(0, block.added()) : Chunk();
  if (!write_rows(made, generator_sender_, room, out, refused)) return false;
  write_status(refused.ok() ? filled.error : refused, out);
  const bool sent = send(out);
  SW_TEST_POINT("worker has sent rows");
  return sent;
}

bool WorkerLoop::serve(MessageReader& in, bool sets_up) {
  SW_TEST_POINT("worker has a parcel");
  Room room = read_room(in);
  const auto keep = std::make_shared<char>();
  MessageWriter out;
  MessageWriter parcel;
  Status error;
  {
    const auto request = sets_up ? Cargo::receive(in, fds_) : view_parcel(in, *memory_, keep);
    auto answer =
        request.ok() && front_.serve ? front_.serve(request.value()) : Result<Parcel>(cancelled());
    if (answer.ok()) {
      if (!enlarge(room, room_for(answer.value()), error)) return false;
      if (error.ok()) {
        write_parcel(answer.value(), room.offset, memory_->at(room.offset, room.bytes), parcel);
      }
    } else {
      error = std::move(answer).status();
    }
    // The first request sets the callable up.
    if (error.ok()) error = enter_sandbox_once();
  }
  out.add(WorkerVerb::kDone).add(static_cast<std::uint8_t>(keep.use_count() > 1 ? 1 : 0));
  write_status(error, out);
  SW_TEST_POINT("worker has served a parcel");
  return send(out.append(parcel));
}

}  // namespace spillway
