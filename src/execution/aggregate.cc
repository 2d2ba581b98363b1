#include "execution/aggregate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "index/value_key.h"
#include "model/document.h"
#include "model/fields.h"

namespace hearth::execution {
namespace {

using index::ByteOrder;
using model::FieldPath;
using model::ValueType;
using model::ValueView;

// A sum as Firestore computes it: integers exactly, doubles with Neumaier's compensation, and the
// two added at the end.
class Sum {
 public:
  void AddInteger(int64_t integer) {
    ++count_;
    integers_ += integer;
  }
  void AddDouble(double number) {
    ++count_;
    has_double_ = true;
    AddToDoubles(number);
  }

  std::string Encode() const {
    const bool fits = integers_ >= std::numeric_limits<int64_t>::min() &&
                      integers_ <= std::numeric_limits<int64_t>::max();
    if (!has_double_ && fits) return model::EncodeInteger(static_cast<int64_t>(integers_));
    return model::EncodeDouble(Total() + 0.0);  // Never -0.
  }
  std::string EncodeAverage() const {
    if (count_ == 0) return model::EncodeNull();
    return model::EncodeDouble(Total() / static_cast<double>(count_));
  }

 private:
  void AddToDoubles(double number) {
    const double sum = doubles_ + number;
    // The part that the addition lost. With infinities there is nothing to compensate.
    if (std::isfinite(sum)) {
      compensation_ += std::abs(doubles_) >= std::abs(number) ? (doubles_ - sum) + number
                                                              : (number - sum) + doubles_;
    }
    doubles_ = sum;
  }
  double Total() const {
    const double doubles = std::isfinite(doubles_) ? doubles_ + compensation_ : doubles_;
    return static_cast<double>(integers_) + doubles;
  }

  __extension__ typedef __int128 Wide;
  uint64_t count_ = 0;
  Wide integers_ = 0;
  bool has_double_ = false;
  double doubles_ = 0;
  double compensation_ = 0;
};

void AddValue(const std::optional<ValueView>& value, Sum* sum) {
  if (!value) return;
  if (value->type() == ValueType::kInteger) sum->AddInteger(value->integer());
  if (value->type() == ValueType::kDouble) sum->AddDouble(value->number());
}

// The fields that aggregations read, and the values computed from them.
class Aggregator {
 public:
  Aggregator(Execution& execution, const std::vector<query::Aggregation>& aggregations)
      : execution_(execution), layout_(execution.layout()), aggregations_(aggregations) {
    sums_.resize(aggregations.size());
    for (const query::Aggregation& aggregation : aggregations) {
      size_t& component = components_.emplace_back(kNotInKey);
      for (size_t i = 0; aggregation.path && i < layout_.fields.size() && i < 32; ++i) {
        if (layout_.fields[i].path == *aggregation.path) component = i;
      }
    }
    reads_fields_ =
        std::any_of(aggregations.begin(), aggregations.end(),
                    [](const query::Aggregation& each) { return each.path.has_value(); });
    has_all_in_key_ = std::none_of(
        aggregations.begin(), aggregations.end(), [this](const query::Aggregation& each) {
          return each.path &&
                 components_[static_cast<size_t>(&each - aggregations_.data())] == kNotInKey;
        });
  }

  // True if more documents would not change the result.
  bool HasEnough() const {
    return std::all_of(aggregations_.begin(), aggregations_.end(),
                       [this](const query::Aggregation& each) {
                         return each.kind == query::Aggregation::Kind::kCount && each.up_to &&
                                count_ >= *each.up_to;
                       });
  }

  Status Add(const Item& item) {
    ++count_;
    if (!reads_fields_) return Status();
    if (!item.record && has_all_in_key_ && !item.was_cut) return AddFromKey(item);
    model::Record record = item.record;
    if (!record) {
      ASSIGN_OR_RETURN(const model::DocumentPath path, PathOf(layout_, item.key));
      ASSIGN_OR_RETURN(record, execution_.Read(path, item));
    }
    const std::string_view fields = model::RecordFields(*record);
    for (size_t i = 0; i < aggregations_.size(); ++i) {
      const std::optional<FieldPath>& path = aggregations_[i].path;
      if (path) AddValue(model::FindField(fields, *path), &sums_[i]);
    }
    return Status();
  }

  std::vector<std::string> Finish() const {
    std::vector<std::string> values;
    for (size_t i = 0; i < aggregations_.size(); ++i) {
      const query::Aggregation& aggregation = aggregations_[i];
      switch (aggregation.kind) {
        case query::Aggregation::Kind::kCount: {
          const uint64_t count =
              aggregation.up_to ? std::min<uint64_t>(count_, *aggregation.up_to) : count_;
          values.push_back(model::EncodeInteger(static_cast<int64_t>(count)));
          break;
        }
        case query::Aggregation::Kind::kSum:
          values.push_back(sums_[i].Encode());
          break;
        case query::Aggregation::Kind::kAverage:
          values.push_back(sums_[i].EncodeAverage());
          break;
      }
    }
    return values;
  }

 private:
  static constexpr size_t kNotInKey = std::numeric_limits<size_t>::max();

  Status AddFromKey(const Item& item) {
    std::string_view rest = std::string_view(item.key.bytes).substr(0, item.key.name_at);
    for (size_t i = 0; i < layout_.fields.size() && !rest.empty(); ++i) {
      const bool descends = layout_.fields[i].direction == query::SortDirection::kDescending;
      const std::optional<size_t> length =
          index::ComponentLength(rest, descends ? ByteOrder::kDescending : ByteOrder::kAscending);
      if (!length) return Status(Code::kDataLoss, "cannot decode an index entry");
      std::string component(rest.substr(0, *length));
      rest.remove_prefix(*length);
      if (descends) index::Complement(0, &component);
      const std::optional<index::NumberKey> number = index::DecodeNumberKey(component);
      if (!number) continue;
      const bool is_double = (item.doubles >> i & 1) != 0;
      for (size_t a = 0; a < aggregations_.size(); ++a) {
        if (components_[a] != i) continue;
        if (is_double || !number->integer) {
          sums_[a].AddDouble(number->number);
        } else {
          sums_[a].AddInteger(*number->integer);
        }
      }
    }
    return Status();
  }

  Execution& execution_;
  const Layout& layout_;
  const std::vector<query::Aggregation>& aggregations_;
  std::vector<size_t> components_;  // The sort key component that holds the field.
  bool reads_fields_ = false;
  bool has_all_in_key_ = false;
  uint64_t count_ = 0;
  std::vector<Sum> sums_;
};

}  // namespace

Result<std::vector<std::string>> Aggregate(Execution* execution,
                                           const std::vector<query::Aggregation>& aggregations) {
  Aggregator aggregator(*execution, aggregations);
  Item item;
  while (true) {
    if (aggregator.HasEnough()) break;
    ASSIGN_OR_RETURN(const bool found, execution->NextItem(&item));
    if (!found) break;
    RETURN_IF_ERROR(aggregator.Add(item));
    item = {};
  }
  return aggregator.Finish();
}

}  // namespace hearth::execution
