#include "apps/common/model_description.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/common/command_words.hpp"
#include "apps/common/summary.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/core/version.hpp"

namespace lapse::apps {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kModelFormat = "lapse model 1";

std::string name_of(std::string_view path) {
  return std::filesystem::path(path).filename().string();
}

OrderedJson to_json(const ModelDescription::Parameter& parameter) {
  return std::visit([](const auto& value) { return OrderedJson(value); }, parameter);
}

ModelDescription::Parameter to_parameter(const OrderedJson& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (json.is_number()) return json.get<double>();
  return json.get<std::string>();
}

}  // namespace

void ModelDescription::add(std::string_view name, const Parameter& value) {
  parameters_.emplace_back(name, value);
}

void ModelDescription::add_file(std::string_view role, std::string_view path, std::string_view holds) {
  files_.push_back({std::string(role), name_of(path), std::string(holds)});
}

void ModelDescription::write(const std::string& model) const {
  OrderedJson json;
  json["format"] = kModelFormat;
  json["kind"] = kind_;
  const std::vector<std::string> words = words_of_process();
  json["program"] = words.empty() ? "" : name_of(words.front());
  json["version"] = library_version_text();
  json["command"] = joined_command(words);
  json["parameters"] = OrderedJson::object();
  for (const auto& [name, value] : parameters_) json["parameters"][name] = to_json(value);
  json["files"] = OrderedJson::object();
  for (const File& file : files_) json["files"][file.role] = {{"file", file.name}, {"holds", file.holds}};
  json["formula"] = formula_;
  // A command line may have any bytes.
  write_text_file(model + ".json", json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
}

void ModelDescription::remove(const std::string& model) {
  std::error_code error;
  std::filesystem::remove(model + ".json", error);
  if (error) throw FileError(model + ".json", "cannot be removed: " + error.message());
}

void ModelDescription::check_paths(const std::string& model, const std::vector<std::string>& others) {
  if (model.empty()) return;
  for (const std::string& other : others) {
    if (std::filesystem::path(other).lexically_normal() ==
        std::filesystem::path(model + ".json").lexically_normal())
      throw ConfigurationError(fmt::format(
          "{} is the description of the model {}, and the name of another output file: expected another name",
          other, model));
  }
}

ModelDescription ModelDescription::read(const std::string& model) {
  const bool is_description = !std::filesystem::exists(model + ".json") && model.ends_with(".json") &&
                              std::filesystem::is_regular_file(model);
  const std::string path = is_description ? model : model + ".json";
  if (!std::filesystem::exists(path)) {
    throw FileError(path, fmt::format("does not exist; expected the description of the model '{}', which an "
                                      "application writes beside the model's files",
                                      model));
  }
  try {
    const OrderedJson json = OrderedJson::parse(read_text_file(path));
    if (json.at("format").get<std::string>() != kModelFormat)
      throw FileError(path, fmt::format("has the format '{}', expected '{}'",
                                        json.at("format").get<std::string>(), kModelFormat));
    ModelDescription description(json.at("kind").get<std::string>(), json.at("formula").get<std::string>());
    description.command_ = json.at("command").get<std::string>();
    description.path_ = path;
    for (const auto& [name, value] : json.at("parameters").items())
      description.add(name, to_parameter(value));
    for (const auto& [role, file] : json.at("files").items()) {
      description.files_.push_back(
          {role, file.at("file").get<std::string>(), file.at("holds").get<std::string>()});
    }
    return description;
  } catch (const nlohmann::json::exception& error) {
    throw FileError(path, fmt::format("is no description of a model: {}", error.what()));
  }
}

template <class T>
const T& ModelDescription::parameter(std::string_view name, std::string_view expected) const {
  for (const auto& [own, value] : parameters_) {
    if (own != name) continue;
    if (const T* const typed = std::get_if<T>(&value)) return *typed;
    throw FileError(path_, fmt::format("the parameter {} is no {}", name, expected));
  }
  throw FileError(path_, fmt::format("has no parameter {}, expected a {}", name, expected));
}

std::uint64_t ModelDescription::count(std::string_view name) const {
  return parameter<std::uint64_t>(name, "integer from 0");
}

double ModelDescription::number(std::string_view name) const {
  for (const auto& [own, value] : parameters_)
    if (const auto* const integer = std::get_if<std::uint64_t>(&value); own == name && integer != nullptr)
      return static_cast<double>(*integer);
  return parameter<double>(name, "number");
}

bool ModelDescription::flag(std::string_view name) const {
  return parameter<bool>(name, "boolean");
}

const std::string& ModelDescription::text(std::string_view name) const {
  return parameter<std::string>(name, "text");
}

std::string ModelDescription::text_or_empty(std::string_view name) const {
  for (const auto& [own, value] : parameters_)
    if (own == name) return text(name);
  return {};
}

bool ModelDescription::has_file(std::string_view role) const {
  for (const File& file : files_)
    if (file.role == role) return true;
  return false;
}

std::string ModelDescription::path_of(std::string_view role) const {
  for (const File& file : files_)
    if (file.role == role) return (std::filesystem::path(path_).parent_path() / file.name).string();
  throw FileError(path_, fmt::format("names no file of {}", role));
}

}  // namespace lapse::apps
