// Sign-in at an OpenID Connect provider: authorization code with PKCE (RFC 6749, RFC 7636, OpenID
// Connect Core 1.0 §3.1, Discovery 1.0). One provider, which configuration names; nothing that a
// browser sends decides where this machine connects to.
//
// Thread-safe. What the provider said of itself and its keys are kept; keys are read again when a
// token names one that is not there, at most every 30 seconds, and once an hour.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "discover/http.h"
#include "oidc/id_token.h"
#include "oidc/pending.h"

namespace exa {

struct OidcSettings {
  std::string issuer;  // https://…, or http:// on this machine; compared letter by letter
  std::string client_id;
  Secret client_secret;
  std::string groups_claim = "groups";
  std::string public_url;  // of exa, as browsers know it: "https://exa.example.org"
  std::vector<JwsAlgorithm> algorithms{JwsAlgorithm::rs256, JwsAlgorithm::es256,
                                       JwsAlgorithm::eddsa};
  Pem ca;  // trusted instead of the system's authorities

  std::string redirect_uri() const { return public_url + "/auth/oidc/callback"; }
};
// All problems of the settings at once.
Result<void> check_oidc_settings(const OidcSettings& settings);
// https://…, or http:// to this machine; no user name, query or fragment. Pure.
bool is_trustworthy_url(std::string_view url);

// Whom the provider vouches for.
struct ProviderIdentity {
  std::string subject;
  std::string name;  // preferred; the first part of the address otherwise
  std::string display_name;
  std::vector<std::string> groups;
};

using QueryFields = std::vector<std::pair<std::string, std::string>>;  // decoded

class OidcClient {
 public:
  using Send = std::function<Result<HttpReply>(const HttpRequest&)>;
  OidcClient(OidcSettings settings, Send send, Clock clock);

  struct Begun {
    std::string url;      // send the browser here
    std::string pending;  // and let it keep this
  };
  // unreachable, probe_failed: of the provider.
  Result<Begun> begin(const std::string& next);

  struct Finished {
    ProviderIdentity who;
    std::string next;
  };
  // What the browser came back with. Beside the errors of begin:
  //   invalid_input    this is no answer to a sign-in that this browser began lately
  //   unauthenticated  the provider, or what it vouches with, says no
  Result<Finished> finish(const QueryFields& query, std::string_view pending);

  const OidcSettings& settings() const { return settings_; }

 private:
  struct Provider {
    std::string authorization;
    std::string token;
    std::string keys;
    std::string userinfo;  // empty: it has none
    bool secret_in_body = false;
    bool names_issuer = false;  // RFC 9207
    bool has_groups_scope = false;
  };
  struct Tokens {
    std::string id_token;
    Secret access_token;
  };

  Result<HttpReply> ask(HttpRequest request) const;
  Result<json::object> fetch(HttpRequest request, std::string_view what) const;
  Result<std::shared_ptr<const Provider>> provider();
  Result<Provider> discover() const;
  Result<std::shared_ptr<const JwkSet>> keys(const Provider& provider, std::string_view key_id);
  Result<Tokens> exchange(const Provider& provider, const std::string& code,
                          const std::string& verifier) const;
  Result<json::object> vouched(const Provider& provider, const Tokens& tokens,
                               const std::string& nonce);
  Result<void> add_userinfo(const Provider& provider, const Tokens& tokens,
                            json::object& claims) const;

  const OidcSettings settings_;
  const Send send_;
  const Clock clock_;
  const PendingSeal seal_;

  std::mutex mutex_;  // of what follows; not held while the provider is asked
  std::shared_ptr<const Provider> provider_;
  Time provider_since_;
  std::shared_ptr<const JwkSet> keys_;
  Time keys_since_;
  Time looked_for_key_;
};

}  // namespace exa
