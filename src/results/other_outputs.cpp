#include "results/other_outputs.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "plan/problem_json.hpp"

namespace fatune {
namespace {

std::optional<double> optional_number(const JsonNode& object, const std::string& name) {
  const auto found = object.find(name);
  return found && !found->raw().is_null() ? std::optional(found->number()) : std::nullopt;
}

std::optional<double> winner_tflops_of(const JsonNode& row) {
  const auto best = row.find("best");
  return best && !best->raw().is_null()
             ? optional_number(row.at("candidates").at(best->text()), "tflops")
             : std::nullopt;
}

PeerProblem read_peer_problem(const JsonNode& row) {
  PeerProblem problem{read_problem(row.at("problem")),
                      winner_tflops_of(row),
                      optional_number(row, "sm_clock_mhz"),
                      {}};
  for (const auto& [peer, figure] : row.at("peers").members()) {
    if (const auto tflops = optional_number(figure, "tflops")) {
      problem.figures.push_back({peer, *tflops});
    }
  }
  return problem;
}

CodeCorrelation read_correlation(const JsonNode& node) {
  return {node.at("what").text(), node.at("spearman").number(), node.at("low").number(),
          node.at("high").number()};
}

}  // namespace

PeerStudy read_peers(const JsonNode& document) {
  PeerStudy study{document.at("device").text(),
                  document.at("date").text(),
                  document.at("command_line").text(),
                  {}};
  for (const JsonNode& row : document.at("rows").elements()) {
    study.problems.push_back(read_peer_problem(row));
  }
  return study;
}

std::vector<CodeStudy> read_code_studies(const JsonNode& document) {
  std::vector<CodeStudy> studies;
  for (const JsonNode& problem : document.at("problems").elements()) {
    CodeStudy& study = studies.emplace_back(CodeStudy{problem.at("problem").text(), {}});
    for (const JsonNode& correlation : problem.at("correlations").elements()) {
      study.correlations.push_back(read_correlation(correlation));
    }
  }
  return studies;
}

namespace {

/// Finds the outermost object's member "format", and ends parsing there.
class FormatFinder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  [[nodiscard]] const std::string& format() const { return format_; }

  bool null() override { return go_on(); }
  bool boolean(bool /*value*/) override { return go_on(); }
  bool number_integer(number_integer_t /*value*/) override { return go_on(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return go_on(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return go_on(); }
  bool binary(binary_t& /*value*/) override { return go_on(); }
  bool string(string_t& value) override {
    format_ = is_next_ ? value : std::string();
    return go_on();
  }
  bool start_object(std::size_t /*size*/) override { return enter(); }
  bool start_array(std::size_t /*size*/) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    is_next_ = depth_ == 1 && name == "format";
    return true;
  }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) override {
    return false;
  }

 private:
  /// Returns false, which ends parsing, if the last value was the format.
  [[nodiscard]] bool go_on() const { return !is_next_; }
  bool enter() {
    const bool more = go_on();
    ++depth_;
    return more;
  }
  bool leave() {
    --depth_;
    return true;
  }

  std::string format_;
  int depth_ = 0;
  bool is_next_ = false;
};

}  // namespace

std::string output_format_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || std::filesystem::is_directory(file)) {
    throw Error(ExitCode::bad_file, fmt::format("cannot be read: {}", std::strerror(errno)),
                file.string(),
                "name a file that fatune has written, or a run from 'fatune history'");
  }
  FormatFinder finder;
  nlohmann::json::sax_parse(stream, &finder, nlohmann::json::input_format_t::json, false);
  return finder.format();
}

}  // namespace fatune
