import { command } from '#lib/database';
import { isInFleet } from '#lib/transitions';
import { ownCapability } from '../domain/capabilities.js';

const OWN = `'${ownCapability('')}' || a.id`;

/**
 * Gives each agent the capability of its own name, so that a task can require exactly that agent.
 * Agents that have it are not written.
 *
 * Index: primary key. $1 workspace, $2 agents.
 */
export const takeByName = command<{ id: string; lifecycle: string }>(
  'take_by_name',
  `
WITH unnamed AS MATERIALIZED (
  SELECT a.id FROM agents a
  WHERE a.workspace_id = $1 AND a.id = ANY($2::uuid[]) AND ${isInFleet('a')}
    AND NOT (${OWN}) = ANY(a.capabilities)
  ORDER BY a.id FOR NO KEY UPDATE
),
named AS (
  UPDATE agents a SET capabilities = ARRAY(SELECT c FROM unnest(a.capabilities || (${OWN})) c
    ORDER BY c COLLATE "C")
  FROM unnamed u WHERE a.workspace_id = $1 AND a.id = u.id
)
SELECT id, lifecycle FROM agents WHERE workspace_id = $1 AND id = ANY($2::uuid[])`,
);
