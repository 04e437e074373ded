#include "spillway/pipeline/shuffle_order.h"

#include <numeric>

namespace spillway {

SeedSource::SeedSource(Seeds seeds, bool reshuffle) : reshuffle_(reshuffle), seeds_(seeds) {
  if (seeds_.first == 0 && seeds_.second == 0) seeds_ = {entropy64(), entropy64()};
  stream_ = PhiloxStream(seeds_.first, seeds_.second);
}

Seeds SeedSource::draw() {
  const MutexLock lock(mutex_);
  if (!reshuffle_) return seeds_;
  const std::uint64_t first = stream_.next();
  return {first, stream_.next()};
}

Seeds SeedSource::own() const {
  const MutexLock lock(mutex_);
  return seeds_;
}

void SeedSource::save(StateWriter& out) const {
  const MutexLock lock(mutex_);
  out.put(static_cast<std::int64_t>(seeds_.first));
  out.put(static_cast<std::int64_t>(seeds_.second));
  out.put(static_cast<std::int64_t>(stream_.draws()));
}

Status SeedSource::restore(StateReader& in) {
  std::int64_t first = 0;
  std::int64_t second = 0;
  std::int64_t draws = 0;
  SW_RETURN_IF_ERROR(in.get(first));
  SW_RETURN_IF_ERROR(in.get(second));
  SW_RETURN_IF_ERROR(in.get(draws));
  const MutexLock lock(mutex_);
  seeds_ = {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(second)};
  stream_ = PhiloxStream::at(seeds_.first, seeds_.second, static_cast<std::uint64_t>(draws));
  return {};
}

std::vector<std::int64_t> permutation(Seeds seeds, std::int64_t n) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  PhiloxStream random(seeds.first, seeds.second);
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::swap(order[i], order[i + random.next() % (order.size() - i)]);
  }
  return order;
}

std::int64_t ShuffleProgress::position_of(std::int64_t ordinal) const {
  std::int64_t position = ordinal + errors;
  for (const std::int64_t error : recent_errors) {
    if (error > position) break;
    ++position;
  }
  return position;
}

void ShuffleProgress::forget_errors_before(std::int64_t position) {
  const auto kept = std::ranges::lower_bound(recent_errors, position);
  errors += kept - recent_errors.begin();
  recent_errors.erase(recent_errors.begin(), kept);
}

void ShuffleProgress::save(StateWriter& out) const {
  for (const std::int64_t value :
       {static_cast<std::int64_t>(seeds.first), static_cast<std::int64_t>(seeds.second), emitted,
        pushed, errors, static_cast<std::int64_t>(shrunk)}) {
    out.put(value);
  }
  for (const auto* list : {&recent_errors, &ring}) {
    out.put(static_cast<std::int64_t>(list->size()));
    for (std::size_t i = 0; i < list->size(); ++i) {
      out.put((*list)[i] - (i > 0 ? (*list)[i - 1] : 0));
    }
  }
  out.put(input);
}

Status ShuffleProgress::restore(StateReader& in) {
  std::int64_t first = 0;
  std::int64_t second = 0;
  std::int64_t was_shrunk = 0;
  SW_RETURN_IF_ERROR(in.get(first));
  SW_RETURN_IF_ERROR(in.get(second));
  for (std::int64_t* value : {&emitted, &pushed, &errors, &was_shrunk}) {
    SW_RETURN_IF_ERROR(in.get_count(*value));
  }
  seeds = {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(second)};
  shrunk = was_shrunk != 0;
  for (auto* list : {&recent_errors, &ring}) {
    std::int64_t count = 0;
    SW_RETURN_IF_ERROR(in.get(count));
    std::int64_t last = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t step = 0;
      SW_RETURN_IF_ERROR(in.get(step));
      list->push_back(last += step);
    }
  }
  if (pushed < emitted) return invalid_argument("checkpoint: shuffle: bad count");
  return in.get(input);
}

}  // namespace spillway
