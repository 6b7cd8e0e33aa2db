// How a browser signs in and out: what sets and drops cookies, and so lies beside the router.
//
//   POST   /api/v1/sessions            {"user", "password"} -> 201 and the session's cookie
//   DELETE /api/v1/sessions/current    204; the session ends, here and in the browser
//   GET    /auth/oidc/login?next=/…    303 to the provider
//   GET    /auth/oidc/callback         303 to `next`, signed in
//
// A sign-in ends the session that the browser had. Guessing is slowed by name and address (429 with
// Retry-After). Errors are problem documents, or a page for who asks for HTML; neither they nor the
// access log, which has paths alone, ever show a code, token or state.
#pragma once

#include <optional>
#include <string>

#include "oidc/client.h"
#include "server/exchange.h"
#include "service/service.h"

namespace exa {

class SessionPages {
 public:
  // `oidc`: none when there is no provider. `public_url`: as browsers know this server; empty: as
  // each request says.
  SessionPages(Service& service, OidcClient* oidc, std::string public_url)
      : service_(service), oidc_(oidc), public_url_(std::move(public_url)) {}

  // nullopt: it is another path. Any thread that may wait; the provider is waited for.
  std::optional<Outgoing> answer(const Incoming& incoming, const std::string& request_id);

 private:
  Result<Outgoing> sign_in_with_password(const Incoming& incoming);
  Result<Outgoing> sign_out_here(const Incoming& incoming);
  Result<Outgoing> to_provider(const Incoming& incoming);
  Result<Outgoing> from_provider(const Incoming& incoming);
  bool secure(const Incoming& incoming) const;

  Service& service_;
  OidcClient* oidc_;
  std::string public_url_;
};

}  // namespace exa
