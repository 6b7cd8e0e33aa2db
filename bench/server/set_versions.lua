-- wrk script: every request sets the next version of one of many profiles, each with a text of its own.
-- Environment: EXA_BENCH_TOKEN; EXA_BENCH_DELAY (ms between a connection's requests, default none).
local threads = 0
local pause = tonumber(os.getenv("EXA_BENCH_DELAY") or "0")
local count = 0

function setup(thread)
  thread:set("id", threads)
  threads = threads + 1
end

function init()
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Authorization"] = "Bearer " .. (os.getenv("EXA_BENCH_TOKEN") or "")
end

function request()
  count = count + 1
  local path = string.format("/api/v1/hardware-profiles/set-%d-%d/versions", id, count % 500)
  return wrk.format(nil, path, nil, string.format(
    '{"accelerator_family":"nvidia","gpu_count":2,"cpu":8,"memory_gb":32,"description":"run %d of thread %d"}', count, id))
end

if pause > 0 then
  function delay() return pause end
end

function done(summary)
  io.write(string.format("not-2xx %d socket-errors %d\n", summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
