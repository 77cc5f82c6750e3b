-- Operators disable a user and the user's hooks in all workspaces, as the service role.
GRANT UPDATE (disabled_at, version, updated_at) ON inbound_hooks TO drover_service;
