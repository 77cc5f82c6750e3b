import type { SqlRunner } from '#lib/database';
import type { ValkeyClient } from '#lib/valkey';
import type { Violation } from './invariant.js';
import { type KnownView, viewsKnown } from './views-known.sql.js';

type Commands = ValkeyClient['commands'];
/** The members of a key with their values. Members of sets have ''. */
type Content = ReadonlyMap<string, string>;

const POSITION = 'views:position';
const NUMBER = /^\d+$/;
const AT_ONCE = 100;
const SESSION = 'session:context:';
const RETRIES = 'coordinator:recovery_queue:';

/** The views that last, and how each is read. */
const KINDS: readonly (readonly [
  prefix: string,
  read: (commands: Commands, key: string) => Promise<Content>,
])[] = [
  [
    'tasks:pending:',
    async (commands, key) => pairs(await commands.zrange(key, 0, -1, 'WITHSCORES')),
  ],
  ['tasks:active:', async (commands, key) => members(await commands.smembers(key))],
  ['agent:tasks:', readHash],
  ['agent:status:', readHash],
  ['coordinator:stale_agents', async (commands, key) => members(await commands.zrange(key, 0, -1))],
  [RETRIES, async (commands, key) => places(await commands.lrange(key, 0, -1))],
  [SESSION, readHash],
];

/** The views in Valkey, and the position of the journal that they have reached at least. */
export interface SeenViews {
  position: string;
  contents: ReadonlyMap<string, Content>;
}

/**
 * Reads the views.
 *
 * @param allKeys names without the prefix, read after this was called
 * @returns undefined if there are none, or if they are being made anew
 */
export async function readViews(
  commands: Commands,
  allKeys: () => Promise<readonly string[]>,
): Promise<SeenViews | undefined> {
  const position = await commands.get(POSITION);
  if (position === null || !NUMBER.test(position)) return undefined;
  const contents = new Map<string, Content>();
  const keys = await allKeys();
  for (let at = 0; at < keys.length; at += AT_ONCE) {
    await Promise.all(
      keys.slice(at, at + AT_ONCE).map(async (key) => {
        const kind = KINDS.find(([prefix]) => key.startsWith(prefix));
        const content = kind && (await kind[1](commands, key));
        if (content && content.size > 0) contents.set(key, content);
      }),
    );
  }
  // They can have been lost meanwhile.
  const after = await commands.get(POSITION);
  const isWhole = after !== null && NUMBER.test(after) && BigInt(after) >= BigInt(position);
  return isWhole ? { position, contents } : undefined;
}

/**
 * Compares views that were read before with Postgres. A task, run or agent that changed after their
 * position is left out, because its keys follow within a moment.
 */
export async function compareViews(seen: SeenViews, runner: SqlRunner): Promise<Violation[]> {
  const known = await runner.rows(viewsKnown, [seen.position]);
  const changed = new Set(known.flatMap(({ key, member }) => (key === null ? [member] : [])));
  const expected = known.filter(
    (view): view is KnownView & { key: string } =>
      // The context of a session ends an hour after its last change.
      view.key !== null && (!view.key.startsWith(SESSION) || seen.contents.has(view.key)),
  );
  const violations = [
    ...expected.flatMap((view) => differing(view, seen.contents)),
    ...superfluous(expected, seen.contents),
  ];
  return violations
    .filter(({ key, member }) => !namesIn(key, member).some((name) => changed.has(name)))
    .map(({ key, problem }) => ({ subject: `key ${key}`, problem }));
}

interface Difference {
  key: string;
  member: string;
  problem: string;
}

function differing(
  { key, member, value }: KnownView & { key: string },
  contents: SeenViews['contents'],
): Difference[] {
  const found = contents.get(key)?.get(member);
  if (found === value) return [];
  const problem =
    found === undefined
      ? `lacks ${member}`
      : `has ${member} with ${found}, and Postgres with ${value}`;
  return [{ key, member, problem }];
}

function superfluous(
  expected: readonly (KnownView & { key: string })[],
  contents: SeenViews['contents'],
): Difference[] {
  const wanted = new Set(expected.map(({ key, member }) => `${key} ${member}`));
  return [...contents].flatMap(([key, content]) =>
    // The context of a session outlives its run.
    key.startsWith(SESSION)
      ? []
      : [...content.keys()]
          .filter((member) => !wanted.has(`${key} ${member}`))
          .map((member) => ({ key, member, problem: `has ${member}, and Postgres has not` })),
  );
}

/** The names of rows in a key and a member. Each change of a list of retries writes it anew. */
function namesIn(key: string, member: string): string[] {
  if (key.startsWith(RETRIES)) return [`retries ${key.slice(RETRIES.length)}`];
  return [...key.split(':'), ...member.split(':')];
}

/** Heartbeats are written beside the journal. */
async function readHash(commands: Commands, key: string): Promise<Content> {
  const fields = new Map(Object.entries(await commands.hgetall(key)));
  fields.delete('last_heartbeat');
  return fields;
}

function members(names: readonly string[]): Content {
  return new Map(names.map((name) => [name, '']));
}

function pairs(flat: readonly string[]): Content {
  const names = flat.filter((_, at) => at % 2 === 0);
  return new Map(names.map((name, at) => [name, flat[2 * at + 1] ?? '']));
}

/** The first due is at the tail. */
function places(names: readonly string[]): Content {
  return new Map(names.map((name, at) => [name, `${names.length - at}`]));
}
