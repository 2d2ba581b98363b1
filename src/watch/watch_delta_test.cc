#include "watch/watch_delta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "watch/testing/documents.h"

namespace hearth::watch {
namespace {

using query::QueryBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Reason = request::DocumentGoneEvent::Reason;

const model::Timestamp kLater = model::Timestamp::FromMicros(9);

// Takes as many events as it has room for.
class RoomySink final : public WatchSink {
 public:
  void Send(const request::TargetEvent&) override { --room; }
  void Send(const request::DocumentEvent& event) override {
    --room;
    sent.push_back(event.path.path() + (event.mask ? " masked" : ""));
    targets.push_back(event.targets);
    removed.push_back(event.removed);
  }
  void Send(const request::DocumentGoneEvent& event) override {
    --room;
    sent.push_back(event.path + (event.reason == Reason::kDeleted ? " deleted" : " left"));
    targets.emplace_back();
    removed.push_back(event.removed);
  }
  void Send(const request::ExistenceFilterEvent&) override { --room; }
  void Flush() override {}
  bool IsFull() const override { return room == 0; }
  void WhenWritable(Task) override {}
  void OnRequestTaken(size_t) override {}
  void End(const Status&) override {}
  bool closed() const override { return false; }

  size_t room = 1'000;
  std::vector<std::string> sent;
  std::vector<request::TargetIds> targets;
  std::vector<request::TargetIds> removed;
};

std::shared_ptr<const Mask> MaskOf(const std::string& field) {
  return std::make_shared<const Mask>(std::vector{*model::FieldPath::Parse(field)});
}

class WatchDeltaTest : public testing::Test {
 protected:
  TargetState& Add(const QueryBuilder& builder, std::shared_ptr<const Mask> mask = no_mask_) {
    TargetState& target = *targets_.emplace_back(std::make_unique<TargetState>());
    target.id = static_cast<request::TargetId>(targets_.size());
    target.target = std::make_shared<const Target>(Live(builder));
    target.mask = std::move(mask);
    if (target.query()->HasWindow()) {
      target.window = std::make_unique<ResultWindow>(*target.query(), memory_.Another());
    }
    return target;
  }
  // The window's results: documents with these numbers.
  bool Show(ResultWindow& window, const std::vector<int64_t>& numbers) {
    return std::ranges::all_of(numbers, [&](int64_t number) {
      return window.Append(Path("c/" + std::to_string(number)), Number(number));
    });
  }
  void Delete(WatchDelta& delta, TargetState& target, int64_t number) {
    delta.Add(target, ChangeOf("c/" + std::to_string(number), Number(number), nullptr));
  }
  // The query finds these numbers when it runs again.
  Status Resolve(const WatchDelta& delta, const std::vector<int64_t>& numbers) {
    const auto refill =
        [&](TargetState& target,
            const ResolveMeans::Visit& visit) -> Result<std::unique_ptr<ResultWindow>> {
      auto window = std::make_unique<ResultWindow>(*target.query(), memory_.Another());
      if (!Show(*window, numbers)) return nullptr;
      for (const int64_t number : numbers) {
        if (!visit(Path("c/" + std::to_string(number)), Number(number))) break;
      }
      return window;
    };
    const auto pause = [this]() -> Status {
      return pauses_left_-- > 0 ? Status() : Status(Code::kCancelled, "the client has left");
    };
    return delta.Resolve({pause, refill, &memory_, refill_bytes_max_}, &resolved_);
  }

  static inline const auto no_mask_ = std::make_shared<const Mask>();
  MemoryBudget budget_{10'000'000};
  WatchMemory memory_{&budget_, ClientKey{1}};
  size_t refill_bytes_max_ = 1'000'000;
  size_t pauses_left_ = 1'000'000;
  std::vector<std::unique_ptr<TargetState>> targets_;
  ResolvedDelta resolved_;
  RoomySink sink_;
};

TEST_F(WatchDeltaTest, OneMessageForAllTargetsWithTheSameMask) {
  const auto first = MaskOf("a");
  const auto second = MaskOf("b");
  WatchMessages messages;
  for (const auto& mask : {first, second, first, no_mask_, no_mask_}) {
    messages.Enter(Path("c/d"), Number(1), Add(QueryBuilder("c"), mask));
  }
  messages.Leave(Path("c/d"), WatchMessages::Fate::kExists, Add(QueryBuilder("c")));
  EXPECT_TRUE(messages.SendSome(sink_, kLater));
  EXPECT_THAT(sink_.sent, ElementsAre("c/d masked", "c/d masked", "c/d"));
  EXPECT_THAT(sink_.targets,
              UnorderedElementsAre(ElementsAre(1, 3), ElementsAre(2), ElementsAre(4, 5)));
  EXPECT_THAT(sink_.removed, ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(6)));
}

TEST_F(WatchDeltaTest, NothingIsSentToAFullSink) {
  WatchMessages messages;
  for (int i = 0; i < 5; ++i) {
    messages.Enter(Path("c/d"), Number(1), Add(QueryBuilder("c"), MaskOf("f" + std::to_string(i))));
  }
  messages.Leave(Path("c/e"), WatchMessages::Fate::kDeleted, *targets_[0]);
  messages.Leave(Path("c/f"), WatchMessages::Fate::kExists, *targets_[0]);
  for (size_t sent = 0; sent < 7; ++sent) {
    EXPECT_EQ(sink_.sent.size(), sent);
    sink_.room = 1;
    EXPECT_EQ(messages.SendSome(sink_, kLater), sent == 6);
  }
  EXPECT_EQ(sink_.sent[5], "c/e deleted");
  EXPECT_EQ(sink_.sent[6], "c/f left");
  EXPECT_TRUE(messages.empty());
}

TEST_F(WatchDeltaTest, AWindowThatIsReadAgainSendsTheDifference) {
  TargetState& target = Add(QueryBuilder("c").Ascending("n").Limit(3));
  ASSERT_TRUE(Show(*target.window, {1, 2, 3}));
  WatchDelta delta;
  Delete(delta, target, 1);
  ASSERT_EQ(Resolve(delta, {2, 3, 4}), Status());
  EXPECT_TRUE(resolved_.messages.SendSome(sink_, kLater));
  EXPECT_THAT(sink_.sent, ElementsAre("c/1 deleted", "c/4"));
}

TEST_F(WatchDeltaTest, WindowsThatFindTooMuchStartOver) {
  const size_t of_one = 256 + 3 + Number(4)->size();
  for (const bool fits : {true, false}) {
    TargetState& target = Add(QueryBuilder("c").Ascending("n").Limit(3));
    ASSERT_TRUE(Show(*target.window, {1, 2, 3}));
    WatchDelta delta;
    for (const int64_t number : {1, 2, 3}) Delete(delta, target, number);
    resolved_ = ResolvedDelta();
    refill_bytes_max_ = fits ? 3 * of_one : 3 * of_one - 1;
    const size_t held_before = memory_.bytes();
    ASSERT_EQ(Resolve(delta, {4, 5, 6}), Status());
    EXPECT_EQ(resolved_.messages.empty(), !fits);
    EXPECT_EQ(resolved_.to_reset.size(), fits ? 0u : 1u);
    EXPECT_EQ(memory_.bytes() - held_before, fits ? 3 * of_one : 0u);
    EXPECT_EQ(resolved_.refill_bytes, fits ? 3 * of_one : 0u);
  }
}

TEST_F(WatchDeltaTest, AllWindowsTogetherFindABoundedAmount) {
  WatchDelta delta;
  for (int i = 0; i < 5; ++i) {
    TargetState& target = Add(QueryBuilder("c").Ascending("n").Limit(1));
    ASSERT_TRUE(Show(*target.window, {1}));
    Delete(delta, target, 1);
  }
  refill_bytes_max_ = 2 * (256 + 3 + Number(4)->size());
  ASSERT_EQ(Resolve(delta, {4}), Status());
  EXPECT_THAT(resolved_.to_reset, ElementsAre(3, 4, 5));
}

TEST_F(WatchDeltaTest, AWindowWithoutMemoryEnds) {
  TargetState& grows = Add(QueryBuilder("c").Ascending("n").Limit(2));
  TargetState& shrinks = Add(QueryBuilder("c").Ascending("n").Limit(2));
  ASSERT_TRUE(Show(*shrinks.window, {1, 2}));
  Add(QueryBuilder("c"));
  WatchDelta delta;
  Delete(delta, shrinks, 1);
  delta.Add(grows, ChangeOf("c/9", nullptr, Number(9)));
  delta.Add(*targets_[2], ChangeOf("c/9", nullptr, Number(9)));
  budget_.Take(budget_.bytes_max() - budget_.used_bytes());
  ASSERT_EQ(Resolve(delta, {2, 3}), Status());
  EXPECT_THAT(resolved_.to_end, ElementsAre(1, 2));
  EXPECT_TRUE(resolved_.messages.SendSome(sink_, kLater));
  EXPECT_THAT(sink_.targets, ElementsAre(ElementsAre(3)));
}

TEST_F(WatchDeltaTest, AnErrorWhilePausingEndsTheWork) {
  WatchDelta delta;
  for (int i = 0; i < 10; ++i) {
    delta.Add(Add(QueryBuilder("c")), ChangeOf("c/9", nullptr, Number(9)));
  }
  pauses_left_ = 9;
  EXPECT_EQ(Resolve(delta, {}).code(), Code::kCancelled);
  pauses_left_ = 10;
  EXPECT_EQ(Resolve(delta, {}), Status());
}

}  // namespace
}  // namespace hearth::watch
