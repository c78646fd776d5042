#include "results/other_outputs.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <rapidjson/istreamwrapper.h>
#include <rapidjson/reader.h>

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
class FormatFinder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, FormatFinder> {
 public:
  [[nodiscard]] const std::string& format() const { return format_; }

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names
  [[nodiscard]] bool Default() const { return !is_next_; }
  bool String(const char* text, std::size_t size, bool /*copy*/) {
    format_.assign(text, is_next_ ? size : 0);
    return !is_next_;
  }
  bool Key(const char* text, std::size_t size, bool /*copy*/) {
    is_next_ = depth_ == 1 && std::string_view(text, size) == "format";
    return true;
  }
  bool StartObject() { return ++depth_ == 1 || !is_next_; }
  bool StartArray() { return ++depth_ == 1 || !is_next_; }
  bool EndObject(std::size_t /*members*/) { return --depth_ >= 0; }
  bool EndArray(std::size_t /*items*/) { return --depth_ >= 0; }
  // NOLINTEND(readability-identifier-naming)

 private:
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
  rapidjson::IStreamWrapper bytes(stream);
  constexpr unsigned kFlags =
      rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  rapidjson::Reader().Parse<kFlags>(bytes, finder);
  return finder.format();
}

}  // namespace fatune
