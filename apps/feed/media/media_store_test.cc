#include "apps/feed/media/media_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "base/testing/fake_clock.h"
#include "kit/images/images.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::feed {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::MatchesRegex;

// A picture of that size; each shade is a different picture.
std::string Picture(int width, int height, int shade) {
  kit::Image image{.width = width, .height = height};
  for (int i = 0; i < width * height; ++i) {
    for (const int part : {shade, i % 256, 90, 255}) {
      image.pixels.push_back(static_cast<uint8_t>(part));
    }
  }
  return *kit::EncodeWebp(image, 90, kit::WebpEffort::kFast);
}

class MediaStoreTest : public testing::Test {
 protected:
  Media AddAndKeep(const std::string& picture) {
    MediaStore::Upload upload(store_, "someone");
    const Result<Media> media = upload.Add(picture);
    EXPECT_TRUE(media.ok()) << media.status().ToString();
    upload.Keep();
    return media.ok() ? *media : Media{};
  }
  size_t FileCount() const {
    size_t count = 0;
    if (!fs::exists(folder_ / "media")) return 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "media")) {
      if (entry.is_regular_file()) ++count;
    }
    return count;
  }

  storage::TemporaryFolder folder_;
  FakeClock clock_{1'000'000};
  MediaStore store_{clock_, folder_ / "media"};
};

TEST_F(MediaStoreTest, APictureIsKeptInTwoSizes) {
  const Media media = AddAndKeep(Picture(2'000, 1'000, 1));
  EXPECT_EQ(media.width, 1'440);
  EXPECT_EQ(media.height, 720);
  const Result<std::string> shown = store_.Read(media.file);
  ASSERT_TRUE(shown.ok()) << shown.status().ToString();
  EXPECT_EQ(kit::DecodeImage(*shown, {})->width, 1'440);
  const Result<std::string> thumbnail = store_.Read(media.thumbnail);
  ASSERT_TRUE(thumbnail.ok());
  EXPECT_EQ(kit::DecodeImage(*thumbnail, {})->width, 480);
  EXPECT_EQ(kit::DecodeImage(*thumbnail, {})->height, 240);
}

TEST_F(MediaStoreTest, FilesAreNamedByWhatTheyHoldInFoldersByTheirFirstDigits) {
  const Media media = AddAndKeep(Picture(600, 600, 1));
  EXPECT_THAT(media.file, MatchesRegex("[0-9a-f]{64}\\.webp"));
  EXPECT_THAT(media.thumbnail, MatchesRegex("[0-9a-f]{64}\\.webp"));
  EXPECT_TRUE(fs::exists(folder_ / "media/" + media.file.substr(0, 2) + "/" + media.file));
  EXPECT_EQ(FileCount(), 2u);
}

TEST_F(MediaStoreTest, TheSamePictureIsStoredOnce) {
  const Media first = AddAndKeep(Picture(600, 600, 1));
  EXPECT_EQ(AddAndKeep(Picture(600, 600, 1)), first);
  EXPECT_EQ(FileCount(), 2u);
  EXPECT_NE(AddAndKeep(Picture(600, 600, 2)).file, first.file);
  EXPECT_EQ(FileCount(), 4u);
  // A small picture is its own thumbnail.
  const Media small = AddAndKeep(Picture(100, 50, 1));
  EXPECT_EQ(small.file, small.thumbnail);
  EXPECT_EQ(FileCount(), 5u);
}

TEST_F(MediaStoreTest, APostThatIsRefusedLeavesNothingBehind) {
  {
    MediaStore::Upload upload(store_, "someone");
    ASSERT_TRUE(upload.Add(Picture(600, 600, 1)).ok());
    ASSERT_TRUE(upload.Add(Picture(100, 100, 1)).ok());
    EXPECT_EQ(upload.Add("no picture").status().code(), Code::kInvalidArgument);
    EXPECT_EQ(FileCount(), 3u);
  }
  EXPECT_EQ(FileCount(), 0u);
}

TEST_F(MediaStoreTest, APostThatIsRefusedTakesNothingFromOthers) {
  const Media kept = AddAndKeep(Picture(600, 600, 1));
  {
    MediaStore::Upload refused(store_, "someone");
    EXPECT_EQ(*refused.Add(Picture(600, 600, 1)), kept);
  }
  EXPECT_TRUE(store_.Read(kept.file).ok());
  EXPECT_TRUE(store_.Read(kept.thumbnail).ok());
}

TEST_F(MediaStoreTest, OfTwoPostsAtTheSameTimeOneMayBeRefused) {
  const std::string picture = Picture(600, 600, 1);
  std::optional<MediaStore::Upload> maker(std::in_place, store_, "someone");
  ASSERT_TRUE(maker->Add(picture).ok());
  MediaStore::Upload other(store_, "someone");
  const Result<Media> media = other.Add(picture);
  ASSERT_TRUE(media.ok());
  maker.reset();
  EXPECT_TRUE(store_.Read(media->file).ok());
  other.Keep();
  EXPECT_TRUE(store_.Read(media->file).ok());

  // The other order: kept by the second while the first is still in progress.
  maker.emplace(store_, "someone");
  ASSERT_TRUE(maker->Add(Picture(600, 600, 2)).ok());
  const Media second = AddAndKeep(Picture(600, 600, 2));
  maker.reset();
  EXPECT_TRUE(store_.Read(second.file).ok());
}

TEST_F(MediaStoreTest, WhenAllGiveUpTheFileIsGone) {
  std::optional<MediaStore::Upload> first(std::in_place, store_, "someone");
  std::optional<MediaStore::Upload> second(std::in_place, store_, "someone");
  ASSERT_TRUE(first->Add(Picture(600, 600, 1)).ok());
  ASSERT_TRUE(second->Add(Picture(600, 600, 1)).ok());
  first.reset();
  EXPECT_EQ(FileCount(), 2u);
  second.reset();
  EXPECT_EQ(FileCount(), 0u);
}

TEST_F(MediaStoreTest, WhatIsNoPictureOrTooLargeIsRefused) {
  MediaStore::Upload upload(store_, "someone");
  EXPECT_EQ(upload.Add("<html>").status().code(), Code::kInvalidArgument);
  const Status large = upload.Add(std::string(MediaStore::kImageBytesMax + 1, 'x')).status();
  EXPECT_EQ(large.code(), Code::kInvalidArgument);
  EXPECT_THAT(large.message(), HasSubstr("larger than 5242880 bytes"));
  // One byte less is decoded.
  EXPECT_THAT(upload.Add(std::string(MediaStore::kImageBytesMax, 'x')).status().message(),
              HasSubstr("not a JPEG"));
}

TEST_F(MediaStoreTest, OnlyNamesOfOursAreRead) {
  const Media media = AddAndKeep(Picture(600, 600, 1));
  std::ofstream(folder_ / "secret.webp") << "secret";
  const std::string hash = media.file.substr(0, 64);
  for (const std::string& name :
       {std::string(), std::string("../secret.webp"), std::string("/etc/passwd"), hash,
        hash + ".png", hash.substr(0, 2) + "/" + media.file, "../" + hash.substr(3) + ".webp",
        std::string(64, 'A') + ".webp", std::string(64, '0') + ".webp",
        media.file + std::string(1, '\0')}) {
    EXPECT_EQ(store_.Read(name).status().code(), Code::kNotFound) << name;
  }
}

TEST_F(MediaStoreTest, WhatAProcessLeftThatDiedIsRemoved) {
  AddAndKeep(Picture(800, 400, 1));
  std::ofstream(folder_ / "media/incoming/abcdef") << "half a picture";
  ASSERT_EQ(FileCount(), 3u);
  const MediaStore next(clock_, folder_ / "media");
  EXPECT_EQ(FileCount(), 2u);
}

TEST_F(MediaStoreTest, AFileThatIsUsedWhileTheDatabaseIsAskedStays) {
  const std::string picture = Picture(100, 100, 1);
  const Media media = AddAndKeep(picture);
  const auto not_needed = [] { return Result<bool>(false); };
  // An upload begins and ends meanwhile: its post may be newer than the answer.
  EXPECT_EQ(*store_.RemoveUnlessNeeded(media.file,
                                       [&]() -> Result<bool> {
                                         AddAndKeep(picture);
                                         return false;
                                       }),
            MediaStore::Removal::kBusy);
  EXPECT_TRUE(store_.Has(media.file));
  EXPECT_EQ(*store_.RemoveUnlessNeeded(media.file, [] { return Result<bool>(true); }),
            MediaStore::Removal::kNeeded);
  EXPECT_EQ(*store_.RemoveUnlessNeeded(media.file, not_needed), MediaStore::Removal::kGone);
  EXPECT_FALSE(store_.Has(media.file));
  EXPECT_EQ(*store_.RemoveUnlessNeeded(media.file, not_needed), MediaStore::Removal::kGone);
}

TEST_F(MediaStoreTest, DoubtAboutAPostEnds) {
  const auto not_needed = [] { return Result<bool>(false); };
  {
    MediaStore::Upload in_doubt(store_, "someone");
    ASSERT_TRUE(in_doubt.Add(Picture(100, 100, 2)).ok());
    in_doubt.KeepInDoubt();
  }
  // Another post with the same picture does not end it.
  const std::string file = AddAndKeep(Picture(100, 100, 2)).file;
  EXPECT_EQ(*store_.RemoveUnlessNeeded(file, not_needed), MediaStore::Removal::kBusy);
  clock_.Advance(MediaStore::kDoubtMax - std::chrono::seconds(1));
  EXPECT_TRUE(store_.EndDoubts().empty());
  EXPECT_EQ(*store_.RemoveUnlessNeeded(file, not_needed), MediaStore::Removal::kBusy);
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(store_.EndDoubts(), (std::vector<std::string>{file, file}));  // It is its thumbnail.
  EXPECT_TRUE(store_.Has(file));
  EXPECT_TRUE(store_.EndDoubts().empty());
  EXPECT_EQ(*store_.RemoveUnlessNeeded(file, not_needed), MediaStore::Removal::kGone);
}

TEST_F(MediaStoreTest, DecodingTakesMemoryFromTheBudget) {
  constexpr size_t kNeeded = 2 * 1'000 * 500 * 4 + MediaStore::kEncodingBytes;
  const std::string picture = Picture(1'000, 500, 1);
  MemoryBudget memory(kNeeded * 2);
  MediaStore store(clock_, folder_ / "bounded", {.memory = &memory});
  MediaStore::Upload upload(store, "someone");
  memory.Take(kNeeded);  // Other clients hold so much that the rest does not suffice.
  const Status refused = upload.Add(picture).status();
  EXPECT_EQ(refused.code(), Code::kResourceExhausted);
  EXPECT_THAT(refused.message(), HasSubstr("short of memory"));
  memory.Return(kNeeded);
  EXPECT_TRUE(upload.Add(picture).ok());
  EXPECT_EQ(upload.Add("no picture").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST_F(MediaStoreTest, APictureThatNeedsMoreThanTheBudgetIsRefusedForGood) {
  MemoryBudget memory(MediaStore::kEncodingBytes);
  MediaStore store(clock_, folder_ / "bounded", {.memory = &memory});
  MediaStore::Upload upload(store, "someone");
  const Status refused = upload.Add(Picture(100, 100, 1)).status();
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("more pixels than"));
}

TEST_F(MediaStoreTest, PicturesWaitForTheMemoryOfOthers) {
  constexpr size_t kNeeded = 2 * 600 * 600 * 4 + MediaStore::kEncodingBytes;
  MemoryBudget memory(kNeeded * 8 / 7 + 64);  // For one picture at a time.
  MediaStore store(clock_, folder_ / "bounded", {.memory = &memory, .decoders = 4});
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      MediaStore::Upload upload(store, std::to_string(i));
      const Status added = upload.Add(Picture(600, 600, i)).status();
      EXPECT_TRUE(added.ok()) << added.ToString();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST_F(MediaStoreTest, ADiskThatRefusesIsUnavailable) {
  std::ofstream(folder_ / "media") << "a file where the folder should be";
  MediaStore::Upload upload(store_, "someone");
  EXPECT_EQ(upload.Add(Picture(100, 100, 1)).status().code(), Code::kUnavailable);
}

}  // namespace
}  // namespace hearth::feed
