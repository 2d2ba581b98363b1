#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rpc/call.h"

namespace hearth::service {

// A call that records how it ended.
class EndedCall final : public rpc::Call {
 public:
  explicit EndedCall(http::RequestHead head = {}) : head_(std::move(head)) {}

  const http::RequestHead& head() const override { return head_; }
  bool closed() const override { return status_.has_value(); }
  Executor& executor() const override { return InlineExecutor::Get(); }
  void OnCancelled(Task) override {}
  void Send(std::string message) override { sent_.push_back(std::move(message)); }
  void Send(rpc::MessageBatch) override { ADD_FAILURE(); }
  void WhenWritable(Task) override { ADD_FAILURE(); }
  void Finish(const Status& status) override { status_ = status; }
  void Finish(rpc::MessageBatch, const Status& status) override { status_ = status; }
  void Respond(Result<std::string> answer) override { status_ = answer.status(); }

  const std::optional<Status>& status() const { return status_; }
  // Single messages, before the end.
  const std::vector<std::string>& sent() const { return sent_; }

 private:
  const http::RequestHead head_;
  std::optional<Status> status_;
  std::vector<std::string> sent_;
};

}  // namespace hearth::service
