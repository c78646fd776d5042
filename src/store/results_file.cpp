#include "store/results_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidjson/error/en.h>
#include <rapidjson/filereadstream.h>
#include <rapidjson/istreamwrapper.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "base/error.hpp"
#include "model/outcome.hpp"
#include "model/record_json.hpp"
#include "race/ranking.hpp"

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

using Json = RecordJson;

constexpr std::array<std::string_view, 2> kFormats{"fatune.results", "fatune.runs"};

void check_format(const Json& value) {
  const auto* text = value.get_ptr<const std::string*>();
  if (text == nullptr || std::ranges::find(kFormats, *text) == kFormats.end()) {
    throw Error(ExitCode::bad_file, "its \"format\" is not one of those that fatune reads", {},
                fmt::format("give a file in one of the formats {}", fmt::join(kFormats, ", ")));
  }
}

void check_version(const Json& value) {
  if (value != kResultsVersion) {
    throw Error(ExitCode::bad_file,
                fmt::format("it has version {} of its format, this fatune reads {}", value.dump(),
                            kResultsVersion),
                "format_version", "measure again, or read it with the fatune that wrote it");
  }
}

/// Assembles reports from the pieces of a JSON text while it is read.
class Assembly {
 public:
  /// Gets a member of the outermost object that is neither an object nor a list, as soon as it is
  /// read.
  void see_head(const std::string& key, const Json& value) {
    if (key == "format") {
      check_format(value);
      format_ = value.get<std::string>();
    } else if (key == "format_version") {
      check_version(value);
      has_version_ = true;
    }
  }

  /// Gets an object in a list. `path`: the keys from the outermost object to the list
  /// ("problems/ranking" for objects in the lists "ranking" of the objects in the list "problems").
  /// Returns true if it took the object, which is then left out of the list.
  bool take(std::string_view path, const Json& piece) {
    constexpr std::string_view kList = "runs/";
    const std::string_view of_run = path.starts_with(kList) ? path.substr(kList.size()) : path;
    if (path == "runs") {
      add_run(piece);
    } else if (of_run == "problems/ranking") {
      ranking_.push_back(read_ranked(piece));
    } else if (of_run == "problems/failures") {
      failures_.push_back(read_record<Result>(piece));
    } else if (of_run == "problems/audited") {
      audited_.push_back(read_record<Result>(piece));
    } else if (of_run == "problems") {
      add_problem(piece);
    } else {
      return false;
    }
    return true;
  }

  /// `root`: the rest, after all pieces were taken.
  std::vector<RunReport> finish(const Json& root) {
    check_format(format_);
    if (!has_version_) {
      check_version(nullptr);
    }
    if (format_ == kFormats.front()) {
      add_run(root);
    }
    return std::move(runs_);
  }

 private:
  static Result read_ranked(const Json& piece) {
    auto result = read_record<Result>(piece);
    if (!is_ranked(result.outcome)) {
      throw Error(ExitCode::bad_file, "it has a rank, but no time", "outcome",
                  "results without a time are failures");
    }
    return result;
  }

  void add_problem(const Json& piece) {
    ProblemReport& problem = problems_.emplace_back(read_record<ProblemReport>(piece));
    problem.ranking = std::exchange(ranking_, {});
    problem.failures = std::exchange(failures_, {});
    problem.audited = std::exchange(audited_, {});
  }

  void add_run(const Json& piece) {
    RunReport& run = runs_.emplace_back(read_record<RunReport>(piece));
    run.problems = std::exchange(problems_, {});
    run.choices = common_choices(run.problems);
  }

  std::string format_;
  bool has_version_ = false;
  std::vector<Result> ranking_;
  std::vector<Result> failures_;
  std::vector<Result> audited_;
  std::vector<ProblemReport> problems_;
  std::vector<RunReport> runs_;
};

/// Handles the events of RapidJSON's reader, builds values from them and passes the pieces to an
/// assembly. It holds no more than one piece at a time. Error(bad_file) names `origin` and the
/// place if a key appears twice, or there are more than 64 levels or 10,000 members of an object.
/// The place is added to errors of the assembly.
class JsonPieces {
 public:
  JsonPieces(Assembly& assembly, std::string origin)
      : assembly_(assembly), origin_(std::move(origin)) {}

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names
  bool Null() { return add(nullptr); }
  bool Bool(bool value) { return add(value); }
  bool Int(std::int32_t value) { return add(value); }
  bool Uint(std::uint32_t value) { return add(value); }
  bool Int64(std::int64_t value) { return add(value); }
  bool Uint64(std::uint64_t value) { return add(value); }
  bool Double(double value) { return add(value); }
  bool RawNumber(const char* text, std::size_t size, bool /*copy*/) {
    return add(std::string(text, size));
  }
  bool String(const char* text, std::size_t size, bool /*copy*/) {
    return add(std::string(text, size));
  }
  bool StartObject() { return open(Json::object()); }

  bool Key(const char* text, std::size_t size, bool /*copy*/) {
    open_.back().key.assign(text, size);
    return true;
  }

  bool EndObject(std::size_t /*members*/) {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    if (!open_.empty() && open_.back().is_list && is_taken(value)) {
      ++open_.back().index;
      return true;
    }
    return add(std::move(value));
  }

  bool StartArray() { return open(Json::array()); }
  bool EndArray(std::size_t /*items*/) {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(value));
  }

  // NOLINTEND(readability-identifier-naming)

  /// Throws Error(bad_file): the text is not JSON. `line` counts from 1.
  [[noreturn]] void refuse(const std::string& reason, std::size_t line) const {
    throw Error(ExitCode::bad_file, fmt::format("is not valid JSON: {} (line {})", reason, line),
                fmt::format("{}: {}", origin_, pointer()));
  }

  /// Returns the result of `read`. Its errors get the place that is being read.
  template <typename Read>
  auto locate(Read read) const {
    try {
      return read();
    } catch (const Error& error) {
      rethrow(error);
    }
  }

  /// The outermost value, without what the assembly has taken.
  [[nodiscard]] Json& root() { return root_; }

 private:
  /// An object or a list that has not ended.
  struct Open {
    Json value;
    std::string key{};      ///< of the member being read
    std::size_t index = 0;  ///< of the item being read
    bool is_list = false;
  };

  bool open(Json value) {
    if (open_.size() == kMostJsonLevels) {
      fail(fmt::format("is nested more than {} levels deep", kMostJsonLevels));
    }
    open_.push_back({.value = std::move(value)});
    open_.back().is_list = open_.back().value.is_array();
    return true;
  }

  bool add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Open& parent = open_.back();
    if (open_.size() == 1 && !parent.is_list && !value.is_structured()) {
      locate([&] { assembly_.see_head(parent.key, value); });
    }
    if (parent.is_list) {
      parent.value.push_back(std::move(value));
      ++parent.index;
    } else if (parent.value.size() == kMostRecordMembers) {
      fail(fmt::format("is in an object of more than {} members", kMostRecordMembers));
    } else if (!parent.value.emplace(parent.key, std::move(value)).second) {
      fail("appears twice in one object");
    }
    return true;
  }

  bool is_taken(const Json& piece) {
    std::string path;
    for (const Open& level : open_) {
      if (!level.is_list) {
        path.append(path.empty() ? "" : "/").append(level.key);
      }
    }
    return locate([&] { return assembly_.take(path, piece); });
  }

  [[nodiscard]] std::string pointer() const {
    std::string pointer;
    for (const Open& level : open_) {
      pointer +=
          '/' + (level.is_list ? std::to_string(level.index) : json_pointer_token(level.key));
    }
    return pointer.empty() ? "/" : pointer;
  }

  [[noreturn]] void rethrow(const Error& error) const {
    std::string within = error.where();
    std::ranges::replace(within, '.', '/');
    const std::string outer = pointer();
    throw Error(error.code(), error.what_was_wrong(),
                fmt::format("{}: {}{}{}", origin_, outer, within.empty() || outer == "/" ? "" : "/",
                            within),
                error.remedy());
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::bad_file, what, fmt::format("{}: {}", origin_, pointer()));
  }

  Assembly& assembly_;
  std::string origin_;
  std::vector<Open> open_;
  Json root_;
};

/// `line_at` returns the line of a byte, for messages.
template <typename Stream, typename LineAt>
std::vector<RunReport> read_stream(Stream& stream, const std::string& origin, LineAt line_at) {
  constexpr unsigned kFlags =
      rapidjson::kParseFullPrecisionFlag | rapidjson::kParseValidateEncodingFlag;
  Assembly assembly;
  JsonPieces pieces(assembly, origin);
  rapidjson::Reader reader;
  if (const auto result = reader.Parse<kFlags>(stream, pieces); !result) {
    pieces.refuse(rapidjson::GetParseError_En(result.Code()), line_at(result.Offset()));
  }
  return pieces.locate([&] { return assembly.finish(pieces.root()); });
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

OpenFile open_file(const std::filesystem::path& file) {
  OpenFile stream(std::fopen(file.c_str(), "rb"));
  if (!stream || std::filesystem::is_directory(file)) {
    throw Error(ExitCode::bad_file, "cannot be read", file.string(),
                "name a file that fatune has written");
  }
  return stream;
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
    for (const JsonNode& node : problem.at("correlations").elements()) {
      study.correlations.push_back({node.at("what").text(), node.at("spearman").number(),
                                    node.at("low").number(), node.at("high").number()});
    }
  }
  return studies;
}

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

std::vector<RunReport> read_results(const std::filesystem::path& file) {
  const OpenFile stream = open_file(file);
  std::vector<char> block(std::size_t{1} << 16);
  rapidjson::FileReadStream bytes(stream.get(), block.data(), block.size());
  return read_stream(bytes, file.string(), [&](std::size_t at_byte) {
    std::ifstream again(file, std::ios::binary);
    std::istreambuf_iterator<char> byte(again);
    std::size_t line = 1;
    for (std::size_t i = 0; i < at_byte && byte != std::istreambuf_iterator<char>(); ++i, ++byte) {
      line += static_cast<std::size_t>(*byte == '\n');
    }
    return line;
  });
}

std::vector<RunReport> read_results_text(std::string_view text, const std::string& origin) {
  rapidjson::MemoryStream bytes(text.data(), text.size());
  return read_stream(bytes, origin, [&](std::size_t at_byte) {
    return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, at_byte), '\n'));
  });
}

}  // namespace fatune
