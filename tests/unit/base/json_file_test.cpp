#include "base/json_file.hpp"

#include <gmock/gmock.h>

#include "unit/base/temp_folder.hpp"
#include "unit/base/throws_error.hpp"

namespace fatune {
namespace {

using ::testing::HasSubstr;

void expect_bad(const std::string& text, const std::vector<std::string>& parts) {
  fixtures::expect_error([&] { (void)parse_json(text, "f.json"); }, ExitCode::bad_file, parts);
}

TEST(ParseJson, NamesLineAndColumn) {
  expect_bad("{\n  \"a\": tru\n}", {"f.json", "line 2, column 11", "not valid JSON"});
  expect_bad("", {"line 1, column 1"});
  expect_bad("{} x", {"line 1"});
  expect_bad("[1,]", {"line 1, column 4"});
}

TEST(ParseJson, RefusesAKeyThatAppearsTwice) {
  expect_bad(R"({"a": {"b": 1, "c": 2, "b": 3}})", {"key 'b' appears twice", "remove one"});
  EXPECT_NO_THROW((void)parse_json(R"({"a": {"b": 1}, "c": {"b": 1}})", "f.json"));
}

TEST(ParseJson, SurvivesADepthBomb) {
  expect_bad(std::string(100000, '['), {"nested more than 64 levels"});
  std::string objects;
  for (int i = 0; i < 50000; ++i) {
    objects += "{\"a\":";
  }
  expect_bad(objects, {"nested more than 64 levels"});
  EXPECT_NO_THROW((void)parse_json(std::string(60, '[') + std::string(60, ']'), "f.json"));
}

TEST(ParseJson, SurvivesBytesThatAreNoText) {
  expect_bad(std::string("\xff\xfe\x00\x01", 4), {"not valid JSON"});
  expect_bad("\"\xc3\x28\"", {"not valid JSON"});
  expect_bad("1e999", {"not valid JSON"});
  expect_bad(std::string("{\"a\0\":1}", 8), {"not valid JSON"});
}

nlohmann::json good_device() {
  return parse_json(FileTree{}.read("configs/devices/sm_90.json"), "sm_90.json");
}

void expect_schema_error(const nlohmann::json& value, const std::vector<std::string>& parts) {
  fixtures::expect_error([&] { check_schema(value, FileTree{}, "device", "dev.json"); },
                         ExitCode::bad_file, parts);
}

TEST(CheckSchema, AcceptsWhatIsRight) {
  EXPECT_NO_THROW(check_schema(good_device(), FileTree{}, "device", "dev.json"));
}

TEST(CheckSchema, NamesAMissingMemberAndWhatItIs) {
  nlohmann::json value = good_device();
  value.erase("l2_bytes");
  expect_schema_error(value, {"dev.json: /", "has no member 'l2_bytes'", "size of the L2 cache"});
}

TEST(CheckSchema, NamesAnUnknownMemberAndTheKnown) {
  nlohmann::json value = good_device();
  value["l2_byte"] = 1;
  expect_schema_error(value, {"dev.json: /", "unknown member 'l2_byte'", "l2_bytes"});
}

TEST(CheckSchema, NamesAWrongTypeAndAWrongValue) {
  nlohmann::json value = good_device();
  value["sm_count"] = "many";
  expect_schema_error(value, {"dev.json: /sm_count", "\"many\" is string, not \"integer\"",
                              "streaming multiprocessors"});
  value["sm_count"] = 0;
  expect_schema_error(value, {"dev.json: /sm_count", "0 is not allowed", "a whole number from 1"});
  expect_schema_error(nlohmann::json::array(), {"dev.json: /", "[] is array, not \"object\""});
}

TEST(CheckSchema, PointsIntoNestedValues) {
  const nlohmann::json space = {
      {"family", "f"}, {"summary", "s"}, {"configs", {{{"axes", {{"a/b", {1, 2.5}}}}}}}};
  fixtures::expect_error([&] { check_schema(space, FileTree{}, "space", "s.json"); },
                         ExitCode::bad_file,
                         {"s.json: /configs/0/axes/a~1b/1", "2.5", "an integer"});
}

TEST(CheckSchema, EverySchemaDescribesEveryProperty) {
  const FileTree tree;
  const auto undescribed = [](auto&& self, const nlohmann::json& node,
                              const std::string& at) -> std::vector<std::string> {
    std::vector<std::string> found;
    for (const auto& [key, value] : node.items()) {
      if (!value.is_structured()) {
        continue;
      }
      if (node.is_object() && (key == "properties" || key == "definitions")) {
        for (const auto& [name, property] : value.items()) {
          if (!property.contains("description") && !property.contains("$ref")) {
            found.push_back(at + "/" + key + "/" + name);
          }
        }
      }
      const auto deeper = self(self, value, at + "/" + key);
      found.insert(found.end(), deeper.begin(), deeper.end());
    }
    return found;
  };
  for (const std::string& path : tree.list("configs/schema/")) {
    const nlohmann::json schema = parse_json(tree.read(path), path);
    EXPECT_TRUE(schema.contains("description")) << path;
    EXPECT_THAT(undescribed(undescribed, schema, path), ::testing::IsEmpty());
  }
}

TEST(JsonNode, EveryAccessorSaysWhereAndWhat) {
  const nlohmann::json value = {{"a", {1, "x", true, 0.5, -1}}};
  const JsonNode root(value, "f.json");
  const std::vector<JsonNode> items = root.at("a").elements();
  EXPECT_EQ(items[0].integer(), 1);
  EXPECT_EQ(items[1].text(), "x");
  EXPECT_TRUE(items[2].boolean());
  EXPECT_EQ(items[3].number(), 0.5);
  EXPECT_EQ(items[4].integer(), -1);
  EXPECT_FALSE(root.find("b"));
  const auto expect = [](auto&& action, const std::vector<std::string>& parts) {
    fixtures::expect_error(action, ExitCode::bad_file, parts);
  };
  expect([&] { (void)root.at("b"); }, {"f.json: /", "no member 'b'"});
  expect([&] { (void)items[1].integer(); }, {"f.json: /a/1", "not a (64-bit) integer"});
  expect([&] { (void)items[3].integer(); }, {"/a/3"});
  expect([&] { (void)items[0].text(); }, {"/a/0", "not a string"});
  expect([&] { (void)items[0].boolean(); }, {"/a/0", "not true or false"});
  expect([&] { (void)items[1].number(); }, {"/a/1", "not a number"});
  expect([&] { (void)items[0].members(); }, {"/a/0", "not an object"});
  expect([&] { (void)items[0].find("x"); }, {"/a/0", "not an object"});
  expect([&] { (void)root.elements(); }, {"f.json: /", "not an array"});
}

TEST(JsonNode, RefusesIntegersBeyond64Bits) {
  const nlohmann::json value = 18446744073709551615ULL;
  fixtures::expect_error([&] { (void)JsonNode(value, "f").integer(); }, ExitCode::bad_file,
                         {"18446744073709551615"});
}

TEST(LoadJson, ReadsFromDisk) {
  const fixtures::TempFolder folder;
  const auto path = folder.write("d.json", good_device().dump());
  const JsonFile file = load_json_from_disk(FileTree{}, path, "device");
  EXPECT_EQ(file.root().at("sm_count").integer(), 132);
  EXPECT_EQ(file.origin(), path.string());
}

}  // namespace
}  // namespace fatune
