import { fieldsBut, Prisma, selected } from '#lib/database';
import { HIDDEN_OF_RUNS } from '../domain/task-view.js';

/**
 * The end of the lease of `task_runs r`. No heartbeat writes to a run: a lease that heartbeats
 * renew is computed from the last of them.
 */
export const LEASE_END = `greatest(r.lease_expires_at, CASE WHEN r.lease_by_heartbeat
  AND r.ended_at IS NULL THEN (
    SELECT h.last_seen_at + make_interval(secs => r.lease_seconds) FROM agent_heartbeats h
    WHERE h.workspace_id = r.workspace_id AND h.agent_id = r.agent_id) END)`;

const FIELDS = fieldsBut(Prisma.TaskRunScalarFieldEnum, [...HIDDEN_OF_RUNS, 'leaseExpiresAt']);

/** The columns of RunRow from `task_runs r`. */
export const RUN_COLUMNS = `${selected('r', FIELDS)}, ${LEASE_END} AS "leaseExpiresAt"`;
