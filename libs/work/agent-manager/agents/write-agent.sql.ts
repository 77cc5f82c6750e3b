import { type Agent, columnOf, type Columns, command, recordOf } from '#lib/database';
import type { AgentRow } from '../domain/agent-view.js';
import { AGENT_COLUMNS } from './agent-columns.sql.js';

/** The fields of a registration. The lifecycle is no such field. */
const REGISTERED = {
  name: 'text',
  mode: 'text',
  model: 'text',
  capabilities: 'text[]',
  taskTypes: 'text[]',
  dedicatedTo: 'text[]',
  coordinatorEnabled: 'boolean',
  maxConcurrentTasks: 'integer',
  heartbeatIntervalSeconds: 'integer',
  staleThresholdSeconds: 'integer',
  hostName: 'text',
  pid: 'integer',
  agentVersion: 'text',
  restartCount: 'integer',
  bootId: 'uuid',
  metadata: 'jsonb',
  command: 'text[]',
  secrets: 'jsonb',
} satisfies Columns<Agent>;

/** All fields of a registered agent. */
export type RegisteredAgent = Pick<AgentRow, keyof typeof REGISTERED>;

const FIELDS = Object.keys(REGISTERED);
const COLUMNS = FIELDS.map(columnOf).join(', ');
const VALUES = FIELDS.map((field) => `x."${field}"`).join(', ');
const INPUT = `jsonb_to_record($3::jsonb) AS x (${recordOf(REGISTERED)})`;

/**
 * Creates an agent. No row if it exists.
 *
 * Index: primary key. $1 workspace, $2 agent, $3 its fields as JSON, $4 the user who creates it.
 */
export const insertAgent = command<AgentRow>(
  'insert_agent',
  `INSERT INTO agents AS a (workspace_id, id, created_by, ${COLUMNS})
   SELECT $1, $2, $4, ${VALUES} FROM ${INPUT}
   ON CONFLICT DO NOTHING
   RETURNING ${AGENT_COLUMNS}`,
);

/**
 * Changes a locked agent. Its command may be corrected, so a cooldown ends.
 *
 * Index: primary key. $1 workspace, $2 agent, $3 all its fields as JSON.
 */
export const changeAgent = command<never>(
  'change_agent',
  `UPDATE agents a SET (${COLUMNS}) = (SELECT ${VALUES} FROM ${INPUT}),
     setup_failures = 0, resting_until = NULL, version = a.version + 1, updated_at = now()
   WHERE a.workspace_id = $1 AND a.id = $2`,
);
