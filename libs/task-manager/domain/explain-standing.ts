import type { Places, Standing } from './estimate.js';
import type { AgentGroup, ExplainFacts } from './explain-facts.js';

/** Where a task stands, for the estimate of when it starts and ends. */
export function standingOf(facts: ExplainFacts): Standing {
  const { task } = facts;
  switch (task.status) {
    case 'ASSIGNED':
    case 'RUNNING':
      return { kind: 'running', since: task.startedAt ?? task.assignedAt ?? facts.now };
    case 'PAUSED':
      return { kind: 'unknown', reason: 'paused' };
    case 'PENDING':
      return waitingStanding(facts);
    case 'ABORTED':
      return task.retryAt ? waitingStanding(facts) : { kind: 'unknown', reason: 'ended' };
    default:
      return { kind: 'unknown', reason: 'ended' };
  }
}

function waitingStanding(facts: ExplainFacts): Standing {
  const { task, pauses, now } = facts;
  const isOver = task.queueExpiresAt !== null && task.queueExpiresAt <= now;
  if (isOver) return { kind: 'unknown', reason: 'ended' };
  if (task.unmetDependencies > 0) return { kind: 'unknown', reason: 'waiting_for_dependency' };
  if (pauses.some(({ until }) => until === null)) return { kind: 'unknown', reason: 'paused' };
  const places = placesOf(facts);
  if (places.all === 0) return { kind: 'unknown', reason: 'no_agent' };
  const starts = pauses.map(({ until }) => Date.parse(until ?? ''));
  if (task.retryAt) starts.push(task.retryAt.getTime());
  if (starts.length === 0) return { kind: 'queued', ahead: facts.ahead.count, places };
  return { kind: 'later', from: new Date(Math.max(...starts)), places };
}

/** Push agents have none while no gateway could run their sessions. */
function placesOf({ agents, spawning }: ExplainFacts): Places {
  const canSpawn = spawning === null || (spawning.configured && spawning.gateways > 0);
  const counted = agents.filter(
    ({ standing }) =>
      standing === 'free' || standing === 'full' || (standing === 'assignable' && canSpawn),
  );
  const total = (of: (group: AgentGroup) => number) =>
    counted.reduce((sum, group) => sum + of(group), 0);
  return { all: total((group) => group.places), free: total((group) => group.freePlaces) };
}
