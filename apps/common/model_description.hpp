// What an application records about the files of a trained model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lapse::apps {

// Written beside the files of a model, so that programs that use the model need no options: what each file
// contains, in which order numbers are stored, and how a prediction is computed from them. As JSON: an object
// with format, kind, program, version, command, parameters, files and formula (docs/trained-models.md).
class ModelDescription {
 public:
  using Parameter = std::variant<bool, std::uint64_t, double, std::string>;

  struct File {
    std::string role;
    std::string name;   // without folders: the file is beside the description
    std::string holds;  // type, shape and meaning
  };

  // `kind`: matrix_factorization, knowledge_graph, word_vectors, topic_model or linear_model. `formula`: the
  // prediction in words of the files' roles.
  ModelDescription(std::string kind, std::string formula)
      : kind_(std::move(kind)), formula_(std::move(formula)) {}

  void add(std::string_view name, const Parameter& value);
  // `path`: of the file, of which the name is kept.
  void add_file(std::string_view role, std::string_view path, std::string_view holds);

  // Removes the description of an earlier model of this name, before its files are replaced: files of two
  // models are never described as one. Throws FileError.
  static void remove(const std::string& model);
  // `model`: what the user gave as the model's path or prefix; the description is written to <model>.json,
  // with the command of this process. Throws FileError.
  void write(const std::string& model) const;
  // Throws ConfigurationError if another of the program's output files would replace the description.
  static void check_paths(const std::string& model, const std::vector<std::string>& others);
  // Accepts the path of the description as well. Throws FileError for a description that is missing, damaged
  // or of another format.
  static ModelDescription read(const std::string& model);

  const std::string& kind() const { return kind_; }
  const std::string& formula() const { return formula_; }
  const std::string& command() const { return command_; }
  const std::vector<std::pair<std::string, Parameter>>& parameters() const { return parameters_; }
  const std::vector<File>& files() const { return files_; }

  // Of a description that was read. Each throws FileError, which names the description, if there is no such
  // parameter, or if it has another type.
  std::uint64_t count(std::string_view name) const;
  double number(std::string_view name) const;
  bool flag(std::string_view name) const;
  // Empty if there is no such parameter.
  std::string text_or_empty(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  bool has_file(std::string_view role) const;
  // The path, from this process's folder.
  std::string path_of(std::string_view role) const;
  // The description's own path.
  const std::string& path() const { return path_; }

 private:
  template <class T>
  const T& parameter(std::string_view name, std::string_view expected) const;

  std::string kind_;
  std::string formula_;
  std::string command_;
  std::string path_;
  std::vector<std::pair<std::string, Parameter>> parameters_;
  std::vector<File> files_;
};

}  // namespace lapse::apps
