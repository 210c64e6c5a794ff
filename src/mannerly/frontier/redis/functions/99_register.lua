-- What clients call. LIBRARY is the library's own name, which tells versions apart.

local function register(name, callback, ...)
  local function_name = LIBRARY .. '_' .. name
  redis.register_function({ function_name = function_name, callback = callback, flags = { ... } })
end

register('open', open)
register('create', create)
register('enlist', enlist)
register('add', add)

-- Who frees memory, or lets go of a lease, may do so where the server has none left.
register('lease', lease, 'allow-oom')
register('claim', claim, 'allow-oom')
register('commit', commit, 'allow-oom')
register('retire', retire, 'allow-oom')
register('exclude', exclude, 'allow-oom')
register('forget', forget, 'allow-oom')
register('forget_robots', forget_robots, 'allow-oom')
register('beat', beat, 'allow-oom')
register('take_beginning', take_beginning, 'allow-oom')
register('leave_beginning', leave_beginning, 'allow-oom')
register('clear', clear, 'allow-oom')
register('vouch', vouch, 'allow-oom')
register('set_offset', set_offset, 'allow-oom')

register('moment', moment, 'no-writes')
register('explain', explain, 'no-writes')
register('robots_of', robots_of, 'no-writes')
register('waiting', waiting, 'no-writes')
register('settled', settled, 'no-writes')
register('sites', sites, 'no-writes')
register('named', named, 'no-writes')
register('due', due, 'no-writes')
register('weighed', weighed, 'no-writes')
register('facts_of', facts_of, 'no-writes')
register('crawlers', crawlers, 'no-writes')
register('stats', stats, 'no-writes')
register('settings', settings, 'no-writes')
register('writer_state', writer_state, 'no-writes')
