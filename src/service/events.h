// What changed, in order, for whoever watches: the audit log's done entries, seen through the eyes
// of one caller. A revision is the length of the log with its entry, so events are ordered, unique
// and resumable, and every replica numbers them alike.
#pragma once

#include "service/service.h"

namespace exa {

struct Event {
  int64_t revision = 0;
  Time time;
  std::string action;  // "hardware_profile.set"
  std::string kind;    // of the object: "hardware_profile"
  std::string name;
  std::string project;  // empty: of the platform
  std::optional<int64_t> version;
  std::string actor;
  json::array
      changes;  // statuses that changed with it: {project, name, version, cluster, from, to}
};

json::object to_json(const Event& event);

// Events after `since`, the oldest first, at most `limit`, and up to which revision was looked at
// (entries that are no events count). history_gone when `since` is not a revision of this log: it
// was restored from an earlier copy, or belongs to another installation.
struct EventBatch {
  std::vector<Event> events;
  int64_t seen = 0;
};
Result<EventBatch> events_after(Transaction& tx, int64_t since, int64_t limit);
Result<int64_t> newest_revision(Transaction& tx);  // 0: nothing was changed yet

// Who hears of what: the events of the projects that they know, and the platform's.
struct Listener {
  Projects known;
  Projects writes_skus;  // where they may write compute profiles
};
Listener listener_of(const Rights& rights);
// Statuses of profiles elsewhere are left out of `changes`. What happens to compute profiles of the
// catalogue is for those who write them: a draft, or whom it is shared with, is nobody else's.
std::optional<Event> seen_by(const Listener& listener, const Event& event);

struct ListEvents {
  std::optional<int64_t> since;  // none: only where the log stands
  int64_t limit = 100;
};
Result<Answer> list_events(Service& service, const Caller& caller, const ListEvents& what);

}  // namespace exa
