// Inputs of lapse-checkpoint: .npy files that are made a checkpoint, which is converted back, and the command
// line of `convert`.
//
// Bits of the first byte: 1, a file of states; 2, a file of keys; 64, a name of the table; 128: lines of a
// command line follow. Otherwise the lengths of the values and the states follow, 2 bytes each, and then the
// files.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "apps/checkpoint_tool/convert.hpp"
#include "apps/checkpoint_tool/convert_options.hpp"
#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/core/error.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_command_line.hpp"
#include "test/fuzz/fuzz_file.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace lapse::apps {

// Used by fuzz_command_line.hpp.
static void add_options(CLI::App& app, ConvertOptions& options) {
  add_convert(app, options);
}

}  // namespace lapse::apps

namespace lapse::test {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The elements after the header, which ends with the first newline.
std::string elements_of(const std::string& path) {
  const std::string content = content_of(path);
  return content.substr(content.find('\n') + 1);
}

void convert_back(const FuzzFolder& folder, const CheckpointFolder& checkpoints,
                  const apps::FromArrays& given) {
  const Manifest manifest = checkpoints.manifest(given.step);
  checkpoints.check(manifest, CheckpointFolder::Check::contents);
  apps::ToArrays request;
  request.output = folder.path() + "/values-again.npy";
  request.force = true;
  if (!given.keys.empty()) request.keys = folder.path() + "/keys-again.npy";
  if (!given.state.empty()) request.state = folder.path() + "/state-again.npy";
  if (manifest.tables[0].state_elements == 0) request.state.clear();
  apps::convert_to_arrays(checkpoints, manifest, request);
  check(content_of(given.values).ends_with(elements_of(request.output)), "values survive");
  if (!request.state.empty())
    check(content_of(given.state).ends_with(elements_of(request.state)), "states survive");
  if (!request.keys.empty())
    check(content_of(given.keys).ends_with(elements_of(request.keys)), "keys survive");
  for (const auto format : {apps::ArrayFormat::safetensors, apps::ArrayFormat::hdf5}) {
    apps::ToArrays all;
    all.format = format;
    all.output = folder.path() + "/all";
    all.force = true;
    try {
      apps::convert_to_arrays(checkpoints, manifest, all);
    } catch (const FileError&) {
      check(format == apps::ArrayFormat::hdf5, "only HDF5 refuses names in UTF-8");
    } catch (const UsageError&) {
      check(format == apps::ArrayFormat::hdf5, "only HDF5 may be missing");
    }
  }
}

void convert(FuzzInput& input, unsigned choice) {
  static const FuzzFolder folder;
  apps::FromArrays request;
  request.table = (choice & 64U) != 0 ? input.text(input.byte()) : "factors";
  request.step = 1;
  request.force = true;
  const std::size_t values = input.number<std::uint16_t>();
  const std::size_t states = input.number<std::uint16_t>();
  request.values = folder.write("values.npy", input.text(values));
  const std::string state = folder.write("state.npy", input.text(states));
  const std::string keys = folder.write("keys.npy", input.rest());
  if ((choice & 1U) != 0) request.state = state;
  if ((choice & 2U) != 0) request.keys = keys;
  const CheckpointFolder checkpoints(folder.path() + "/checkpoints");
  try {
    apps::convert_from_arrays(checkpoints, request);
  } catch (const FileError&) {
    return;
  } catch (const UsageError&) {
    return;  // the name is not UTF-8
  }
  convert_back(folder, checkpoints, request);
}

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lapse::test;
  FuzzInput input(data, size);
  const unsigned choice = input.byte();
  if ((choice & 128U) != 0) {
    parse<lapse::apps::ConvertOptions>(lines_of(input.rest()));
  } else {
    convert(input, choice);
  }
  return 0;
}
