#include "record/record_json.hpp"

#include "record/record_types.hpp"
#include "record/record_writer.hpp"

namespace fatune {

template <typename Value>
RecordJson record_json(const Value& value) {
  return record_writer::to_record(value);
}

RecordJson parameters_json(const std::vector<NamedValue>& parameters) {
  return record_writer::object_record(parameters);
}

std::string record_text(const RecordJson& json) {
  return json.dump(-1, ' ', false, RecordJson::error_handler_t::replace);
}

#define FATUNE_RECORD(Value) template RecordJson record_json(const Value&);
FATUNE_RECORD_TYPES(FATUNE_RECORD)
#undef FATUNE_RECORD

}  // namespace fatune
