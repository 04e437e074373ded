// What does a JPEG image cost a core: in libjpeg-turbo, and in our decoder with one to four by
// turns?
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>

#include "spillway/io/images/encode.h"
#include "spillway/testing/jpegs.h"

namespace spillway {
namespace {

// Value noise in octaves: random grids, interpolated, each finer by half and fainter.
class Octaves {
 public:
  Octaves(std::int64_t width, std::int64_t height) : width_(width), height_(height) {}
  void add(std::mt19937& random, std::vector<float>& to, float strength, float decay,
           std::int64_t last_step) const {
    std::uniform_real_distribution<float> grid_value(-1, 1);
    for (std::int64_t step = 128; step >= last_step; step /= 2, strength *= decay) {
      const std::int64_t columns = width_ / step + 3;
      std::vector<float> grid(static_cast<std::size_t>(columns * (height_ / step + 3)));
      for (float& value : grid) value = strength * grid_value(random);
      for (std::int64_t y = 0; y < height_; ++y) {
        for (std::int64_t x = 0; x < width_; ++x) {
          const float* const at = grid.data() + y / step * columns + x / step;
          const float right = static_cast<float>(x % step) / static_cast<float>(step);
          const float down = static_cast<float>(y % step) / static_cast<float>(step);
          to[static_cast<std::size_t>(y * width_ + x)] += std::lerp(
              std::lerp(at[0], at[1], right), std::lerp(at[columns], at[columns + 1], right), down);
        }
      }
    }
  }

 private:
  const std::int64_t width_;
  const std::int64_t height_;
};

struct Set {
  std::int64_t width;
  std::int64_t height;
  int quality;
  float noise;
};
// As photographs of ImageNet: 95 KB each and as long to decode; then the bit rate of web pages.
constexpr Set kSets[] = {{500, 375, 95, 9}, {500, 375, 75, 3}};
constexpr int kImages = 24;

std::string make_file(const Set& set, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, set.noise);
  const Octaves octaves(set.width, set.height);
  const auto count = static_cast<std::size_t>(set.width * set.height);
  std::vector<float> luma(count);
  octaves.add(random, luma, 55, 0.62F, 2);
  for (float& value : luma) value += 128 + noise(random);
  std::vector<std::byte> pixels(count * 3);
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<float> plane = luma;
    octaves.add(random, plane, 25, 0.6F, 16);
    for (std::size_t i = 0; i < count; ++i) {
      pixels[3 * i + c] = static_cast<std::byte>(std::clamp(plane[i], 0.0F, 255.0F));
    }
  }
  const AccountPtr account = Budget::process().open_account("images");
  Workspace workspace(account, Buffer::Ask::kOptional);
  ByteSink sink(account, Buffer::Ask::kOptional);
  const Status status = encode_jpeg(pixels.data(), {1, set.height, set.width, 3},
                                    {.quality = set.quality}, workspace, sink);
  return status.ok() ? std::string(text_of(sink.bytes())) : std::string();
}

const std::vector<std::string>& files(std::size_t set) {
  static const std::vector<std::vector<std::string>> kFiles = [] {
    std::vector<std::vector<std::string>> out;
    for (const Set& each : kSets) {
      out.emplace_back();
      for (unsigned i = 0; i < kImages; ++i) out.back().push_back(make_file(each, i));
    }
    return out;
  }();
  return kFiles[set];
}

ImageBytes bytes_of(const std::string& file) {
  return {reinterpret_cast<const std::byte*>(file.data()), file.size()};
}

// A place for rows that is there already.
class Canvas final : public PixelSink {
 public:
  Status begin(const PixelExtent& extent) override {
    pixels_.resize(static_cast<std::size_t>(extent.items()));
    row_ = extent.width * extent.channels;
    next_ = pixels_.data();
    return {};
  }
  std::byte* place(std::int64_t /*count*/) override { return next_; }
  Status take(const std::byte* /*rows*/, std::int64_t count, std::ptrdiff_t /*stride*/) override {
    next_ += count * row_;
    return {};
  }

 private:
  std::vector<std::byte> pixels_;
  std::byte* next_ = nullptr;
  std::int64_t row_ = 0;
};

// Arguments: the set, the accurate transform, and images by turns (0: by the library).
void BM_decode(benchmark::State& state) {
  const auto& set = files(static_cast<std::size_t>(state.range(0)));
  const DecodeOptions options{.accurate_dct = state.range(1) != 0, .crop = {}};
  const auto at_once = static_cast<int>(state.range(2));
  const AccountPtr account = Budget::process().open_account("images");
  std::vector<Canvas> canvases(set.size());
  while (state.KeepRunning()) {
    Workspace workspace(account, Buffer::Ask::kOptional);
    std::vector<JpegJob> jobs;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (at_once == 0) {
        Workspace memory = workspace.sibling();
        if (!decode_jpeg_by_library(bytes_of(set[i]), options, memory, canvases[i]).ok()) {
          state.SkipWithError("not decoded");
        }
      } else {
        jobs.push_back({bytes_of(set[i]), &canvases[i]});
      }
    }
    decode_jpegs(jobs, options, workspace, at_once);
    for (const JpegJob& job : jobs) {
      if (!job.done || !job.status.ok()) state.SkipWithError("not decoded");
    }
  }
  std::size_t bytes = 0;
  for (const std::string& file : set) bytes += file.size();
  state.counters["KB"] = static_cast<double>(bytes) / kImages / 1024;
  state.SetItemsProcessed(state.iterations() * kImages);
}
BENCHMARK(BM_decode)
    ->ArgNames({"set", "accurate", "at_once"})
    ->ArgsProduct({{0, 1}, {0, 1}, {0, 1, 2, 3, 4}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace spillway

BENCHMARK_MAIN();
