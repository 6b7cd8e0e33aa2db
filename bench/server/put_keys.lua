-- wrk script: durable puts into etcd through its HTTP gateway, keys and values about as long as those of set_versions.
local threads = 0
local count = 0
local letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local function base64(text)
  local out = {}
  for i = 1, #text, 3 do
    local a, b, c = text:byte(i, i + 2)
    local n = a * 65536 + (b or 0) * 256 + (c or 0)
    for k = 0, 3 do
      local at = math.floor(n / 64 ^ (3 - k)) % 64
      out[#out + 1] = ((k == 2 and not b) or (k == 3 and not c)) and "=" or letters:sub(at + 1, at + 1)
    end
  end
  return table.concat(out)
end

function setup(thread)
  thread:set("id", threads)
  threads = threads + 1
end

function init()
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  count = count + 1
  local key = base64(string.format("/exa/set-%d-%d", id, count % 500))
  local value = base64(string.format(
    '{"accelerator_family":"nvidia","gpu_count":2,"cpu":8,"memory_gb":32,"description":"run %d of thread %d"}', count, id))
  return wrk.format(nil, "/v3/kv/put", nil, '{"key":"' .. key .. '","value":"' .. value .. '"}')
end

function done(summary)
  io.write(string.format("not-2xx %d socket-errors %d\n", summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
