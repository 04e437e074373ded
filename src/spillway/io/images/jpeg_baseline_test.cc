#include "spillway/io/images/jpeg_baseline.h"

#include <gmock/gmock.h>

#include <cstdio>
// jpeglib.h needs the one above.
#include <jpeglib.h>

#include <random>

#include "spillway/io/images/jpeg_huffman.h"
#include "spillway/io/images/jpeg_picture.h"
#include "spillway/io/images/jpeg_scan.h"
#include "spillway/testing/images.h"
#include "spillway/testing/jpegs.h"

namespace spillway::testing {
namespace {

struct Kind {
  int width = 33;
  int height = 21;
  int across = 2;  // factors of the brightness
  int down = 2;
  int quality = 90;
  int restart = 0;
  bool gray = false;
  bool optimize = false;
  bool progressive = false;
  unsigned seed = 1;
};

// Slopes with noise; by seed also black and white at random, which leaves the range everywhere.
std::vector<std::uint8_t> picture(const Kind& kind) {
  std::mt19937 random(kind.seed);
  std::vector<std::uint8_t> out;
  for (int y = 0; y < kind.height; ++y) {
    for (int x = 0; x < kind.width; ++x) {
      for (int c = 0; c < 3; ++c) {
        const unsigned noise = static_cast<unsigned>(random()) % 32;
        const unsigned slope = static_cast<unsigned>(x * (c + 2) + y * 5);
        out.push_back(static_cast<std::uint8_t>(kind.seed % 4 == 3 ? 255 * (random() % 2)
                                                                   : (slope + noise) % 256));
      }
    }
  }
  return out;
}

std::string encode(const Kind& kind) {
  std::vector<std::uint8_t> pixels = picture(kind);
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = static_cast<JDIMENSION>(kind.width);
  info.image_height = static_cast<JDIMENSION>(kind.height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  if (kind.gray) jpeg_set_colorspace(&info, JCS_GRAYSCALE);
  jpeg_set_quality(&info, kind.quality, TRUE);
  info.comp_info[0].h_samp_factor = kind.across;
  info.comp_info[0].v_samp_factor = kind.down;
  info.restart_interval = static_cast<unsigned>(kind.restart);
  info.optimize_coding = kind.optimize ? TRUE : FALSE;
  if (kind.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = pixels.data() + std::size_t{info.next_scanline} * info.image_width * 3;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string out(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);  // NOLINT(cppcoreguidelines-no-malloc): libjpeg's
  return out;
}

class JpegBaseline : public ::testing::Test {
 protected:
  // Our decoder's rows, without falling back.
  JpegJob decode(std::string_view file, const DecodeOptions& options, PixelSink& sink) {
    JpegJob job{bytes_of(file), &sink};
    decode_jpegs({&job, 1}, options, workspace_);
    return job;
  }
  void expect_same(const std::string& file, const DecodeOptions& options, const std::string& what) {
    RowKeeper rows(file.size() % 2 == 0);
    const JpegJob job = decode(file, options, rows);
    ASSERT_TRUE(job.done) << what;
    ASSERT_TRUE(job.status.ok()) << what << job.status.message();
    EXPECT_TRUE(rows.full());
    const DecodedJpeg want = by_library(bytes_of(file), options, workspace_);
    ASSERT_TRUE(want.status.ok()) << want.status.message();
    ASSERT_TRUE(rows.pixels == want.pixels) << what;
  }

  Budget budget_{std::size_t{64} << 20U};
  AccountPtr account_ = budget_.open_account("jpeg");
  Workspace workspace_{account_, Buffer::Ask::kOptional};
};

std::string text(const Kind& kind, const DecodeOptions& options) {
  return std::to_string(kind.width) + "x" + std::to_string(kind.height) + " " +
         std::to_string(kind.across) + std::to_string(kind.down) + " q" +
         std::to_string(kind.quality) + " restart " + std::to_string(kind.restart) +
         (kind.gray ? " gray" : "") + (options.accurate_dct ? " accurate" : "") +
         (options.fancy_upscaling ? " fancy" : "") + " channels " +
         std::to_string(options.channels);
}

TEST_F(JpegBaseline, GivesTheLibrarysPixelsForAllSizesAndKinds) {
  unsigned seed = 0;
  for (const int width : {1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 33, 64, 100}) {
    for (const int height : {1, 2, 7, 8, 9, 16, 17, 18, 33}) {
      for (int factors = 0; factors < 4; ++factors) {
        ++seed;
        const Kind kind{.width = width,
                        .height = height,
                        .across = factors == 0 ? 1 : 2,
                        .down = factors == 2 ? 2 : 1,
                        .quality = std::array{10, 60, 90, 100}[seed / 4 % 4],
                        .restart = std::array{0, 0, 1, 3, 7}[seed % 5],
                        .gray = factors == 3,
                        .optimize = seed % 3 == 0,
                        .seed = seed};
        const std::string file = encode(kind);
        for (unsigned choice = 0; choice < 8; ++choice) {
          const DecodeOptions options{.channels = (choice & 4U) == 0 ? 3 : 0,
                                      .fancy_upscaling = (choice & 1U) == 0,
                                      .accurate_dct = (choice & 2U) != 0,
                                      .crop = {}};
          expect_same(file, options, text(kind, options));
          if (HasFatalFailure()) return;
        }
        expect_same(file, {.channels = 1}, text(kind, {.channels = 1}));
      }
    }
  }
}

TEST_F(JpegBaseline, CutsOutWindowsAsTheLibraryDoes) {
  std::mt19937 random(5);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % n); };
  for (unsigned round = 0; round < 600; ++round) {
    const Kind kind{.width = 1 + static_cast<int>(below(70)),
                    .height = 1 + static_cast<int>(below(70)),
                    .across = round % 3 == 0 ? 1 : 2,
                    .down = round % 3 == 2 ? 2 : 1,
                    .restart = static_cast<int>(below(4)),
                    .seed = round};
    DecodeOptions options{.channels = round % 7 == 0 ? 1 : 0,
                          .fancy_upscaling = round % 5 != 0,
                          .accurate_dct = round % 2 == 0,
                          .crop = CropWindow{below(kind.height), below(kind.width), 0, 0}};
    options.crop->height = 1 + below(kind.height - options.crop->y);
    options.crop->width = 1 + below(kind.width - options.crop->x);
    expect_same(encode(kind), options, text(kind, options));
    if (HasFatalFailure()) return;
  }
}

TEST_F(JpegBaseline, DecodesDifferentImagesByTurns) {
  std::vector<std::string> files;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    files.push_back(encode({.width = 1 + static_cast<int>(seed * 37 % 90),
                            .height = 1 + static_cast<int>(seed * 53 % 60),
                            .across = seed % 2 == 0 ? 2 : 1,
                            .down = seed % 4 == 0 ? 2 : 1,
                            .restart = seed % 5 == 0 ? 2 : 0,
                            .gray = seed % 9 == 0,
                            .optimize = seed % 3 == 0,
                            .progressive = seed % 8 == 1,
                            .seed = seed}));
  }
  files[10].resize(files[10].size() / 2);
  files[20][files[20].size() / 2] ^= 0x15;
  for (int at_once = 1; at_once <= 4; ++at_once) {
    std::vector<RowKeeper> rows(files.size());
    std::vector<JpegJob> jobs;
    jobs.reserve(files.size());
    for (std::size_t i = 0; i < files.size(); ++i) jobs.push_back({bytes_of(files[i]), &rows[i]});
    decode_jpegs(jobs, {}, workspace_, at_once);
    for (std::size_t i = 0; i < files.size(); ++i) {
      EXPECT_FALSE(jobs[i].done && (i % 8 == 0 || i == 10)) << i;
      if (!jobs[i].done) continue;
      EXPECT_TRUE(rows[i].pixels == by_library(bytes_of(files[i]), {}, workspace_).pixels) << i;
    }
    EXPECT_GE(std::count_if(jobs.begin(), jobs.end(), [](auto& job) { return job.done; }), 33);
  }
}

TEST_F(JpegBaseline, LeavesOtherKindsToTheLibrary) {
  const auto refuses = [&](std::string_view file, const DecodeOptions& options = {}) {
    RowKeeper rows;
    const JpegJob job = decode(file, options, rows);
    EXPECT_EQ(rows.begun, 0);
    return !job.done;
  };
  EXPECT_TRUE(refuses(encode({.progressive = true})));
  EXPECT_TRUE(refuses(encode({.across = 1, .down = 2})));
  EXPECT_TRUE(refuses(encode({.across = 4, .down = 1})));
  EXPECT_TRUE(refuses(encode({}), {.ratio = 2}));
  EXPECT_TRUE(refuses(encode({}), {.channels = 4}));
  EXPECT_TRUE(refuses(""));
  EXPECT_TRUE(refuses("\xFF\xD8\xFF"));
  std::string stray = encode({});
  stray.insert(stray.size() - 2, "stray");
  RowKeeper rows;
  EXPECT_FALSE(decode(stray, {.try_recover_truncated = true}, rows).done);
  const JpegJob left = decode(stray, {}, rows);
  EXPECT_TRUE(left.done && !left.status.ok());
  DecodeOptions outside;
  outside.crop = CropWindow{0, 30, 5, 5};
  EXPECT_TRUE(refuses(encode({}), outside));
}

TEST_F(JpegBaseline, ReportsWhatTheSinkSays) {
  class Unwilling final : public PixelSink {
   public:
    explicit Unwilling(int from) : from_(from) {}
    Status begin(const PixelExtent&) override { return say(); }
    Status take(const std::byte*, std::int64_t, std::ptrdiff_t) override { return say(); }

   private:
    Status say() { return from_-- > 0 ? Status() : invalid_argument("enough"); }
    int from_;
  };
  for (int from = 0; from < 2; ++from) {
    Unwilling sink(from);
    const JpegJob job = decode(encode({}), {}, sink);
    EXPECT_TRUE(job.done);
    EXPECT_THAT(std::string(job.status.message()), ::testing::HasSubstr("enough"));
    Unwilling other(from);
    EXPECT_FALSE(decode_jpeg_by_library(bytes_of(encode({})), {}, workspace_, other).ok());
  }
}

TEST_F(JpegBaseline, GivesItsMemoryBackAndGoesWithoutWhereThereIsNone) {
  const std::string file = encode({});
  RowKeeper rows;
  EXPECT_TRUE(decode(file, {}, rows).done);
  EXPECT_EQ(budget_.used(), 0U);
  Budget small(std::size_t{16} << 10U);
  Workspace workspace(small.open_account("small"), Buffer::Ask::kOptional);
  JpegJob job{bytes_of(file), &rows};
  decode_jpegs({&job, 1}, {}, workspace);
  EXPECT_FALSE(job.done);
}

// Byte flips, cuts, and pieces that are missing, doubled or moved.
std::string mutated(const std::string& file, std::mt19937& random) {
  std::string out = file;
  const auto place = [&] { return static_cast<std::size_t>(random()) % (out.size() + 1); };
  for (unsigned n = 1 + random() % 3; n > 0 && !out.empty(); --n) {
    const std::size_t at = place();
    const std::size_t length = 1 + random() % (random() % 2 == 0 ? 4 : 40);
    switch (random() % 8) {
      case 0:
        out.resize(at);
        break;
      case 1:
        out.erase(at, length);
        break;
      case 2:
        out.insert(at, out.substr(place(), length));
        break;
      case 3:
        out.insert(at, 1, static_cast<char>(random() % 3 == 0 ? 0xFF : random()));
        break;
      default:
        if (at < out.size())
          out[at] = static_cast<char>(static_cast<unsigned>(out[at]) ^ (1U << random() % 8));
    }
  }
  return out;
}

TEST_F(JpegBaseline, EndsForTenThousandDamagedFilesAsTheLibrary) {
  std::vector<std::string> files;
  files.reserve(24);
  for (unsigned seed = 0; seed < 24; ++seed) {
    files.push_back(encode({.width = 17 + static_cast<int>(seed % 5) * 6,
                            .height = 12 + static_cast<int>(seed % 3) * 9,
                            .across = seed % 3 == 0 ? 1 : 2,
                            .down = seed % 3 == 2 ? 2 : 1,
                            .quality = seed % 2 == 0 ? 95 : 50,
                            .restart = seed % 4 == 0 ? 2 : 0,
                            .gray = seed % 8 == 7,
                            .seed = seed}));
  }
  std::mt19937 random(11);
  int done = 0;
  int left = 0;
  for (unsigned i = 0; i < 10'000; ++i) {
    const std::string file = mutated(files[i % files.size()], random);
    DecodeOptions options{.fancy_upscaling = i % 3 != 0,
                          .accurate_dct = i % 2 == 0,
                          .try_recover_truncated = i % 10 == 0,
                          .crop = {}};
    if (i % 7 == 0) options.crop = CropWindow{3, 5, 6, 7};
    RowKeeper rows(i % 2 == 0);
    JpegJob job = decode(file, options, rows);
    done += job.done ? 1 : 0;
    Workspace memory = workspace_.sibling();
    if (!job.done) job.status = decode_jpeg_by_library(bytes_of(file), options, memory, rows);
    const DecodedJpeg want = by_library(bytes_of(file), options, workspace_);
    if (job.done && !job.status.ok()) {
      // The library does not see the last bytes of those that are left.
      ASSERT_FALSE(options.try_recover_truncated);
      ASSERT_THAT(std::string(job.status.message()), ::testing::HasSubstr("coded bytes are left"));
      ++left;
      continue;
    }
    ASSERT_EQ(job.status.message(), want.status.message()) << i;
    ASSERT_TRUE(!job.status.ok() || rows.pixels == want.pixels) << i;
  }
  // Flips in comments and coefficients leave many a file whole.
  EXPECT_GT(done, 1'000);
  EXPECT_GT(left, 100);
}

// ---- Its parts
// ----------------------------------------------------------------------------------

using jpeg::BlockPair;
using jpeg::Kernels;

std::vector<std::uint8_t> transformed(void (*transform)(const BlockPair&, const jpeg::QuantPair&),
                                      const std::vector<std::int16_t>& blocks,
                                      const jpeg::QuantPair& quants, std::ptrdiff_t apart) {
  std::vector<std::uint8_t> out(1024);
  transform({{blocks.data(), blocks.data() + 64}, {out.data(), out.data() + apart}, 32}, quants);
  return out;
}

TEST(JpegKernels, AgreeAlsoWhereNumbersOverflow) {
  std::mt19937 random(3);
  const Kernels& best = jpeg::best_kernels();
  const Kernels& plain = jpeg::kPlainKernels;
  for (int round = 0; round < 3'000; ++round) {
    std::vector<std::int16_t> blocks(128);
    const int range = std::array{8, 64, 1024, 32767}[static_cast<std::size_t>(round % 4)];
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (random() % 4 == 0 && (round % 3 != 0 || i % 64 < 8)) {
        blocks[i] = static_cast<std::int16_t>(
            static_cast<int>(random() % (2U * static_cast<unsigned>(range) + 1)) - range);
      }
    }
    std::array<std::uint16_t, 64> table{};
    for (auto& item : table) item = static_cast<std::uint16_t>(random() % 256);
    const auto accurate = jpeg::accurate_quants(table);
    const auto fast = jpeg::fast_quants(table);
    const std::ptrdiff_t apart = round % 2 == 0 ? 8 : 512;
    ASSERT_EQ(transformed(best.accurate_idct, blocks, accurate, apart),
              transformed(plain.accurate_idct, blocks, accurate, apart));
    ASSERT_EQ(transformed(best.fast_idct, blocks, fast, apart),
              transformed(plain.fast_idct, blocks, fast, apart));
  }
}

TEST(JpegKernels, AgreeOnAMeanWithTheTransforms) {
  std::array<std::uint16_t, 64> table{};
  for (const int quant : {1, 2, 16, 99, 255}) {
    table.fill(static_cast<std::uint16_t>(quant));
    const auto accurate = jpeg::accurate_quants(table);
    const auto fast = jpeg::fast_quants(table);
    for (int dc = -32768; dc <= 32767; dc += 13) {
      std::vector<std::int16_t> blocks(128);
      blocks[0] = blocks[64] = static_cast<std::int16_t>(dc);
      ASSERT_EQ(transformed(jpeg::kPlainKernels.accurate_idct, blocks, accurate, 8)[37],
                jpeg::accurate_mean(dc, accurate[0]));
      ASSERT_EQ(transformed(jpeg::kPlainKernels.fast_idct, blocks, fast, 8)[37],
                jpeg::fast_mean(dc, fast[0]));
    }
  }
}

TEST(JpegKernels, AgreeOnRows) {
  std::mt19937 random(4);
  const Kernels& best = jpeg::best_kernels();
  const Kernels& plain = jpeg::kPlainKernels;
  std::vector<std::uint8_t> in(1024);
  for (auto& item : in) item = static_cast<std::uint8_t>(random());
  const std::uint8_t* const a = in.data() + 64;
  const std::uint8_t* const b = in.data() + 384;
  const std::uint8_t* const c = in.data() + 704;
  for (std::int64_t n = 1; n <= 130; ++n) {
    std::array<std::vector<std::uint8_t>, 2> out;
    for (std::size_t i = 0; i < 2; ++i) {
      const Kernels& kernels = i == 0 ? best : plain;
      std::vector<std::uint8_t> row(512);
      std::vector<std::uint16_t> sums(512);
      const auto keep = [&](std::int64_t items) {
        out[i].insert(out[i].end(), row.begin(), row.begin() + items);
      };
      kernels.widen(a, n, row.data());
      keep(2 * n);
      kernels.widen_smoothly(a, n, row.data());
      keep(2 * n);
      kernels.widen_two(a, b, n, sums.data(), row.data());
      keep(2 * n);
      row.assign(512, 77);  // nothing is written behind the pixels
      kernels.to_rgb(a, b, c, n, row.data());
      keep(512);
      kernels.gray_to_rgb(a, n, row.data());
      keep(512);
    }
    ASSERT_EQ(out[0], out[1]) << n;
  }
}

TEST(JpegKernels, TurnAllColorsAlike) {
  std::vector<std::uint8_t> y(256 + 64);
  std::vector<std::uint8_t> cb(256 + 64);
  std::vector<std::uint8_t> cr(256 + 64);
  std::vector<std::uint8_t> got(256 * 3);
  std::vector<std::uint8_t> want(256 * 3);
  for (int red = 0; red < 256; ++red) {
    for (std::size_t x = 0; x < 256; ++x) {
      y[x] = static_cast<std::uint8_t>(x * 7 + static_cast<std::size_t>(red));
      cb[x] = static_cast<std::uint8_t>(x);
      cr[x] = static_cast<std::uint8_t>(red);
    }
    jpeg::best_kernels().to_rgb(y.data(), cb.data(), cr.data(), 256, got.data());
    jpeg::kPlainKernels.to_rgb(y.data(), cb.data(), cr.data(), 256, want.data());
    ASSERT_EQ(got, want) << red;
  }
}

// All coefficients of a gray image.
std::vector<std::int16_t> coefficients(const std::string& file,
                                       int (*decode)(jpeg::Lane* const*, int)) {
  jpeg::Plan plan;
  EXPECT_TRUE(jpeg::make_plan(bytes_of(file), {}, plan));
  jpeg::HuffmanTable dc;
  jpeg::HuffmanTable ac;
  EXPECT_TRUE(dc.build(plan.header.dc[0], true) && ac.build(plan.header.ac[0], false));
  const ImageBytes scan = bytes_of(file).subspan(plan.header.scan);
  std::vector<std::uint8_t> bits(jpeg::unstuffed_bytes(scan.size(), 1));
  EXPECT_TRUE(jpeg::unstuff(scan, 1, bits.data()));
  jpeg::Lane lane;
  lane.unit[0] = {&dc, &ac, 0};
  lane.unit_blocks = 1;
  jpeg::start(lane, bits.data());
  const auto blocks = static_cast<std::uint32_t>(plan.units_across * plan.units_down);
  std::vector<std::int16_t> out((blocks + 1) * 64UL);
  std::vector<std::uint8_t> last(blocks);
  EXPECT_TRUE(jpeg::next_band(lane, out.data(), last.data(), blocks));
  jpeg::Lane* const lanes = &lane;
  EXPECT_EQ(decode(&lanes, 1), 0);
  EXPECT_TRUE(!lane.failed && jpeg::at_end(lane));
  return out;
}

TEST(JpegHuffman, GivesTheSameOnOlderMachines) {
  const std::string file =
      encode({.width = 90, .height = 80, .across = 1, .down = 1, .quality = 98, .gray = true});
  EXPECT_EQ(coefficients(file, jpeg::decode), coefficients(file, jpeg::decode_baseline));
}

}  // namespace
}  // namespace spillway::testing
