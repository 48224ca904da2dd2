#include "apps/checkpoint_tool/hdf5_file.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "lapse/core/file_error.hpp"

namespace lapse::apps {

namespace {

constexpr std::size_t kRowsBytes = std::size_t{1} << 20;

// An object of the library; the destructor closes it.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*closer)(hid_t)) : id_(id), closer_(closer) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), closer_(other.closer_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(closer_, other.closer_);
    return *this;
  }
  ~Handle() { close(); }

  hid_t id() const { return id_; }
  bool close() { return id_ < 0 || closer_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
  herr_t (*closer_)(hid_t) = nullptr;
};

// The library's message about its last error.
std::string reason() {
  std::string text;
  const auto take = [](unsigned number, const H5E_error2_t* error, void* target) -> herr_t {
    if (number == 0 && error->desc != nullptr) *static_cast<std::string*>(target) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &text);
  return text;
}

hid_t element_type(ArrayElement element) {
  switch (element) {
    case ArrayElement::float32:
      return H5T_IEEE_F32LE;
    case ArrayElement::float64:
      return H5T_IEEE_F64LE;
    case ArrayElement::int32:
      return H5T_STD_I32LE;
    case ArrayElement::int64:
      return H5T_STD_I64LE;
    case ArrayElement::uint64:
      break;
  }
  return H5T_STD_U64LE;
}

class Hdf5File final : public ArrayFile {
 public:
  Hdf5File(const std::string& path, std::vector<ArrayDescription> arrays)
      : path_(path), temporary_path_(path + ".tmp") {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // Errors are thrown, not printed.
    file_ = {H5Fcreate(temporary_path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), &H5Fclose};
    require(file_.id() >= 0, "cannot be created");
    try {
      for (ArrayDescription& array : arrays) add(std::move(array));
    } catch (...) {
      discard();
      throw;
    }
  }
  ~Hdf5File() override {
    if (!is_closed_) discard();
  }
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  void append(std::size_t array, std::span<const std::byte> row) override {
    std::vector<std::byte>& rows = arrays_[array].rows;
    rows.insert(rows.end(), row.begin(), row.end());
    if (rows.size() >= kRowsBytes) flush(arrays_[array]);
  }

  void close() override {
    for (Array& array : arrays_) {
      flush(array);
      require(array.data.close(), "cannot be written");
    }
    require(file_.close(), "cannot be written");
    if (std::rename(temporary_path_.c_str(), path_.c_str()) != 0)
      throw FileError(path_, fmt::format("cannot be written: {}", std::strerror(errno)));
    is_closed_ = true;
  }

 private:
  struct Array {
    ArrayDescription description;
    Handle data;
    std::uint64_t row = 0;        // the next row to write
    std::vector<std::byte> rows;  // rows that are written together
  };

  void require(bool condition, const char* problem) const {
    if (!condition) throw FileError(temporary_path_, fmt::format("{}: {}", problem, reason()));
  }

  static int dimensions(const ArrayDescription& array) { return array.columns ? 2 : 1; }

  void add(ArrayDescription array) {
    const std::array<hsize_t, 2> lengths{array.rows, array.columns.value_or(1)};
    const Handle space(H5Screate_simple(dimensions(array), lengths.data(), nullptr), &H5Sclose);
    const Handle links(H5Pcreate(H5P_LINK_CREATE), &H5Pclose);
    require(space.id() >= 0 && links.id() >= 0, "cannot be written");
    require(H5Pset_create_intermediate_group(links.id(), 1) >= 0, "cannot be written");
    Handle data(H5Dcreate2(file_.id(), array.name.c_str(), element_type(array.element), space.id(),
                           links.id(), H5P_DEFAULT, H5P_DEFAULT),
                &H5Dclose);
    if (data.id() < 0) {
      throw FileError(temporary_path_, fmt::format("cannot have a data set '{}': {}", array.name, reason()));
    }
    arrays_.push_back({.description = std::move(array), .data = std::move(data), .row = 0, .rows = {}});
  }

  void flush(Array& array) const {
    if (array.rows.empty()) return;
    const ArrayDescription& description = array.description;
    const std::array<hsize_t, 2> start{array.row, 0};
    const std::array<hsize_t, 2> count{array.rows.size() / description.row_bytes(),
                                       description.columns.value_or(1)};
    const Handle file_space(H5Dget_space(array.data.id()), &H5Sclose);
    const Handle memory_space(H5Screate_simple(dimensions(description), count.data(), nullptr), &H5Sclose);
    require(H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                                nullptr) >= 0,
            "cannot be written");
    require(H5Dwrite(array.data.id(), element_type(description.element), memory_space.id(), file_space.id(),
                     H5P_DEFAULT, array.rows.data()) >= 0,
            "cannot be written");
    array.row += count[0];
    array.rows.clear();
  }

  void discard() {
    arrays_.clear();
    file_.close();
    std::remove(temporary_path_.c_str());
  }

  std::string path_;
  std::string temporary_path_;
  Handle file_;
  std::vector<Array> arrays_;
  bool is_closed_ = false;
};

}  // namespace

std::unique_ptr<ArrayFile> make_hdf5_file(const std::string& path,
                                          const std::vector<ArrayDescription>& arrays) {
  return std::make_unique<Hdf5File>(path, arrays);
}

}  // namespace lapse::apps
