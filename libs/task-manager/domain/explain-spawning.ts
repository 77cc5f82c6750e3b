import type { PauseFacts, SpawnFacts } from './explain-facts.js';
import type { Reason } from './explain-reasons.js';

/** What keeps push agents with room from being given a task. */
export function spawnObstacles(facts: SpawnFacts | null): Reason[] {
  if (facts === null) return [];
  if (!facts.configured || facts.gateways === 0 || facts.resting) return [unreachable(facts)];
  const full: Reason = {
    code: 'gateway_full',
    message: `The ${facts.gateways === 1 ? 'gateway runs' : `${facts.gateways} gateways run`} as many sessions as can be.`,
    facts: { gateways: facts.gateways },
  };
  return [...(facts.room > 0 ? [] : [full]), ...facts.rates.map(rateReached)];
}

function unreachable({ configured, gateways, lastSeenAt, resting }: SpawnFacts): Reason {
  const heard = lastSeenAt?.toISOString() ?? null;
  const last = heard === null ? 'no gateway has ever been heard' : `the last beat came at ${heard}`;
  const silent = gateways === 0 ? `The gateway is silent: ${last}.` : null;
  const message = configured
    ? (silent ?? 'The gateway does not answer; it is asked again in some seconds.')
    : 'No gateway is configured to run the sessions of push agents.';
  const facts = { configured, lastSeenAt: heard, resting };
  return { code: 'gateway_unreachable', message, facts };
}

function rateReached({ scope, perMinute, nextAt }: SpawnFacts['rates'][number]): Reason {
  const whose = scope === 'installation' ? 'All workspaces together' : 'The workspace';
  const next = nextAt === null ? 'none is allowed' : `the next is allowed at ${iso(nextAt)}`;
  return {
    code: 'spawn_rate_reached',
    message: `${whose} may spawn ${perMinute} sessions a minute, and ${next}.`,
    facts: { scope, perMinute, nextAt: nextAt === null ? null : iso(nextAt) },
  };
}

const WHAT_IS_PAUSED = {
  everything: () => 'Everything in this installation',
  workspace: () => 'The workspace',
  task_type: (type: string) => `The task type "${type}"`,
};

/** A switch that is turned off, by whom and why. */
export function heldByPause(pause: PauseFacts): Reason {
  const { scope, taskType, reason, by, byName, since, until } = pause;
  const who = byName === null ? by : `${byName} (${by})`;
  const end = until === null ? 'until somebody ends the pause' : `until ${until}`;
  const message = `${WHAT_IS_PAUSED[scope](taskType ?? '')} was paused by ${who} at ${since}, ${end}: ${asSentence(reason)}`;
  return { code: 'held_by_pause', message, facts: pause };
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function iso(at: Date): string {
  return at.toISOString();
}
