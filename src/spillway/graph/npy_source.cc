#include "spillway/graph/npy_source.h"

#include "spillway/io/formats/npy.h"

namespace spillway::graph {
namespace {

constexpr std::string_view kFile = "file";
constexpr std::size_t kColumnRoom = 64 * 1024;  // of read_npy_rows, for Fortran's order

struct NpyFile {
  FilePtr file;
  NpyHeader header;
};

const NpyFile& file_of(const Attrs& attrs) {
  return *static_cast<const NpyFile*>(attrs.get<std::shared_ptr<const void>>(kFile)->get());
}

Status infer(Infer& c) {
  const NpyHeader& header = file_of(c.attrs()).header;
  c.set(0, header.dtype, header.shape);
  return {};
}

Status read_all(Compute& c) {
  const NpyFile& npy = file_of(c.attrs);
  SW_ASSIGN(Tensor out, c.make(npy.header.dtype, npy.header.shape));
  SW_RETURN_IF_ERROR(
      read_npy_rows(*npy.file, npy.header, 0, npy.header.rows(), out.mutable_data(), c.account));
  out.buffer()->touch();
  c.outputs.push_back(std::move(out));
  return {};
}

class NpyRows final : public Rows {
 public:
  explicit NpyRows(const Node& node)
      : Rows(node.outputs()[0]),
        kept_(*node.attrs().get<std::shared_ptr<const void>>(kFile)),
        npy_(file_of(node.attrs())) {}
  Result<std::size_t> held(std::int64_t /*most*/) override {
    return npy_.header.fortran ? kColumnRoom : std::size_t{0};
  }
  Status begin(std::int64_t /*most*/, const Paying& paying) override {
    account_ = paying.account;
    return {};
  }
  Status make(std::int64_t first, std::int64_t n, std::byte* to) override {
    return read_npy_rows(*npy_.file, npy_.header, first, n, to, account_);
  }
  void end() override { account_.reset(); }
  bool reads() const override { return true; }

 private:
  const std::shared_ptr<const void> kept_;
  const NpyFile& npy_;
  AccountPtr account_;
};

}  // namespace

constexpr OpDef load_npy_op{.name = "load_npy",
                            .summary = "The array of an .npy file, read when it is needed.",
                            .params = {},
                            .infer = infer,
                            .compute = read_all};

Result<NodePtr> load_npy(const std::string& path, SitePtr site) {
  NpyFile npy;
  SW_ASSIGN(npy.file, open_file(path));
  SW_ASSIGN(npy.header, read_npy_header(*npy.file));
  std::shared_ptr<const void> kept = std::make_shared<const NpyFile>(std::move(npy));
  Attrs attrs;
  attrs.set(kFile, Attr(std::move(kept)));
  return Node::make(load_npy_op, {}, std::move(attrs), std::move(site));
}

RowsPtr npy_rows(const Node& node) { return std::make_shared<NpyRows>(node); }

}  // namespace spillway::graph
