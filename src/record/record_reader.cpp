#include "record/record_reader.hpp"

#include "record/record_types.hpp"

namespace fatune {

template <typename Value>
Value read_record(const RecordJson& json) {
  Value value;
  record_reader::read(json, value);
  return value;
}

RecordJson parse_record(std::string_view text) {
  std::vector<std::size_t> members;  // of each object that has not ended
  const auto limit = [&](int, RecordJson::parse_event_t event, const RecordJson&) {
    if (event == RecordJson::parse_event_t::object_start) {
      members.push_back(0);
    } else if (event == RecordJson::parse_event_t::object_end) {
      members.pop_back();
    } else if (event == RecordJson::parse_event_t::key && ++members.back() > kMostRecordMembers) {
      record_reader::refuse(fmt::format("an object has more than {} members", kMostRecordMembers));
    }
    return true;
  };
  RecordJson json = RecordJson::parse(text.begin(), text.end(), limit, false);
  if (json.is_discarded()) {
    record_reader::refuse("it is not JSON");
  }
  return json;
}

#define FATUNE_RECORD(Value) template Value read_record<Value>(const RecordJson&);
FATUNE_RECORD_TYPES(FATUNE_RECORD)
#undef FATUNE_RECORD

}  // namespace fatune
