#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <nlohmann/json.hpp>

#include "base/ranges.hpp"

namespace fatune {

/// Which outputs show a field. CSV and JSON show all of them.
enum class Shown {
  everywhere,    ///< every table for people has it
  in_ranking,    ///< tables of results with a rank have it
  in_failures,   ///< tables of results without a rank have it
  for_programs,  ///< CSV and JSON only
};
inline constexpr Shown kEverywhere = Shown::everywhere;
inline constexpr Shown kInRanking = Shown::in_ranking;
inline constexpr Shown kInFailures = Shown::in_failures;
inline constexpr Shown kForPrograms = Shown::for_programs;

/// How people see a column.
struct Look {
  int decimals = 0;  ///< decimals of doubles
  Shown shown = kEverywhere;
  bool wraps = false;  ///< texts that stay on a narrow terminal, and continue on the next line
};
inline constexpr Look kWraps{.wraps = true};
inline constexpr Look kProgramsOnly{.shown = kForPrograms};
inline constexpr Look kRankingOnly{.shown = kInRanking};
[[nodiscard]] constexpr Look decimals(int count, Shown shown = kEverywhere) {
  return {.decimals = count, .shown = shown};
}

/// Headings and cells as text, for any way of drawing.
struct TextTable {
  struct Column {
    std::string heading;
    bool align_right = false;
    bool wraps = false;  ///< Look::wraps
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `columns`
};

/// Draws a table for a terminal. Columns are padded to their widest cell (in code points), with two
/// spaces between them. Headings and cells are shown by visible_line(). No line is wider than
/// `columns` (0: no limit): parts that configurations share are stated once, columns are left out
/// from the right, and the others are narrowed (docs/tables.md). Notes above and below the table
/// say what gave way.
[[nodiscard]] std::string draw_plain(const TextTable& table, std::size_t columns = 0);
/// Draws a Markdown table. Headings and cells are escaped by markdown().
[[nodiscard]] std::string draw_markdown(const TextTable& table);
/// Draws CSV by RFC 4180: CRLF line ends; cells with a comma, quote or line break are quoted. Cells
/// are shown by visible_lines().
[[nodiscard]] std::string draw_csv(const TextTable& table);

/// Configurations whose common parts are stated once.
struct SharedParts {
  std::string common;  ///< "(FP16, 128, ...): async+...+opt_softmax"; or a whole configuration
  std::vector<std::string> rest;  ///< what each text has left: "64, 32, 4): buffer"; "-": nothing
};
/// Splits short forms, "(a, b, c): flag+flag", into what they have in common and the rest. The
/// common part has the first values of the tuples, as far as they are equal, and the flags that all
/// have. Other texts ("-") stay as they are. Nothing if nothing is common.
[[nodiscard]] std::optional<SharedParts> share_parts(const std::vector<std::string>& texts);

/// A value to be output. monostate: there is none (JSON null, an empty cell).
using FieldValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct FieldType {
  enum class Kind { any, boolean, integer, number, text };
  Kind kind = Kind::any;
  bool may_be_none = false;  ///< optional, or a floating-point number, which may not be finite
};

template <typename Value>
struct TypeOfField {
  static constexpr FieldType kType{std::is_same_v<Value, bool>       ? FieldType::Kind::boolean
                                   : std::is_integral_v<Value>       ? FieldType::Kind::integer
                                   : std::is_floating_point_v<Value> ? FieldType::Kind::number
                                   : std::is_convertible_v<Value, std::string_view>
                                       ? FieldType::Kind::text
                                       : FieldType::Kind::any,
                                   std::is_floating_point_v<Value>};
  static FieldValue value(const Value& value) {
    if constexpr (kType.kind == FieldType::Kind::integer) {
      return static_cast<std::int64_t>(value);
    } else if constexpr (kType.kind == FieldType::Kind::text) {
      return std::string(value);
    } else {
      return value;
    }
  }
};
template <typename Value>
struct TypeOfField<std::optional<Value>> {
  static constexpr FieldType kType{TypeOfField<Value>::kType.kind, true};
  static FieldValue value(const std::optional<Value>& value) {
    return value ? TypeOfField<Value>::value(*value) : FieldValue{};
  }
};

/// Gets a row's value for a field. It is made from anything that can be called with a row, such as
/// a pointer to a member; what that returns has the field's type.
template <typename Row>
class FieldGetter {
 public:
  template <typename Get>
  requires std::invocable<const Get&, const Row&>
  // NOLINTNEXTLINE(google-explicit-constructor): it stands for what it is made of in lists of
  // fields
  FieldGetter(Get get)
      : type_(Type<Get>::kType),
        get_([get](const Row& row) { return Type<Get>::value(std::invoke(get, row)); }) {}

  FieldValue operator()(const Row& row) const { return get_(row); }
  [[nodiscard]] FieldType type() const { return type_; }

 private:
  template <typename Get>
  using Type = TypeOfField<std::remove_cvref_t<std::invoke_result_t<const Get&, const Row&>>>;

  FieldType type_;
  std::function<FieldValue(const Row&)> get_;
};

/// One column of one kind of row. JSON, CSV, Markdown and the terminal table are all printed from a
/// list of these. What the fields mean is in the output's JSON Schema, whose names and types a test
/// compares with the list.
template <typename Row>
struct Field {
  std::string_view name;     ///< JSON key and CSV column; with its unit
  std::string_view heading;  ///< short heading of table and Markdown columns
  Look look;
  FieldGetter<Row> get;

  Field(std::string_view its_name, std::string_view its_heading, FieldGetter<Row> getter)
      : Field(its_name, its_heading, Look{}, std::move(getter)) {}
  Field(std::string_view its_name, std::string_view its_heading, Look its_look,
        FieldGetter<Row> getter)
      : name(its_name), heading(its_heading), look(its_look), get(std::move(getter)) {}
};
template <typename Row>
using Fields = std::vector<Field<Row>>;

template <typename Row>
Fields<Row> joined_fields(std::initializer_list<Fields<Row>> parts) {
  Fields<Row> all;
  for (const Fields<Row>& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// Lets the decimals depend on the number: none from 10000 on, otherwise two.
inline constexpr int kBySize = -1;

[[nodiscard]] inline FieldValue optional_value(const std::optional<double>& value) {
  return value ? FieldValue{*value} : FieldValue{};
}

/// The value; nothing for 0 and for what is empty.
template <typename Value>
[[nodiscard]] std::optional<Value> unless_empty(Value value) {
  return value == Value{} ? std::nullopt : std::optional(std::move(value));
}

/// Field::get for a member that stands for nothing if it is empty or 0.
template <auto kMember>
inline const auto or_none = [](const auto& row) { return unless_empty(row.*kMember); };

/// What `get`, a function or a member, gives for what `maybe` holds or points to; nothing if it is
/// empty or null.
template <typename Maybe, typename Get>
[[nodiscard]] auto if_any(const Maybe& maybe, const Get& get) {
  using Got = std::remove_cvref_t<std::invoke_result_t<const Get&, decltype(*maybe)>>;
  if constexpr (requires(const Got& got) { got.has_value(); }) {
    return maybe ? std::invoke(get, *maybe) : Got();
  } else {
    return maybe ? std::optional<Got>(std::invoke(get, *maybe)) : std::nullopt;
  }
}

/// A field's value in a table or Markdown cell; "-" when there is none.
[[nodiscard]] std::string cell_text(const FieldValue& value, int decimals);
/// The value's text in CSV. For a number this is the shortest text that reads back as the same
/// number. Empty if there is no value or the number is not finite. A text that a spreadsheet would
/// take for a formula begins with an apostrophe (OWASP, "CSV injection").
[[nodiscard]] std::string csv_text(const FieldValue& value);
[[nodiscard]] inline bool is_number(const FieldValue& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}
[[nodiscard]] inline bool has_value(const FieldValue& value) { return cell_text(value, 0) != "-"; }
/// Nullopt: empty.
[[nodiscard]] inline std::optional<std::string> text_or_none(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

/// Rows of typed values, with everything that the formats need to know about their columns.
struct Table {
  struct Column {
    std::string name;     ///< its name in CSV; ends with its unit
    std::string heading;  ///< a short heading for people
    Look look{};
    bool figure = false;  ///< aligned like numbers, and shown to people even if no row has a value
    FieldType::Kind kind = FieldType::Kind::any;  ///< the kind of its values
  };
  std::vector<Column> columns;
  std::vector<std::vector<FieldValue>> rows;  ///< each as long as `columns`
};

template <typename Row>
Table table_of(const Fields<Row>& fields, const std::vector<Row>& rows) {
  Table table;
  for (const Field<Row>& field : fields) {
    table.columns.push_back({std::string(field.name), std::string(field.heading), field.look, false,
                             field.get.type().kind});
  }
  for (const Row& row : rows) {
    std::vector<FieldValue>& values = table.rows.emplace_back();
    values.reserve(fields.size());
    for (const Field<Row>& field : fields) {
      values.push_back(field.get(row));
    }
  }
  return table;
}

/// Inserts a column in front of column number `at`. `values` has one value for each row.
void insert_column(Table& table, std::size_t at, Table::Column column,
                   std::vector<FieldValue> values);
inline void append_column(Table& table, Table::Column column, std::vector<FieldValue> values) {
  insert_column(table, table.columns.size(), std::move(column), std::move(values));
}
/// Appends a column with get(row) for each of `rows`, which are those of the table.
template <typename Rows, typename Get>
void append_column_of(Table& table, Table::Column column, const Rows& rows, const Get& get) {
  std::vector<FieldValue> values =
      mapped(rows, [&](const auto& row) { return FieldValue(get(row)); });
  append_column(table, std::move(column), std::move(values));
}
/// The number of the column after the one of that name; without one, the number of columns.
[[nodiscard]] std::size_t column_after(const Table& table, std::string_view name);

/// Whether people see the column: it is of `kind` or shown everywhere, and a row has a value.
[[nodiscard]] bool is_shown(const Table& table, std::size_t column, Shown kind);
/// The cells for people: the columns of `kind` and those shown everywhere, if any row has a value.
[[nodiscard]] TextTable text_for_people(const Table& table, Shown kind);
/// The cells of a CSV, with every column.
[[nodiscard]] TextTable text_for_programs(const Table& table);

using Json = nlohmann::ordered_json;

/// null for no value and for numbers that are not finite: JSON has no NaN.
[[nodiscard]] Json json_value(const FieldValue& value);

/// null if there is no value or the text is empty.
template <typename Value>
Json json_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}
inline Json json_or_null(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

template <typename Row>
Json json_object(const Fields<Row>& fields, const Row& row) {
  Json object = Json::object();
  for (const Field<Row>& field : fields) {
    object[std::string(field.name)] = json_value(field.get(row));
  }
  return object;
}

/// An array with make(item) for each item.
template <typename Items, typename Make>
Json json_list(const Items& items, Make&& make) {
  Json list = Json::array();
  for (const auto& item : items) {
    list.push_back(make(item));
  }
  return list;
}

template <typename Row>
Json json_rows(const Fields<Row>& fields, const std::vector<Row>& rows) {
  return json_list(rows, [&](const Row& row) { return json_object(fields, row); });
}

/// The value that a parameter's text stands for: true, 128, "FP16".
[[nodiscard]] FieldValue typed_value(const std::string& text);

/// Indented, with a line break at the end. Bytes that are not UTF-8 (a compiler's log may hold any)
/// become U+FFFD.
[[nodiscard]] std::string json_text(const Json& json);
/// Like json_text(), but in one line.
[[nodiscard]] std::string json_line(const Json& json);

}  // namespace fatune
