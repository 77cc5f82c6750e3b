-- The statements as they run. Made by `npm run generate`; change the modules that declare them.

-- drover_flush
SELECT pg_logical_emit_message(true, 'drover', '')

-- drover_set_tenant
SELECT set_config('app.workspace_id', $1, true)
