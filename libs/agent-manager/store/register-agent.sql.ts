import { command } from '#lib/database';

/**
 * What a registration says, as JSON: a key that is not there leaves its column as it is, or gives a
 * new row its default.
 */
export interface RegisteredColumns {
  name: string;
  mode?: string;
  model?: string | null;
  capabilities?: string[];
  coordinator_enabled?: boolean;
  max_concurrent_tasks?: number;
  heartbeat_interval_seconds: number;
  stale_threshold_seconds: number;
  host_name?: string | null;
  pid?: number | null;
  agent_version?: string | null;
  restart_count?: number;
  metadata?: Record<string, unknown>;
  command?: string[];
}

const TYPES: Record<keyof RegisteredColumns, string> = {
  name: 'text',
  mode: 'text',
  model: 'text',
  capabilities: 'text[]',
  coordinator_enabled: 'boolean',
  max_concurrent_tasks: 'int',
  heartbeat_interval_seconds: 'int',
  stale_threshold_seconds: 'int',
  host_name: 'text',
  pid: 'int',
  agent_version: 'text',
  restart_count: 'int',
  metadata: 'jsonb',
  command: 'text[]',
};

const DEFAULTS: Partial<Record<keyof RegisteredColumns, string>> = {
  mode: `'pull'`,
  capabilities: `'{}'`,
  coordinator_enabled: 'true',
  max_concurrent_tasks: '1',
  restart_count: '0',
  metadata: `'{}'`,
  command: `'{}'`,
};

const COLUMNS = Object.keys(TYPES) as (keyof RegisteredColumns)[];
const RECORD = COLUMNS.map((name) => `${name} ${TYPES[name]}`).join(', ');

/**
 * Makes an agent, as STARTING. Answers no row when the id is in use, here or in another workspace.
 *
 * Caller: AgentRegistration. Indexes: primary key, agents_id_key.
 * $1 workspace, $2 agent, $3 RegisteredColumns as JSON, $4 the user who made it or NULL.
 */
export const insertAgent = command<{ id: string }>(
  'insert_agent',
  `
INSERT INTO agents (workspace_id, id, created_by, ${COLUMNS.join(', ')})
SELECT $1, $2, $4, ${COLUMNS.map((name) => (DEFAULTS[name] ? `coalesce(r.${name}, ${DEFAULTS[name]})` : `r.${name}`)).join(', ')}
FROM jsonb_to_record($3::jsonb) AS r (${RECORD})
ON CONFLICT DO NOTHING
RETURNING id`,
);

/**
 * Changes what an agent says of itself; never its lifecycle. Whoever registers may have mended the command,
 * so it rests no more.
 *
 * Caller: AgentRegistration, with the row locked. Index: primary key.
 * $1 workspace, $2 agent, $3 RegisteredColumns as JSON.
 */
export const updateAgent = command<{ id: string }>(
  'update_agent',
  `
UPDATE agents a SET version = a.version + 1, updated_at = now(), setup_failures = 0, resting_until = NULL,
  ${COLUMNS.map((name) => `${name} = CASE WHEN $3::jsonb ? '${name}' THEN r.${name} ELSE a.${name} END`).join(',\n  ')}
FROM jsonb_to_record($3::jsonb) AS r (${RECORD})
WHERE a.workspace_id = $1 AND a.id = $2
RETURNING a.id`,
);
