import { type Agent, columnOf, type Columns, command, recordOf } from '#lib/database';

/*
 * Not through Prisma: the generated client writes no table whose rows have states, so that nothing gets around
 * the one writer of a state (test/architecture). What a registration leaves out is no key of its JSON: it leaves
 * the column as it is, or gives a new row its default.
 */

const TYPES = {
  name: 'text',
  mode: 'text',
  model: 'text',
  capabilities: 'text[]',
  coordinatorEnabled: 'boolean',
  maxConcurrentTasks: 'int',
  heartbeatIntervalSeconds: 'int',
  staleThresholdSeconds: 'int',
  hostName: 'text',
  pid: 'int',
  agentVersion: 'text',
  restartCount: 'int',
  metadata: 'jsonb',
  command: 'text[]',
} as const satisfies Columns<Agent>;

const DEFAULTS: Columns<Agent> = {
  mode: `'pull'`,
  capabilities: `'{}'`,
  coordinatorEnabled: 'true',
  maxConcurrentTasks: '1',
  restartCount: '0',
  metadata: `'{}'`,
  command: `'{}'`,
};

const FIELDS = Object.keys(TYPES) as (keyof typeof TYPES)[];
const given = (field: keyof typeof TYPES) =>
  DEFAULTS[field] ? `coalesce(r."${field}", ${DEFAULTS[field]})` : `r."${field}"`;
const changed = (field: keyof typeof TYPES) =>
  `${columnOf(field)} = CASE WHEN $3::jsonb ? '${field}' THEN r."${field}" ELSE a.${columnOf(field)} END`;

/**
 * Makes an agent, as STARTING. Answers no row when the id is in use, here or in another workspace.
 *
 * Indexes: primary key, agents_id_key. $1 workspace, $2 agent, $3 its fields as JSON, $4 the user who made it
 * or NULL.
 */
export const insertAgent = command<{ id: string }>(
  'insert_agent',
  `
INSERT INTO agents (workspace_id, id, created_by, ${FIELDS.map(columnOf).join(', ')})
SELECT $1, $2, $4, ${FIELDS.map(given).join(', ')}
FROM jsonb_to_record($3::jsonb) AS r (${recordOf(TYPES)})
ON CONFLICT DO NOTHING
RETURNING id`,
);

/**
 * Changes what an agent says of itself; never its lifecycle. The command may have been mended: it rests no more.
 *
 * With the row locked. Index: primary key. $1 workspace, $2 agent, $3 its fields as JSON.
 */
export const updateAgent = command<{ id: string }>(
  'update_agent',
  `
UPDATE agents a SET version = a.version + 1, updated_at = now(), setup_failures = 0, resting_until = NULL,
  ${FIELDS.map(changed).join(',\n  ')}
FROM jsonb_to_record($3::jsonb) AS r (${recordOf(TYPES)})
WHERE a.workspace_id = $1 AND a.id = $2
RETURNING a.id`,
);
