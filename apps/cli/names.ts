import type { Cli } from './cli.js';
import { EXIT } from './exit-codes.js';
import { Failure, usageError } from './failure.js';
import { ALL, readList } from './lists.js';

/** The kinds of things that commands find by a part of their id, or by their name. */
export type Kind =
  | 'task'
  | 'agent'
  | 'project'
  | 'repo'
  | 'schedule'
  | 'template'
  | 'budget'
  | 'webhook'
  | 'question'
  | 'member'
  | 'user';

/** The kinds of things that a usage or an option names as `<task>` or `<task...>`, in their order. */
export function kindsOf(usage: string): { kind: Kind | undefined; isMany: boolean }[] {
  return [...usage.matchAll(/[<[]([\w-]+)(\.{3})?[>\]]/g)].map(([, word = '', dots]) => ({
    kind: word in FIND ? (word as Kind) : undefined,
    isMany: dots !== undefined,
  }));
}

interface Found {
  id: string;
  name?: string;
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PART = /^[0-9a-f-]{4,36}$/i;
const MOST_SHOWN = 5;

/** Replaces names, and ids that are not whole, by ids. Whole ids stay as they are. */
export function findIds(cli: Cli, kind: Kind, words: readonly string[]): Promise<string[]> {
  return Promise.all(words.map((word) => findId(cli, kind, word)));
}

/** @throws Failure if nothing, or more than one thing, has this id or name */
export async function findId(cli: Cli, kind: Kind, word: string): Promise<string> {
  if (ID.test(word)) return word;
  const found = await FIND[kind](cli, word);
  const [only, another] = found;
  if (only !== undefined && another === undefined) return only.id;
  if (only === undefined) {
    const list = kind === 'member' ? 'workspace members' : `${kind} list`;
    const hint = await hintAtOther(cli, kind, word);
    const advice = hint ?? `List them with \`drover ${list}\`.`;
    throw new Failure(`No ${kind} has the id or name ${word}.`, advice, EXIT.notFound);
  }
  const shown = found.slice(0, MOST_SHOWN).map(({ id, name = '' }) => `\n  ${id} ${name}`);
  const rest = found.length > MOST_SHOWN ? '\n  …' : '';
  throw usageError(
    `${word} stands for more than one ${kind}:${shown.join('')}${rest}`,
    'Type more of the id.',
  );
}

/** The kinds whose things are searched for an argument that names nothing of its own kind. */
const HINTED: Kind[] = [
  'task',
  'agent',
  'project',
  'repo',
  'schedule',
  'template',
  'budget',
  'webhook',
];

/** The hint at a thing of another kind that has this whole id or name, if there is one. */
export async function hintAtOther(cli: Cli, kind: Kind, word: string): Promise<string | undefined> {
  for (const other of HINTED.filter((one) => one !== kind)) {
    // A hint must not hide the error, for instance because the caller must not list these things.
    const found = await FIND[other](cli, word).catch((): Found[] => []);
    const same = found.find(({ id, name }) => id === word.toLowerCase() || name === word);
    if (same)
      return `There is a ${other} with it. Did you mean \`drover ${other} show ${same.id}\`?`;
  }
  return undefined;
}

/** A terminated agent is found by its name as well. */
const ANY_STATUS = ['STARTING', 'IDLE', 'WORKING', 'DRAINING', 'ERROR', 'TERMINATED'] as const;

type Find = (cli: Cli, word: string) => Promise<Found[]>;

const FIND: Record<Kind, Find> = {
  task: async ({ drover }, word) => {
    if (!PART.test(word)) return [];
    const query = { idPrefix: word, limit: MOST_SHOWN + 1 };
    const { items } = await drover.get('/api/v1/agent-tasks', { params: { query } });
    return items.map(({ id, title }) => ({ id, name: title }));
  },
  agent: among(
    ({ drover }) =>
      readList(ALL, (page) =>
        drover.get('/api/v1/agents', { params: { query: { status: [...ANY_STATUS], ...page } } }),
      ),
    ({ status }) => status !== 'TERMINATED',
  ),
  project: among(
    ({ drover }) => readList(ALL, (query) => drover.get('/api/v1/projects', { params: { query } })),
    ({ archivedAt }) => archivedAt === null,
  ),
  repo: among(({ drover }) =>
    readList(ALL, (query) => drover.get('/api/v1/repositories', { params: { query } })),
  ),
  schedule: among(({ drover }) =>
    readList(ALL, (query) => drover.get('/api/v1/schedules', { params: { query } })),
  ),
  template: among(({ drover }) =>
    readList(ALL, (query) => drover.get('/api/v1/task-templates', { params: { query } })),
  ),
  budget: among(({ drover }) =>
    readList(ALL, (query) => drover.get('/api/v1/budgets', { params: { query } })),
  ),
  webhook: among(({ drover }) =>
    readList(ALL, (query) => drover.get('/api/v1/webhooks', { params: { query } })),
  ),
  // A question has no name, and the server completes its id.
  question: (_, word) => Promise.resolve(PART.test(word) ? [{ id: word }] : []),
  member: among(async (cli) => {
    const path = { workspaceId: await cli.workspaceId() };
    const members = await readList(ALL, (query) =>
      cli.drover.get('/api/v1/workspaces/{workspaceId}/members', { params: { path, query } }),
    );
    return members.map(({ userId, email }) => ({ id: userId, name: email }));
  }),
  user: among(async ({ drover }) => {
    const users = await readList(ALL, (query) =>
      drover.get('/api/v1/users', { params: { query } }),
    );
    return users.map(({ id, email }) => ({ id, name: email }));
  }),
};

/**
 * A name counts before the beginning of an id. A name of a thing that is in use counts before the
 * same name of one that is not.
 */
function among<Thing extends Found>(
  read: (cli: Cli) => Promise<Thing[]>,
  isInUse: (thing: Thing) => boolean = () => true,
): Find {
  return async (cli, word) => {
    const all = await read(cli);
    const named = all.filter(({ id, name }) => name === word || id === word);
    const inUse = named.filter(isInUse);
    if (inUse.length > 0) return inUse;
    if (named.length > 0 || !PART.test(word)) return named;
    return all.filter(({ id }) => id.startsWith(word.toLowerCase()));
  };
}
