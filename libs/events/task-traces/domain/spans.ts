import { parseTraceparent, spanIdOf, traceparentWithin } from '#lib/kernel';
import type { PastSpan } from '#lib/observability';
import type { OverPart, TracedRow } from '../consuming/traced.sql.js';

/** The parts that a message reports as ended. */
export function overParts(
  workspaceId: string,
  body: Readonly<Record<string, unknown>>,
): OverPart[] {
  const part = {
    workspace_id: workspaceId,
    task_id: String(body['taskId']),
    run_id: body['runId'] === undefined ? null : (body['runId'] as string | null),
    at: String(body['timestamp']),
  };
  if (body['event'] === 'task.status_changed') {
    const ended = body['retryAt'] === null && TASK_ENDS.has(String(body['newStatus']));
    return ended ? [{ ...part, kind: 'task' }] : [];
  }
  if (body['event'] !== 'run.state_changed') return [];
  if (body['newState'] === 'ASSIGNED') return [{ ...part, kind: 'wait' }];
  return body['reason'] === null ? [] : [{ ...part, kind: 'run' }];
}

const TASK_ENDS = new Set(['COMPLETED', 'FAILED', 'ABORTED']);

/**
 * The span of a part. Its id derives from the task or run, so a repeated report gives the same
 * span.
 */
export function spanOf(row: TracedRow): PastSpan | undefined {
  const outer = parseTraceparent(row.traceparent);
  const ofTask = parseTraceparent(traceparentWithin(row.traceparent, row.task_id));
  if (!outer || !ofTask) return undefined;
  const times = { beganAt: row.began_at, endedAt: row.ended_at };
  const attributes = attributesOf(row);
  if (row.kind === 'task') {
    const failure = row.status === 'COMPLETED' ? undefined : (reasonOf(row) ?? row.status);
    const name = `task ${row.task_type}`;
    return { ...times, name, spanId: spanIdOf(row.task_id), parent: outer, attributes, failure };
  }
  const own = spanIdOf(row.run_id ?? '');
  if (row.kind === 'run') {
    const failure = row.state === 'COMPLETED' ? undefined : (row.end_reason ?? undefined);
    return { ...times, name: 'run', spanId: own, parent: ofTask, attributes, failure };
  }
  // Another id of the same run, derived as reliably.
  const spanId = [...own].reverse().join('');
  return { ...times, name: 'wait for an agent', spanId, parent: ofTask, attributes };
}

function reasonOf({ failure_reason: failure, abort_reason: abort }: TracedRow) {
  return failure ?? abort;
}

/** Drover's own ids and words. The type of the task is the only text of a user. */
function attributesOf(row: TracedRow): PastSpan['attributes'] {
  const all = {
    'drover.workspace.id': row.workspace_id,
    'drover.task.id': row.task_id,
    'drover.task.type': row.task_type,
    'drover.run.id': row.run_id,
    'drover.run.generation': row.generation,
    'drover.agent.id': row.agent_id,
    'drover.run.end_reason': row.end_reason,
  };
  const known = Object.entries(all).filter(([, value]) => value !== null);
  return Object.fromEntries(known) as PastSpan['attributes'];
}
