// Does long work after the caller was told so (202), a few pieces at a time: they must not take the
// threads that answer everybody else. Records: service/operations.h.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "api/router.h"
#include "store/store.h"

namespace exa {

class OperationRunner {
 public:
  static constexpr size_t kAtOnce = 2;
  static constexpr size_t kMostWaiting = 32;               // more are told to come again (429)
  static constexpr size_t kMostBytes = size_t{128} << 20;  // of requests that wait; likewise

  OperationRunner(Service& service, Router& router);
  ~OperationRunner();  // stops
  OperationRunner(const OperationRunner&) = delete;
  OperationRunner& operator=(const OperationRunner&) = delete;

  // Marks what dead workers left behind, and begins to work.
  Result<void> start();
  // 202 with the operation, or the refusal that the request would have got at once. Any thread.
  Reply begin(const Request& request);
  // Ends what runs at its next step; it and what waits are recorded as interrupted.
  void stop();

 private:
  struct Piece {
    std::string id;
    Request request;
  };

  Result<Reply> take(const Request& request, const Call& call);
  bool full(const Request& request);
  void work();
  Reply reply_to(Piece& piece);  // takes its request
  void end_unwanted();           // of those that wait
  void finish(const std::string& id, const Reply& reply);
  void keep_noting();

  Service& service_;
  Router& router_;
  const std::string worker_;  // the name that this process owns
  std::unique_ptr<Ownership> owned_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace exa
