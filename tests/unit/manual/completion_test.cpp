#include "manual/completion.hpp"

#include <gmock/gmock.h>

#include "unit/manual/samples.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(BashCompletion, KnowsCommandsOptionsAndValues) {
  const std::string script = bash_completion(sample_program());
  EXPECT_THAT(script, HasSubstr("    'fatune')\n      commands='tune'\n"));
  EXPECT_THAT(script, HasSubstr("options='-o --out --kinds --count --fast'\n"));
  EXPECT_THAT(script, HasSubstr("valued='-o --out --kinds'\n"))
      << "a value of --count may be absent";
  EXPECT_THAT(script, HasSubstr("'fatune tune -o' | \\\n      'fatune tune --out')\n"
                                "      words='-' files=yes\n"));
  EXPECT_THAT(script, HasSubstr("'fatune tune --kinds')\n      words='a b' list=yes\n"));
  EXPECT_THAT(script, HasSubstr("'fatune tune argument')\n      folders=yes\n"));
  EXPECT_THAT(script, Not(HasSubstr("'fatune tune --count'")));
}

TEST(ZshCompletion, EscapesWhatItTakesForItsOwn) {
  const std::string script = zsh_completion(sample_program());
  EXPECT_THAT(script, HasSubstr(R"('tune:Isn'\''t [it] a\\b\: `x`?')"));
  EXPECT_THAT(script, HasSubstr(R"('*--out=[a '\''file'\'']:FILE|-: _fatune_words_or_files -')"));
  EXPECT_THAT(script, HasSubstr(R"('(--kinds)--kinds=[x]:a|b,...: _sequence compadd - a b')"));
  EXPECT_THAT(script, HasSubstr(R"('(--count)--count[x]')"));
  EXPECT_THAT(script, HasSubstr(R"('(--kinds --fast)--fast[x]')"));
  EXPECT_THAT(script, HasSubstr(R"('*:DIR:_files -/')"));
}

TEST(FishCompletion, EscapesWhatItTakesForItsOwn) {
  const std::string script = fish_completion(sample_program());
  EXPECT_THAT(script, HasSubstr(R"(-n '__fatune_at ' -a tune -d 'Isn\'t [it] a\\b: `x`?')"));
  EXPECT_THAT(script,
              HasSubstr(R"(-n '__fatune_at tune' -s o -l out -r -F -a '-' -d 'a \'file\'')"));
  EXPECT_THAT(script, HasSubstr(" -l kinds -r -f -a '(__fish_append , a b)' -d 'x'\n"));
  EXPECT_THAT(script, HasSubstr(" -l count -d 'x'\n"));
  EXPECT_THAT(script, HasSubstr("'__fatune_at tune' -f -a '(__fish_complete_directories)'\n"));
}

}  // namespace
}  // namespace fatune
