// Data folders that cannot be served, and the error messages.
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "process/private_mount.h"
#include "process/process.h"

namespace hearth::process {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Folder, TwoProcessesDoNotShareOne) {
  const TemporaryFolder folder;
  const auto first = Serve(folder / "data");
  const auto second = TryToServe(folder / "data");
  ExpectRefusal(*second, "in use by another hearth process (pid " + std::to_string(first->pid()));
  // The first server is not affected.
  FirestoreClient client(first->port());
  EXPECT_TRUE(Put(client, "rooms/r1", "hello").ok());
  first->Kill();
  const auto third = Serve(folder / "data");
  FirestoreClient reader(third->port());
  ExpectAll(reader, {{"rooms/r1", "hello"}});
}

TEST(Folder, AFileIsNotAFolder) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "text";
  const auto server = TryToServe(folder / "file");
  ExpectRefusal(*server, "is not a folder");
  const auto below = TryToServe(folder / "file/data");
  ExpectRefusal(*below, "not a folder");
  EXPECT_EQ(ReadFile(folder / "file"), "text");
}

TEST(Folder, AMissingParentIsNotMade) {
  const TemporaryFolder folder;
  const auto server = TryToServe(folder / "no/such/folder");
  ExpectRefusal(*server, "parent folder does not exist");
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Folder, APlaceThatTakesNoFilesIsRefused) {
  const auto below_proc = TryToServe("/proc/hearth");
  ExpectRefusal(*below_proc, "/proc/hearth");
  const auto proc = TryToServe("/proc/self");
  ExpectRefusal(*proc, "/proc/self");
}

TEST(Folder, AReadOnlyFileSystemIsRefused) {
  if (const auto why = WhyNoMounts()) GTEST_SKIP() << *why;
  const TemporaryFolder folder;
  const PrivateMount mount(folder.path(), size_t{64} << 20);
  {
    const auto server = Serve(folder / "data");
    FirestoreClient client(server->port());
    ASSERT_TRUE(Put(client, "rooms/r1", "hello").ok());
    server->Signal(SIGTERM);
    ASSERT_EQ(server->Wait().code, 0);
  }
  mount.Become(PrivateMount::Access::kReadOnly);
  const auto old_folder = TryToServe(folder / "data");
  ExpectRefusal(*old_folder, "Read-only file system");
  const auto new_folder = TryToServe(folder / "new");
  ExpectRefusal(*new_folder, "Read-only file system");

  mount.Become(PrivateMount::Access::kReadWrite);
  const auto server = Serve(folder / "data");
  FirestoreClient client(server->port());
  ExpectAll(client, {{"rooms/r1", "hello"}});
}

TEST(Folder, ForeignFilesAreLeftAlone) {
  const TemporaryFolder folder;
  std::ofstream(folder / "thesis.tex") << "text";
  const auto server = TryToServe(folder.path());
  ExpectRefusal(*server, "thesis.tex");
  EXPECT_EQ(ReadFile(folder / "thesis.tex"), "text");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(Folder, ForeignFilesBesideTheDataDoNotMatter) {
  const TemporaryFolder folder;
  Serve(folder / "data")->Kill();
  std::ofstream(folder / "data/notes.txt") << "text";
  Serve(folder / "data")->Kill();
  EXPECT_EQ(ReadFile(folder / "data/notes.txt"), "text");
}

TEST(Folder, AnUnknownFormatIsRefusedAndUntouched) {
  const TemporaryFolder folder;
  Serve(folder / "data")->Kill();
  const std::string format = ReadFile(folder / "data/HEARTH");
  std::ofstream(folder / "data/HEARTH") << "hearth format 999\n";
  const auto server = TryToServe(folder / "data");
  ExpectRefusal(*server, "has format 999; this hearth reads formats 1 to 2");

  std::ofstream(folder / "data/HEARTH") << format;
  Serve(folder / "data")->Kill();
}

TEST(Folder, DataWithoutItsFormatFileIsRefused) {
  const TemporaryFolder folder;
  Serve(folder / "data")->Kill();
  fs::remove(folder / "data/HEARTH");
  const auto server = TryToServe(folder / "data");
  ExpectRefusal(*server, "HEARTH is missing");
}

TEST(Folder, IsForItsOwnerOnly) {
  const TemporaryFolder folder;
  const mode_t before = umask(022);  // As of most users.
  const auto server = Serve(folder / "data");
  umask(before);
  FirestoreClient client(server->port());
  ASSERT_TRUE(Put(client, "rooms/r1", "hello").ok());
  server->Signal(SIGTERM);
  ASSERT_EQ(server->Wait().code, 0);
  EXPECT_EQ(server->Stderr().find("other users"), std::string::npos) << server->Stderr();
  constexpr auto kOthers = fs::perms::group_all | fs::perms::others_all;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    EXPECT_EQ(entry.status().permissions() & kOthers, fs::perms::none) << entry.path();
  }
}

TEST(Folder, ThatOthersCanReadIsReported) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "data");
  fs::permissions(folder / "data", fs::perms::owner_all | fs::perms::others_read);
  const auto server = Serve(folder / "data");
  server->Signal(SIGTERM);
  ASSERT_EQ(server->Wait().code, 0);
  EXPECT_NE(server->Stderr().find("other users"), std::string::npos) << server->Stderr();
}

}  // namespace
}  // namespace hearth::process
