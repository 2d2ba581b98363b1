// Writes the messages of the query benchmarks: documents to load, and queries on them. Each message
// in a file is preceded by its length as four bytes, little-endian.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include "google/firestore/v1/firestore.pb.h"
#include "message_file.h"

namespace {

namespace proto = google::firestore::v1;
using hearth::bench::MessageFile;
using Filter = proto::StructuredQuery::FieldFilter;

constexpr char kDatabase[] = "projects/bench/databases/(default)";
constexpr int kWritesPerCommit = 500;
// Distinct requests per kind; bench/postgres.py uses the same number.
constexpr int64_t kRequests = 256;
constexpr int64_t kResults = 20;
constexpr int64_t kCountedRange = 500;
constexpr int64_t kEqualValues = 5;  // For each of the two joined fields.

std::string Documents() { return std::string(kDatabase) + "/documents"; }

std::string Padded(const char* format, int64_t number) {
  char text[40];
  std::snprintf(text, sizeof(text), format, static_cast<long long>(number));
  return text;
}

uint64_t Scrambled(uint64_t number) {  // The finalizer of SplitMix64.
  number += 0x9e3779b97f4a7c15;
  number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
  number = (number ^ number >> 27) * 0x94d049bb133111eb;
  return number ^ number >> 31;
}

// The documents of a collection of `total`, a power of ten. The factors are primes, so that each
// number below `total` occurs exactly once.
struct Content {
  Content(int64_t number, int64_t total)
      : id(Padded("document-%08lld", number)),
        serial(number * 15'485'863 % total),
        score(number * 104'729 % total),
        rank(static_cast<int64_t>(Scrambled(static_cast<uint64_t>(number)) % 1'000'000'007) %
             total),
        category(static_cast<int64_t>(Scrambled(~static_cast<uint64_t>(number)) % kEqualValues)),
        city(static_cast<int64_t>(Scrambled(static_cast<uint64_t>(number) << 20) % kEqualValues)),
        title("The document number " + std::to_string(number)),
        url("https://example.com/articles/" + std::to_string(number)),
        ratio(static_cast<double>(number) / 4) {}

  void Fill(proto::Document* document) const {
    auto& fields = *document->mutable_fields();
    fields["serial"].set_integer_value(serial);
    fields["score"].set_integer_value(score);
    fields["rank"].set_integer_value(rank);
    fields["category"].set_integer_value(category);
    fields["city"].set_integer_value(city);
    fields["title"].set_string_value(title);
    fields["url"].set_string_value(url);
    fields["ratio"].set_double_value(ratio);
    fields["published"].set_boolean_value(serial % 2 == 0);
    auto* tags = fields["tags"].mutable_array_value();
    for (const char* tag : {"fire", "place", "stone"}) tags->add_values()->set_string_value(tag);
  }

  // A row for PostgreSQL's COPY.
  std::string Row(const std::string& collection) const {
    const auto number = [](const char* name, int64_t value) {
      return std::string("\"") + name + "\": " + std::to_string(value) + ", ";
    };
    return collection + "/" + id + "\t" + collection + "\titems\t{" + number("serial", serial) +
           number("score", score) + number("rank", rank) + number("category", category) +
           number("city", city) + "\"title\": \"" + title + "\", \"url\": \"" + url +
           "\", \"ratio\": " + std::to_string(ratio) +
           ", \"published\": " + (serial % 2 == 0 ? "true" : "false") +
           ", \"tags\": [\"fire\", \"place\", \"stone\"]}\n";
  }

  std::string id;
  int64_t serial, score, rank, category, city;
  std::string title, url;
  double ratio;
};

// Commits of `count` documents of `items`, and of a tenth as many in other collections of that
// name; rows.tsv has the same for PostgreSQL. Documents are not loaded in the order of their names.
void WriteDocuments(const std::string& folder, int64_t first, int64_t count, int64_t total) {
  MessageFile commits(folder + "/documents.messages");
  std::ofstream rows(folder + "/rows.tsv", std::ios::binary);
  proto::CommitRequest commit;
  commit.set_database(kDatabase);
  const auto add = [&](const std::string& collection, const Content& content) {
    proto::Document* document = commit.add_writes()->mutable_update();
    document->set_name(Documents() + "/" + collection + "/" + content.id);
    content.Fill(document);
    rows << content.Row(collection);
    if (commit.writes_size() < kWritesPerCommit) return;
    commits.Add(commit);
    commit.clear_writes();
  };
  for (int64_t step = first; step < first + count; ++step) {
    const int64_t number = step * 7'919 % total;
    const Content content(number, total);
    add("items", content);
    if (step % 10 == 0) add(Padded("shops/shop-%02lld/items", number % 100), content);
  }
  if (commit.writes_size() > 0) commits.Add(commit);
}

proto::Value Integer(int64_t number) {
  proto::Value value;
  value.set_integer_value(number);
  return value;
}

void SetFilter(const std::string& field, Filter::Operator op, int64_t number,
               proto::StructuredQuery::Filter* filter) {
  filter->mutable_field_filter()->mutable_field()->set_field_path(field);
  filter->mutable_field_filter()->set_op(op);
  *filter->mutable_field_filter()->mutable_value() = Integer(number);
}

void And(const std::string& field, Filter::Operator op, int64_t number,
         proto::StructuredQuery* query) {
  auto* all = query->mutable_where()->mutable_composite_filter();
  all->set_op(proto::StructuredQuery::CompositeFilter::AND);
  SetFilter(field, op, number, all->add_filters());
}

void OrderBy(const std::string& field, proto::StructuredQuery* query,
             proto::StructuredQuery::Direction direction = proto::StructuredQuery::ASCENDING) {
  auto* order = query->add_order_by();
  order->mutable_field()->set_field_path(field);
  order->set_direction(direction);
}

// A range of scores that has `width` documents.
void ScoresFrom(int64_t first, int64_t width, proto::StructuredQuery* query) {
  And("score", Filter::GREATER_THAN_OR_EQUAL, first, query);
  And("score", Filter::LESS_THAN, first + width, query);
}

// Request `i` of a kind, for a collection of `total` documents. bench/postgres.py runs the same
// queries.
using QueryMaker = std::function<void(int64_t i, int64_t total, proto::StructuredQuery* query)>;

const std::map<std::string, QueryMaker>& Queries() {
  // Spread over the collection, except for the last `kept_free` documents.
  static const auto at = [](int64_t i, int64_t total, int64_t kept_free) {
    return i * 1'299'709 % (total - kept_free);
  };
  static const std::map<std::string, QueryMaker> queries = {
      {"point",
       [](int64_t i, int64_t total, proto::StructuredQuery* query) {
         SetFilter("serial", Filter::EQUAL, at(i, total, 0), query->mutable_where());
       }},
      {"range_20",
       [](int64_t i, int64_t total, proto::StructuredQuery* query) {
         ScoresFrom(at(i, total, kResults), kResults, query);
       }},
      {"inequalities_20",
       [](int64_t i, int64_t total, proto::StructuredQuery* query) {
         And("score", Filter::GREATER_THAN_OR_EQUAL, at(i, total, total / 2), query);
         And("rank", Filter::GREATER_THAN_OR_EQUAL, total / 2, query);
         OrderBy("score", query);
         OrderBy("rank", query);
         query->mutable_limit()->set_value(kResults);
       }},
      {"join_20",
       [](int64_t i, int64_t, proto::StructuredQuery* query) {
         And("category", Filter::EQUAL, i % kEqualValues, query);
         And("city", Filter::EQUAL, i / kEqualValues % kEqualValues, query);
         query->mutable_limit()->set_value(kResults);
       }},
      {"or_10",
       [](int64_t i, int64_t total, proto::StructuredQuery* query) {
         auto* any = query->mutable_where()->mutable_composite_filter();
         any->set_op(proto::StructuredQuery::CompositeFilter::OR);
         for (int64_t j = 0; j < 10; ++j) {
           SetFilter("serial", Filter::EQUAL, (at(i, total, 0) + j * total / 10) % total,
                     any->add_filters());
         }
       }},
      {"top_2000",
       [](int64_t, int64_t, proto::StructuredQuery* query) {
         OrderBy("score", query, proto::StructuredQuery::DESCENDING);
         query->mutable_limit()->set_value(2'000);
       }},
      {"count_all", [](int64_t, int64_t, proto::StructuredQuery*) {}},
      {"count_range",
       [](int64_t i, int64_t total, proto::StructuredQuery* query) {
         ScoresFrom(at(i, total, kCountedRange), kCountedRange, query);
       }},
      {"cursor_middle",
       [](int64_t i, int64_t total, proto::StructuredQuery* query) {
         OrderBy("score", query);
         *query->mutable_start_at()->add_values() = Integer(total / 2 + i);
         query->mutable_limit()->set_value(kResults);
       }},
      {"page_1000",
       [](int64_t i, int64_t total, proto::StructuredQuery* query) {
         OrderBy("__name__", query);
         const int64_t last = std::min<int64_t>(1'000 * kResults, total / 2) + i;
         query->mutable_start_at()->add_values()->set_reference_value(
             Documents() + "/items/" + Padded("document-%08lld", last));
         query->mutable_limit()->set_value(kResults);
       }},
      {"group_20",
       [](int64_t i, int64_t total, proto::StructuredQuery* query) {
         query->mutable_from(0)->set_all_descendants(true);
         ScoresFrom(at(i, total, kResults), kResults, query);
         query->mutable_limit()->set_value(kResults);
       }},
  };
  return queries;
}

void WriteQueries(const std::string& folder, int64_t total) {
  for (const auto& [name, make] : Queries()) {
    MessageFile file(folder + "/" + name + ".messages");
    for (int64_t i = 0; i < kRequests; ++i) {
      proto::StructuredQuery query;
      query.add_from()->set_collection_id("items");
      make(i, total, &query);
      if (name.starts_with("count")) {
        proto::RunAggregationQueryRequest request;
        request.set_parent(Documents());
        auto* aggregation = request.mutable_structured_aggregation_query();
        *aggregation->mutable_structured_query() = std::move(query);
        aggregation->add_aggregations()->mutable_count();
        file.Add(request);
      } else {
        proto::RunQueryRequest request;
        request.set_parent(Documents());
        *request.mutable_structured_query() = std::move(query);
        file.Add(request);
      }
    }
  }
}

struct WriteOptions {
  std::string collection;
  int fields = 10;
  int documents = 10'000;
  int rounds = 2;   // Each round writes every document with different values.
  int changed = 0;  // How many fields a write changes; 0: it replaces the document.
  int indexes = 0;
};

std::string FieldName(int field) { return Padded("field_%02lld", field); }

// Commits of one document each, and the queries that create the indexes: one per field, then pairs.
void WriteWrites(const std::string& folder, const WriteOptions& options) {
  MessageFile commits(folder + "/" + options.collection + ".messages");
  for (int round = 0; round < options.rounds; ++round) {
    for (int i = 0; i < options.documents; ++i) {
      proto::CommitRequest commit;
      commit.set_database(kDatabase);
      proto::Write* write = commit.add_writes();
      write->mutable_update()->set_name(Documents() + "/" + options.collection + "/" +
                                        Padded("document-%08lld", i));
      const int named = options.changed == 0 ? options.fields : options.changed;
      for (int field = 0; field < named; ++field) {
        const uint64_t number = Scrambled(static_cast<uint64_t>((i * 64 + field) * 64 + round));
        proto::Value& value = (*write->mutable_update()->mutable_fields())[FieldName(field)];
        if (field % 2 == 0) {
          value.set_integer_value(static_cast<int64_t>(number >> 20));
        } else {
          value.set_string_value("a text of some length " + std::to_string(number >> 40));
        }
        if (options.changed != 0) write->mutable_update_mask()->add_field_paths(FieldName(field));
      }
      commits.Add(commit);
    }
  }
  MessageFile queries(folder + "/" + options.collection + ".queries");
  for (int i = 0; i < options.indexes; ++i) {
    proto::RunQueryRequest request;
    request.set_parent(Documents());
    proto::StructuredQuery* query = request.mutable_structured_query();
    query->add_from()->set_collection_id(options.collection);
    OrderBy(FieldName(i % options.fields), query);
    if (i >= options.fields) OrderBy(FieldName((i + 1) % options.fields), query);
    query->mutable_limit()->set_value(1);
    queries.Add(request);
  }
}

// A query that needs an index on one field.
void WriteOrder(const std::string& folder, const std::string& collection,
                const std::string& field) {
  proto::RunQueryRequest request;
  request.set_parent(Documents());
  request.mutable_structured_query()->add_from()->set_collection_id(collection);
  OrderBy(field, request.mutable_structured_query());
  request.mutable_structured_query()->mutable_limit()->set_value(1);
  MessageFile(folder + "/order.messages").Add(request);
}

// Commits of documents that expired long ago, at intervals of one second.
void WriteExpired(const std::string& folder, int64_t first, int64_t count) {
  MessageFile commits(folder + "/expired.messages");
  proto::CommitRequest commit;
  commit.set_database(kDatabase);
  for (int64_t number = first; number < first + count; ++number) {
    proto::Document* document = commit.add_writes()->mutable_update();
    document->set_name(Documents() + "/expired/" + Padded("document-%08lld", number));
    (*document->mutable_fields())["expires"].mutable_timestamp_value()->set_seconds(number);
    (*document->mutable_fields())["number"].set_integer_value(number);
    if (commit.writes_size() < kWritesPerCommit && number + 1 < first + count) continue;
    commits.Add(commit);
    commit.clear_writes();
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes the documents and requests of the query benchmarks.");
  app.require_subcommand(1);
  std::string folder;
  app.add_option("folder", folder)->required()->check(CLI::ExistingDirectory);

  int64_t first = 0, count = 0, total = 0;
  CLI::App* documents = app.add_subcommand("documents", "A part of a collection, to be loaded");
  documents->add_option("--first", first)->required();
  documents->add_option("--count", count)->required();
  documents->add_option("--total", total, "A power of ten from 1000")->required();
  documents->callback([&] { WriteDocuments(folder, first, count, total); });

  CLI::App* queries = app.add_subcommand("queries", "Queries on such a collection");
  queries->add_option("--total", total)->required();
  queries->callback([&] { WriteQueries(folder, total); });

  CLI::App* expired = app.add_subcommand("expired", "A part of a backlog for a TTL policy");
  expired->add_option("--first", first)->required();
  expired->add_option("--count", count)->required();
  expired->callback([&] { WriteExpired(folder, first, count); });

  WriteOptions options;
  CLI::App* writes = app.add_subcommand("writes", "Single commits, and queries that need indexes");
  writes->add_option("--collection", options.collection)->required();
  writes->add_option("--documents", options.documents)->capture_default_str();
  writes->add_option("--rounds", options.rounds)->capture_default_str();
  writes->add_option("--fields", options.fields)->capture_default_str();
  writes->add_option("--changed", options.changed)->capture_default_str();
  writes->add_option("--indexes", options.indexes)->capture_default_str();
  writes->callback([&] { WriteWrites(folder, options); });

  std::string field;
  CLI::App* order = app.add_subcommand("order", "A query in the order of a field");
  order->add_option("--collection", options.collection)->required();
  order->add_option("--field", field)->required();
  order->callback([&] { WriteOrder(folder, options.collection, field); });
  CLI11_PARSE(app, argc, argv);
  return 0;
}
