#include "apps/linear_model/model_file.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "apps/common/model_description.hpp"
#include "apps/common/table_reader.hpp"
#include "apps/common/worker_readers.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/loading/shared_inputs.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::apps {

namespace {

// The names of liblinear's solvers; the first of a loss is written without an L1 penalty.
constexpr std::array<std::pair<std::string_view, Loss>, 8> kTypes{
    {{"L2R_LR", Loss::logistic},
     {"L2R_LR_DUAL", Loss::logistic},
     {"L1R_LR", Loss::logistic},
     {"L2R_L2LOSS_SVC", Loss::squared_hinge},
     {"L2R_L2LOSS_SVC_DUAL", Loss::squared_hinge},
     {"L1R_L2LOSS_SVC", Loss::squared_hinge},
     {"L2R_L1LOSS_SVC_DUAL", Loss::hinge},
     {"MCSVM_CS", Loss::hinge}}};

std::string_view type_of(Loss loss, const Penalty& penalty) {
  if (penalty.l1 != 0 && loss == Loss::logistic) return "L1R_LR";
  if (penalty.l1 != 0 && loss == Loss::squared_hinge) return "L1R_L2LOSS_SVC";
  for (const auto& [name, of_type] : kTypes)
    if (of_type == loss) return name;
  return {};
}

class ModelParser {
 public:
  explicit ModelParser(const io::Input& input) : reader_(input) {}

  LinearModel read() {
    LinearModel model;
    bool has_type = false;
    std::optional<std::uint64_t> features;
    bool has_labels = false;
    for (;;) {
      const std::string_view name = next_line("w");
      if (name == "w") break;
      if (name == "solver_type") {
        model.loss = parse_type();
        has_type = true;
      } else if (name == "nr_class") {
        const double classes = number();
        if (classes != 2) fail(fmt::format("{} classes, expected 2", classes));
      } else if (name == "label") {
        model.classes = {.positive = number(), .negative = number()};
        has_labels = true;
      } else if (name == "nr_feature") {
        const double count = number();
        if (!(count >= 1 && count < 4294967294.0 && count == std::floor(count)))
          fail(fmt::format("{} features, expected an integer from 1", count));
        features = static_cast<std::uint64_t>(count);
      } else if (name == "bias") {
        const double bias = number();
        model.form.bias = bias >= 0 ? bias : 0;
      } else {
        fail(fmt::format("'{}', expected solver_type, nr_class, label, nr_feature, bias or w",
                         io::shown(name)));
      }
      end_line();
    }
    if (!has_type || !features || !has_labels)
      throw FileError(reader_.path(), "no lines solver_type, nr_feature and label before the line w");
    model.form.features = *features;
    model.form.positive = model.classes.positive;
    read_weights(model);
    return model;
  }

 private:
  // The first field of the next line. `expected`: for the message if there is none.
  std::string_view next_line(std::string_view expected) {
    do {
      if (!reader_.next(line_))
        throw FileError(reader_.path(),
                        fmt::format("ends before its line {}, expected a model of liblinear", expected));
    } while (io::trimmed(line_).empty());
    fields_.emplace(line_, io::Separator::blanks);
    std::string_view field;
    fields_->next(field);
    return field;
  }
  double number() {
    std::string_view field;
    if (!fields_->next(field)) fail("the line ends before a number");
    return parse(field);
  }
  double parse(std::string_view field) {
    double value = 0;
    const auto result = std::from_chars(field.data(), field.data() + field.size(), value);
    if (result.ec != std::errc() || result.ptr != field.data() + field.size() || !std::isfinite(value))
      reader_.fail(fmt::format("'{}', expected a finite number", io::shown(field)), field);
    return value;
  }
  Loss parse_type() {
    std::string_view field;
    if (fields_->next(field)) {
      for (const auto& [name, loss] : kTypes)
        if (field == name) return loss;
    }
    fail(fmt::format("solver_type '{}', expected that of a logistic regression or a support vector machine",
                     io::shown(field)));
  }
  void end_line() {
    std::string_view field;
    if (fields_->next(field) && !field.empty())
      reader_.fail(fmt::format("'{}' after the values of the line", io::shown(field)), field);
  }
  void read_weights(LinearModel& model) {
    const std::uint64_t count = model.form.keys();
    while (model.weights.size() < count) {
      const std::string_view field =
          next_line(fmt::format("{} of {} weights", model.weights.size() + 1, count));
      model.weights.push_back(parse(field));
      end_line();
    }
    while (reader_.next(line_))
      if (!io::trimmed(line_).empty()) fail(fmt::format("a line after the {} weights", count));
  }
  [[noreturn]] void fail(const std::string& problem) const { reader_.fail(problem, line_); }

  io::LineReader reader_;
  std::string_view line_;
  std::optional<io::Fields> fields_;
};

}  // namespace

LinearModelFile::LinearModelFile(const std::string& path, const LinearTrainer& trainer,
                                 io::FirstFeature first)
    : file_(path, trainer.form().keys()), first_(first) {}

void LinearModelFile::write(Worker& worker, const LinearTrainer& trainer) {
  ModelDescription::remove(file_.path());
  const SampleForm& form = trainer.form();
  const LinearProblem& problem = trainer.problem();
  file_.write(fmt::format("solver_type {}\nnr_class 2\nlabel {} {}\nnr_feature {}\nbias {}\nw\n",
                          type_of(problem.loss, problem.penalty), trainer.classes().positive,
                          trainer.classes().negative, form.features, form.bias != 0 ? form.bias : -1));
  const Penalty* const dual = trainer.dual_penalty();
  read_keys(worker, trainer.tables().weights, 0, problem.keys, [&](std::span<const double> values) {
    std::string text;
    for (const double value : values)
      fmt::format_to(std::back_inserter(text), "{:.17g}\n", dual != nullptr ? dual->weight(value) : value);
    file_.write(text);
  });
  file_.close();
  ModelDescription description("linear_model", problem.loss == Loss::logistic
                                                   ? "p(first label) = 1 / (1 + exp(-(x @ w)))"
                                                   : "the first label if x @ w > 0, else the second");
  description.add("loss", std::string(to_string(problem.loss)));
  description.add("features", form.features);
  description.add("first_feature", std::uint64_t{first_ == io::FirstFeature::zero ? 0U : 1U});
  description.add("bias", form.bias);
  description.add_file(
      "model", file_.path(),
      "text of liblinear: w has the weight of each feature, and with a bias the weight of the "
      "feature bias, which follows the others");
  description.write(file_.path());
}

LinearModel read_model(const io::Input& input) {
  return ModelParser(input).read();
}

LinearModel load_model(ParameterServer& server, const std::string& file) {
  LinearModel model;
  server.run_workers(1, [&](Worker& worker) {
    model = read_model(io::shared_inputs({file}, worker_readers(server, worker)).front());
  });
  return model;
}

}  // namespace lapse::apps
