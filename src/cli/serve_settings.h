// What `exa serve` takes: its flags, and what they say once they are checked together.
#pragma once

#include "cli/local.h"
#include "cli/local_commands.h"
#include "oidc/client.h"
#include "server/forwarded.h"
#include "server/listen_address.h"
#include "server/webhook.h"

namespace exa {

struct ServeSettings {
  Home home;
  std::optional<ListenAddress> listen;  // none: the socket alone
  std::string certificate;              // with its key, or neither
  std::string key;
  std::string access_log;
  int64_t threads = 0;
  Duration drain = seconds(30);
  Duration reconcile = seconds(30);  // how often the Compute controller looks
  std::optional<WebhookTarget> webhook;
  std::optional<OidcSettings> oidc;
  std::string public_url;
  std::vector<AddressRange> trusted_proxies;
};

Route serve_row();

// usage for what does not go together: an address that others reach without TLS, a certificate
// without its key, a webhook without a secret.
Result<ServeSettings> serve_settings(const LocalCall& call);

}  // namespace exa
