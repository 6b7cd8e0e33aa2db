// Request -> route -> authorise -> validate -> handler -> reply. Errors become RFC 9457
// problem+json; `error_of` gives the same error back to a command line.
#pragma once

#include "api/route.h"

namespace exa {

class Router {
 public:
  explicit Router(Service& service, std::span<const Route> table = routes())
      : service_(service), table_(table) {}

  // Thread-safe as far as the service is. Never throws.
  Reply handle(const Request& request);

  // As `handle` up to the handler: for work that begins later, when nobody listens for a refusal.
  // With `take`, which gets the checked call, instead of the handler.
  using Take = std::function<Result<Reply>(const Call&)>;
  Reply handle(const Request& request, const Take& take);

 private:
  Service& service_;
  std::span<const Route> table_;
};

Reply reply_of(const Error& error, std::string_view request_id);
// The error in a problem+json reply, whatever transport it came through.
Error error_of(const Reply& reply);

}  // namespace exa
