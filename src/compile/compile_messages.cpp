#include "compile/compile_messages.hpp"

#include <string_view>
#include <utility>

#include "compile/cache_entry.hpp"

namespace fatune {
namespace {

using nlohmann::json;

constexpr const char* kJob = "compile";
constexpr const char* kArtifact = "artifact";
constexpr const char* kFailed = "failed";

void append(std::string_view text, std::vector<char>& blob) {
  blob.insert(blob.end(), text.begin(), text.end());
}

/// Texts go to the blob, because they need not be valid UTF-8.
json put_file(const SourceFile& file, std::vector<char>& blob) {
  append(file.text, blob);
  return {{"name", file.name}, {"bytes", file.text.size()}};
}

/// Takes the texts off the blob in the order in which they were put there.
class Texts {
 public:
  explicit Texts(const std::vector<char>& blob) : left_(blob.data(), blob.size()) {}

  SourceFile take_file(const json& file) {
    const auto bytes = file.at("bytes").get<std::size_t>();
    if (bytes > left_.size()) {
      throw ProtocolError("a source is longer than the message");
    }
    SourceFile taken{file.at("name"), std::string(left_.substr(0, bytes))};
    left_.remove_prefix(bytes);
    return taken;
  }

 private:
  std::string_view left_;
};

/// Throws json::exception if a member is missing or of another type.
CompileJob read_job(const Message& message) {
  Texts texts(message.blob);
  auto sources = std::make_shared<SourceBundle>();
  sources->main = texts.take_file(message.body.at("main"));
  for (const json& header : message.body.at("headers")) {
    sources->headers.push_back(texts.take_file(header));
  }
  CompileJob job;
  job.sources = std::move(sources);
  message.body.at("options").get_to(job.options);
  message.body.at("entry_point").get_to(job.entry_point);
  message.body.at("entry_is_template").get_to(job.entry_is_template);
  job.output = static_cast<CompileOutput>(message.body.at("output").get<int>());
  message.body.at("key").get_to(job.key);
  return job;
}

}  // namespace

Message message_of(const CompileJob& job) {
  Message message;
  message.body = {{"type", kJob},
                  {"main", put_file(job.sources->main, message.blob)},
                  {"headers", json::array()},
                  {"options", job.options},
                  {"entry_point", job.entry_point},
                  {"entry_is_template", job.entry_is_template},
                  {"output", static_cast<int>(job.output)},
                  {"key", job.key}};
  for (const SourceFile& header : job.sources->headers) {
    message.body["headers"].push_back(put_file(header, message.blob));
  }
  return message;
}

CompileJob job_of(const Message& message) {
  if (type_of(message) != kJob) {
    throw ProtocolError("a message that is no job for a compiler");
  }
  try {
    return read_job(message);
  } catch (const json::exception& error) {
    throw ProtocolError(error.what());
  }
}

Message message_of(const CompileResult& result) {
  const auto* const failed = std::get_if<CompileFailed>(&result);
  Message message;
  message.body["type"] = failed != nullptr ? kFailed : kArtifact;
  append(failed != nullptr ? failed->log : encode_entry(std::get<Artifact>(result)), message.blob);
  return message;
}

CompileResult result_of(const Message& message, const std::string& key) {
  const std::string_view blob(message.blob.data(), message.blob.size());
  if (type_of(message) == kFailed) {
    return CompileFailed{std::string(blob)};
  }
  if (auto artifact = decode_entry(blob, key)) {
    artifact->from_cache = false;
    return *std::move(artifact);
  }
  throw ProtocolError("a message that is no result of a compiler");
}

}  // namespace fatune
