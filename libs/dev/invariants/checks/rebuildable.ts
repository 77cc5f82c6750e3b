import type { SqlRunner } from '#lib/database';
import { agentKey } from '#lib/kernel';
import { heartbeatTtlSeconds, ValkeyClient } from '#lib/valkey';
import { heartbeatsKnown, type KnownHeartbeat } from './heartbeats-known.sql.js';
import { withRunner } from './runner.js';
import type { Outcome, Violation } from './invariant.js';
import { compareViews, readViews } from './views.js';

export interface ValkeyPlace {
  url: string;
  keyPrefix?: string;
}

const HEARTBEAT = 'agent:heartbeat:';
/**
 * Keys without facts, which can be created again. The lock has its lease in Postgres. A counter of
 * attempts forgives one window. Those of usage are a view: their position is lost with them, and
 * they are rebuilt from the reports of the last day. Those of tasks, runs and agents are a view as
 * well: without their position, the consumer `runtime-views` writes all of them from Postgres. A
 * heartbeat without a workspace returns with the agent's next one.
 */
const DISPENSABLE = [
  /^coordinator:lock:/,
  /^rate:/,
  /^usage:(?:position$|(?:current|task|alerts):)/,
  /^coordinator:(?:agent_deadlines|heartbeat_epoch)$/,
  /^views:position$/,
  /^tasks:(?:pending|active):/,
  /^agent:(?:tasks|status|heartbeat):[^:]*$/,
  /^coordinator:(?:stale_agents$|recovery_queue:)/,
  /^task:assign_lock:/,
  /^session:context:/,
];
/** Heartbeats are written within about a second. Postgres must have them after this many. */
const FLUSH_SECONDS = 10;
const SHOWN_VIOLATIONS = 5;

/**
 * Whether Postgres alone could rebuild everything in Valkey: each key is of a dispensable kind, each
 * heartbeat is in Postgres, too, and the views of tasks, runs and agents show the state of Postgres.
 *
 * Reads all keys of the installation. A heartbeat's age derives from its key's time to live, so an
 * agent whose threshold changed after its last heartbeat can be reported by mistake.
 *
 * @throws Error if Valkey or Postgres does not answer
 */
export async function checkRebuildable(
  database: string | SqlRunner,
  place: ValkeyPlace,
): Promise<Outcome> {
  const client = new ValkeyClient({ ...place, connectionName: 'drover-invariants' });
  try {
    if (!(await client.ready(5_000))) throw new Error('Valkey does not answer');
    const prefix = place.keyPrefix ?? '';
    const heard = await hearAll(client, prefix);
    const { commands } = client;
    const views = await readViews(commands, () => allKeys(commands, prefix));
    const agents = [...heard.ages.keys()].map((key) => key.split(':'));
    const asked = [agents.map(([workspaceId]) => workspaceId), agents.map(([, id]) => id)];
    const violations = await withRunner(database, async (runner) => [
      ...heard.unknown,
      ...(await runner.rows(heartbeatsKnown, asked)).flatMap((one) => judge(one, heard.ages)),
      ...(views === undefined ? [] : await compareViews(views, runner)),
    ]);
    return {
      name: 'rebuildable',
      title: 'Nothing in Valkey is the only copy of a fact',
      holds: violations.length === 0,
      violations: violations.slice(0, SHOWN_VIOLATIONS),
    };
  } finally {
    client.close();
  }
}

/** The heartbeats in Valkey. */
interface Heard {
  /** Remaining lifetime of an agent's heartbeat, in milliseconds, by `agentKey`. */
  ages: Map<string, number>;
  unknown: Violation[];
}

async function hearAll({ commands }: ValkeyClient, prefix: string): Promise<Heard> {
  const ages = new Map<string, number>();
  const unknown: Violation[] = [];
  for (const key of await allKeys(commands, prefix)) {
    if (DISPENSABLE.some((kind) => kind.test(key))) continue;
    if (key.startsWith(HEARTBEAT)) ages.set(key.slice(HEARTBEAT.length), await commands.pttl(key));
    else unknown.push({ subject: `key ${key}`, problem: 'nobody says how to make it again' });
  }
  return { ages, unknown };
}

async function allKeys(commands: ValkeyClient['commands'], prefix: string): Promise<string[]> {
  const keys = new Set<string>();
  let cursor = '0';
  do {
    // The library adds the prefix to keys, not to patterns.
    const [next, found] = await commands.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1_000);
    for (const key of found) keys.add(key.slice(prefix.length));
    cursor = next;
  } while (cursor !== '0');
  return [...keys];
}

function judge(heartbeat: KnownHeartbeat, ages: Heard['ages']): Violation[] {
  const subject = `agent ${heartbeat.agent_id}`;
  if (heartbeat.stale_threshold_seconds === null) {
    return [{ subject, problem: 'was heard by Valkey, and is not in Postgres' }];
  }
  const { workspace_id: workspaceId, agent_id: agentId } = heartbeat;
  const leftMs = ages.get(agentKey({ workspaceId, agentId })) ?? -1;
  // A key without a time to live has just expired.
  if (leftMs < 0) return [];
  const age = heartbeatTtlSeconds(heartbeat.stale_threshold_seconds) - leftMs / 1_000;
  const known = heartbeat.age_seconds ?? Infinity;
  if (known <= Math.max(age, 0) + FLUSH_SECONDS) return [];
  return [
    {
      subject,
      problem: `heartbeat ${Math.round(age)} s ago, and Postgres knows of ${
        heartbeat.age_seconds === null ? 'no heartbeat' : `one ${Math.round(known)} s ago`
      }`,
    },
  ];
}
