#include "client/embedded/embedded_records.h"

#include <memory>
#include <string>
#include <utility>

#include "model/document.h"
#include "model/fields.h"

namespace hearth::client {
namespace {

using model::Fields;
using model::Record;

Fields FieldsOf(const Record& record) {
  return Fields::FromTrusted(std::string(model::RecordFields(*record)));
}

Record WithFields(const Record& record, const Fields& fields) {
  return std::make_shared<const std::string>(model::EncodeRecord(
      model::RecordCreateTime(*record), model::RecordUpdateTime(*record), fields));
}

}  // namespace

Record Project(Record record, const std::optional<std::vector<model::FieldPath>>& mask) {
  if (!record || !mask) return record;
  return WithFields(record, FieldsOf(record).Project(*mask));
}

TransportDocument ToTransportDocument(const query::Query& query, request::QueryResult result,
                                      model::Timestamp read_time) {
  TransportDocument document{std::move(result.path), std::move(result.record)};
  document.read_time = read_time;
  const bool wants_distance = query.nearest && query.nearest->distance_result_field;
  if (wants_distance && result.distance) {
    model::FieldEditor editor(FieldsOf(document.record));
    editor.Set(*query.nearest->distance_result_field, model::EncodeDouble(*result.distance));
    document.record = WithFields(document.record, editor.Finish());
    document.distance = result.distance;
  }
  document.record = Project(std::move(document.record), query.select);
  return document;
}

}  // namespace hearth::client
