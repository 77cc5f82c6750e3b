import { query } from '#lib/database';
import type { AgentRow } from '../domain/agent-view.js';
import { AGENT_COLUMNS } from './agent-columns.sql.js';

/**
 * One agent with its last heartbeat in one round trip.
 *
 * Index: primary key. $1 workspace, $2 agent.
 */
export const findAgent = query<AgentRow>(
  'find_agent',
  `SELECT ${AGENT_COLUMNS} FROM agents a WHERE a.workspace_id = $1 AND a.id = $2`,
);

/**
 * The same, locked until the transaction ends.
 *
 * Index: primary key. $1 workspace, $2 agent.
 */
export const lockAgent = query<AgentRow>(
  'lock_agent',
  `SELECT ${AGENT_COLUMNS} FROM agents a WHERE a.workspace_id = $1 AND a.id = $2
    FOR NO KEY UPDATE OF a`,
);
