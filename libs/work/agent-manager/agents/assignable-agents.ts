import type { SqlRunner } from '#lib/database';
import { DroverError, type ErrorCode } from '#lib/kernel';
import { takeByName } from './take-by-name.sql.js';

/** An agent to which a request assigns a task, with the field's name in the request. */
export interface NamedAgent {
  field: string;
  agentId: string;
}

/**
 * Allows tasks to require exactly these agents. Does nothing if none is named.
 *
 * @throws DroverError `agent_not_found`, `agent_terminated`
 */
export async function prepareAssignment(
  runner: SqlRunner,
  workspaceId: string,
  named: readonly NamedAgent[],
): Promise<void> {
  if (named.length === 0) return;
  const ids = [...new Set(named.map(({ agentId }) => agentId.toLowerCase()))].sort();
  const rows = await runner.rows(takeByName, [workspaceId, ids]);
  const lifecycles = new Map(rows.map(({ id, lifecycle }) => [id, lifecycle]));
  const lifecycleOf = ({ agentId }: NamedAgent) => lifecycles.get(agentId.toLowerCase());
  refuse(
    'agent_not_found',
    named.filter((one) => lifecycleOf(one) === undefined),
  );
  refuse(
    'agent_terminated',
    named.filter((one) => lifecycleOf(one) === 'TERMINATED'),
  );
}

function refuse(code: ErrorCode, named: readonly NamedAgent[]): void {
  const message =
    code === 'agent_terminated' ? 'names a terminated agent' : 'names no agent of this workspace';
  const errors = named.map(({ field }) => ({ field, message }));
  if (errors.length > 0) throw new DroverError(code, { errors });
}
