#include "emulator/ptx/source_places.hpp"

#include "base/ranges.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

constexpr std::size_t kDeepestInlining = 1000;

std::string_view take_word(std::string_view& text) {
  text = trim(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t,"));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace

PtxLineTable::Position PtxLineTable::read_position(std::string_view& text) {
  Position position;
  for (std::int64_t* part : {&position.file, &position.line, &position.column}) {
    *part = whole_number<std::int64_t>(take_word(text)).value_or(0);
  }
  return position;
}

void PtxLineTable::read_file(std::string_view directive) {
  (void)take_word(directive);
  if (const auto number = whole_number<std::int64_t>(take_word(directive))) {
    files_[*number] = between(directive, "\"", "\"");
  }
}

void PtxLineTable::read_loc(std::string_view directive) {
  constexpr std::string_view kInlinedAt = "inlined_at ";
  const std::size_t caller = directive.find(kInlinedAt);
  std::string_view own = directive.substr(0, caller);
  (void)take_word(own);
  Place place{read_position(own), 0};
  if (place.at.line <= 0) {
    forget();
    return;
  }
  if (caller != std::string_view::npos) {
    directive.remove_prefix(caller + kInlinedAt.size());
    const Position at = read_position(directive);
    const auto known = latest_.find(at);  // PTX names a caller's position before inlining there
    place.inlined_at = known == latest_.end() ? index_of({at, 0}) : known->second;
  }
  current_ = index_of(place);
  latest_[place.at] = current_;
}

std::size_t PtxLineTable::index_of(const Place& place) {
  const auto [found, is_new] = indices_.try_emplace(place, places_.size());
  if (is_new) {
    places_.push_back(place);
  }
  return found->second;
}

std::vector<SourceChain> PtxLineTable::places() const {
  std::vector<SourceChain> chains(places_.size());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    // A place is inlined at an earlier one, so this ends.
    for (std::size_t place = i; place != 0 && chains[i].size() < kDeepestInlining;
         place = places_[place].inlined_at) {
      const Position& at = places_[place].at;
      const std::string* const file = value_at(files_, at.file);
      chains[i].push_back({file == nullptr ? std::string() : *file, at.line});
    }
  }
  return chains;
}

void use_include_names(const SourceLines& files, std::vector<SourceChain>& places) {
  for (SourceChain& chain : places) {
    for (SourceLine& line : chain) {
      std::string_view best;
      for (const auto& [name, text] : files) {
        if (line.file.ends_with("/" + name) && name.size() > best.size()) {
          best = name;
        }
      }
      line.file = best.empty() ? line.file : std::string(best);
    }
  }
}

}  // namespace fatune
