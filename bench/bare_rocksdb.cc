// The upper bound for commits: one thread writes documents of the benchmark's size to bare RocksDB,
// one batch and one sync at a time, and reads them back. Only keys and values.
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

using SteadyClock = std::chrono::steady_clock;

void Require(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "bare_rocksdb: %s\n", status.ToString().c_str());
  std::exit(EXIT_FAILURE);
}

double SecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

std::string Key(int index) { return "bench/document-" + std::to_string(index); }

// Calls `step` for `seconds`. It handles some documents and returns how many.
template <typename Step>
double DocumentsPerSecond(double seconds, Step step) {
  const auto start = SteadyClock::now();
  int documents = 0;
  while (SecondsSince(start) < seconds) documents += step();
  return documents / SecondsSince(start);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures bare RocksDB: synced batches and reads.");
  std::string folder;
  double seconds = 3;
  int documents = 10'000;
  int batch_documents = 32;
  size_t document_bytes = 400;
  app.add_option("folder", folder)->required();
  app.add_option("--seconds", seconds)->capture_default_str();
  app.add_option("--documents", documents)->capture_default_str();
  app.add_option("--batch", batch_documents, "Documents per synced batch")->capture_default_str();
  app.add_option("--bytes", document_bytes, "Bytes per document")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  Require(rocksdb::DB::Open(options, folder, &opened));
  const std::unique_ptr<rocksdb::DB> db(opened);

  rocksdb::WriteOptions synced;
  synced.sync = true;
  int next = 0;
  const double writes = DocumentsPerSecond(seconds, [&] {
    rocksdb::WriteBatch batch;
    for (int i = 0; i < batch_documents; ++i, ++next) {
      std::string value(document_bytes, 'x');
      value.replace(0, 8, std::to_string(10'000'000 + next % 10'000'000));
      Require(batch.Put(Key(next % documents), value));
    }
    Require(db->Write(synced, &batch));
    return batch_documents;
  });
  std::string value;
  const double reads = DocumentsPerSecond(seconds, [&] {
    Require(db->Get(rocksdb::ReadOptions(), Key(next++ % documents), &value));
    return 1;
  });
  std::printf("{\"commits_per_second\": %.0f, \"gets_per_second\": %.0f}\n", writes, reads);
  return EXIT_SUCCESS;
}
