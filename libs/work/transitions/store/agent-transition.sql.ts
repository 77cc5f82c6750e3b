import { journalRow } from './journal.sql.js';
import { AGENT_EDGES, AGENT_LIFECYCLES } from '../domain/agent-state.js';

/**
 * Transitions of agents: the only SQL that writes agents.lifecycle (a new row starts as STARTING by
 * default).
 *
 * A statement that moves agents has a CTE with the columns workspace_id, id, to_lifecycle and
 * reason, one row for each transition, and includes the CTEs of `agentTransition`. In the same
 * statement they
 *
 *     agent_moved      check the edge against AGENT_EDGES and move the rows,
 *     agent_journaled  append one `agent.status_changed` to the journal for each.
 *
 * A transition along a missing edge moves nothing and leaves no trace. Callers compare their
 * request with the rows of `agent_moved`.
 *
 * The source should have locked its rows in the order of their ids: agents are locked last, after
 * tasks and runs, and by id.
 *
 * Index: the primary key of agents, once for each transition.
 */
export function agentTransition(source: string): string {
  return `agent_moved AS (
  UPDATE agents a SET
    lifecycle = m.to_lifecycle, version = a.version + 1, updated_at = now(),
    draining_at = CASE m.to_lifecycle WHEN 'DRAINING' THEN coalesce(a.draining_at, now())
      ELSE a.draining_at END,
    error_at = CASE m.to_lifecycle WHEN 'ERROR' THEN now() ELSE NULL END,
    terminated_at = CASE m.to_lifecycle WHEN 'TERMINATED' THEN now() END,
    termination_reason = CASE m.to_lifecycle WHEN 'TERMINATED' THEN m.reason END
  FROM ${source} m
  WHERE a.workspace_id = m.workspace_id AND a.id = m.id
    AND (a.lifecycle, m.to_lifecycle) IN (${EDGE_LIST})
  RETURNING a.workspace_id, a.id, a.version, old.lifecycle AS previous_lifecycle, a.lifecycle,
    old.status AS previous_status, a.status, m.reason
),
agent_journaled AS (
  ${journalRow(
    {
      workspace_id: 'workspace_id',
      event: "'agent.status_changed'",
      log_event: "''",
      agent_id: 'id',
      version: 'version',
      previous_status: 'previous_status',
      new_status: 'status',
      reason: 'reason',
      actor_kind: "'system'",
    },
    'agent_moved',
  )}
)`;
}

const EDGE_LIST = AGENT_LIFECYCLES.flatMap((from) =>
  AGENT_EDGES[from].map((to) => `('${from}', '${to}')`),
).join(', ');
