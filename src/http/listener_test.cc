#include "http/listener.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "http/event_loop.h"
#include "http/testing/test_server.h"
#include "http/testing/test_socket.h"

namespace hearth::http {
namespace {

// An accept in progress holds a socket of the loop whose turn is next. Here that is the second
// loop, which is destroyed before the first one.
TEST(ListenerTest, StopsOnlyWhenNoAcceptIsUnderWay) {
  std::vector<std::shared_ptr<EventLoop>> loops = {std::make_shared<EventLoop>(),
                                                   std::make_shared<EventLoop>()};
  auto listener = std::make_unique<Listener>(loops);
  const Result<ListenAddress> address = listener->Bind({.host = "127.0.0.1", .port = 0});
  ASSERT_TRUE(address.ok()) << address.status().ToString();
  Watched<int> accepted;
  listener->Accept([&](boost::asio::ip::tcp::socket socket, size_t) {
    socket.close();
    accepted.Update([](int& count) { ++count; });
  });
  std::thread first([&] { loops[0]->Run(); });
  const TestSocket client(address->port);
  ASSERT_TRUE(accepted.WaitFor([](int count) { return count == 1; }));

  bool returned = false;
  bool returned_before_it_stopped = false;
  loops[0]->Post([&] {
    listener->Stop([&] {
      returned_before_it_stopped = returned;
      loops[0]->Stop();
    });
    returned = true;
  });
  first.join();
  EXPECT_TRUE(returned_before_it_stopped);
  listener.reset();
  loops[1].reset();
  loops[0].reset();
}

}  // namespace
}  // namespace hearth::http
