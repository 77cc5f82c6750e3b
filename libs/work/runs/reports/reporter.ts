import {
  type Actor,
  type AgentTokenMarks,
  type AgentCaller,
  actorOf,
  type Caller,
  DroverError,
  type RunCaller,
  tokenMarksOf,
} from '#lib/kernel';

/** The run of a report, and its reporter with the marks of its token. */
export interface Reporter extends AgentTokenMarks {
  workspaceId: string;
  agentId: string;
  runId: string;
  actor: Actor;
}

/**
 * The reporter and the run of a report. A run token names its run. An agent's token does not, so
 * the request must: the agent may hold the same task a second time by now (see TaskReporter).
 *
 * @param runId from the path or the body
 * @param alsoNamed from the body when the path already names the run
 * @throws DroverError `run_required`, or `run_not_found` for a run token's report about another
 *   run, and for a report that names two
 */
export function reporterOf(
  caller: Caller,
  runId: string | undefined,
  alsoNamed?: string,
): Reporter {
  const side = agentSide(caller);
  const { workspaceId, agentId } = side;
  const named = runId?.toLowerCase() ?? (caller.kind === 'run' ? caller.runId : undefined);
  if (named === undefined) throw new DroverError('run_required');
  if (alsoNamed !== undefined && alsoNamed.toLowerCase() !== named) {
    const errors = [{ field: 'runId', message: 'is another run than that of the path' }];
    throw new DroverError('run_not_found', { errors });
  }
  if (caller.kind === 'run' && caller.runId !== named) throw new DroverError('run_not_found');
  const actor = actorOf(caller);
  return { workspaceId, agentId, runId: named, actor, ...tokenMarksOf(side) };
}

function agentSide(caller: Caller): AgentCaller | RunCaller {
  if (caller.kind === 'agent' || caller.kind === 'run') return caller;
  throw new DroverError('wrong_token_kind', {
    detail: 'Reports about a run need an agent or a run token.',
  });
}
