import { redactText } from '#lib/kernel';
import type { PauseFacts, SpawnAttempts, SpawnFacts } from './explain-facts.js';
import type { OtherReason as Reason } from './reasons.js';

/** Returns the reasons that prevent another session of push agents. */
export function spawnObstacles(facts: SpawnFacts | null): Reason[] {
  if (facts === null) return [];
  const obstacle = unreachable(facts);
  if (obstacle) return [obstacle];
  if (facts.gateways === 0) return [leaving(facts), ...facts.rates.map(rateReached)];
  const full: Reason = {
    code: 'gateway_full',
    message:
      `The ${facts.gateways === 1 ? 'gateway runs' : `${facts.gateways} gateways run`} as ` +
      'many sessions as can be.',
    facts: { gateways: facts.gateways },
  };
  return [...(facts.room > 0 ? [] : [full]), ...facts.rates.map(rateReached)];
}

function leaving({ draining }: SpawnFacts): Reason {
  const who = draining === 1 ? 'The gateway is' : `All ${draining} gateways are`;
  return {
    code: 'gateway_draining',
    message: `${who} draining: running sessions can end, and none starts.`,
    facts: { gateways: draining },
  };
}

/** The reason if no gateway can be asked. Null if one can. */
export function unreachable(facts: SpawnFacts): Reason | null {
  const { configured, gateways, draining, lastSeenAt, resting } = facts;
  const heard = lastSeenAt?.toISOString() ?? null;
  const message = howUnreachable(facts, heard);
  if (configured && gateways + draining > 0 && !resting) return null;
  return {
    code: 'gateway_unreachable',
    message,
    facts: { configured, lastSeenAt: heard, resting },
  };
}

function howUnreachable(
  { configured, gateways, draining }: SpawnFacts,
  heard: string | null,
): string {
  if (!configured) return 'No gateway is configured to run the sessions of push agents.';
  if (gateways + draining > 0)
    return 'The gateway does not answer; it is asked again in some seconds.';
  const last =
    heard === null ? 'no gateway ever sent a heartbeat' : `the last heartbeat came at ${heard}`;
  return `The gateway is unresponsive: ${last}.`;
}

/** The session that an assigned task waits for, with its obstacles. */
export function beingSpawned(spawn: SpawnAttempts, spawning: SpawnFacts | null): Reason[] {
  const { attempts, lastError, since, nextAttemptAt } = spawn;
  const error = lastError === null ? null : redactText(lastError);
  const said = error === null ? '' : ` The last error: ${asSentence(error)}`;
  const asked = attempts === 0 ? 'not been asked yet' : `been asked ${times(attempts)}`;
  const message = `Its session is being spawned since ${iso(since)}; the gateway has ${asked}.${said}`;
  const facts = {
    attempts,
    lastError: error,
    since: iso(since),
    nextAttemptAt: iso(nextAttemptAt),
  };
  const obstacle = spawning && unreachable(spawning);
  return [{ code: 'session_being_spawned', message, facts }, ...(obstacle ? [obstacle] : [])];
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function rateReached({ scope, perMinute, nextAt }: SpawnFacts['rates'][number]): Reason {
  const whose = scope === 'installation' ? 'All workspaces together' : 'The workspace';
  const next = nextAt === null ? 'none is allowed' : `the next is allowed at ${iso(nextAt)}`;
  return {
    code: 'spawn_rate_reached',
    message:
      `${whose} may spawn ${perMinute} ${perMinute === 1 ? 'session' : 'sessions'} a ` +
      `minute, and ${next}.`,
    facts: { scope, perMinute, nextAt: nextAt === null ? null : iso(nextAt) },
  };
}

const WHAT_IS_PAUSED = {
  everything: () => 'Everything in this installation',
  workspace: () => 'The workspace',
  task_type: (type: string) => `The task type "${type}"`,
};

/** A pause with its author and reason. */
export function heldByPause(pause: PauseFacts) {
  const { scope, taskType, reason, by, byName, since, until } = pause;
  const who = by === 'operator' ? 'an operator' : byName === null ? by : `${byName} (${by})`;
  const end = until === null ? 'until somebody ends the pause' : `until ${until}`;
  const message =
    `${WHAT_IS_PAUSED[scope](taskType ?? '')} was paused by ${who} at ${since}, ${end}: ` +
    `${asSentence(reason)}`;
  return { message, facts: pause };
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function iso(at: Date): string {
  return at.toISOString();
}
