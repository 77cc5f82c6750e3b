// Runs commands in sandboxes, as a host does, and prints their ends. The test chooses its user.
// Input: one JSON text.
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import {
  Drivers,
  type Sandbox,
  type SessionExit,
  type SessionSpec,
  type SessionUser,
} from '#lib/session-runtime';

export interface AttackOrder {
  /** The folder of all sessions. */
  dir: string;
  sandbox: Sandbox;
  /** The account of the sessions. */
  user?: SessionUser;
  /** They run at the same time. */
  scripts: string[];
  more?: Partial<SessionSpec>;
}

export type AttackEnd = SessionExit;

const { dir, sandbox, user, scripts, more } = JSON.parse(await text(process.stdin)) as AttackOrder;
const searchPath = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';
const accounts = user && (() => user);
const drivers = new Drivers({ dir }, { process: { searchPath, accounts, sandbox } });
const driver = drivers.choose('process');

async function attack(script: string): Promise<AttackEnd> {
  const chunks: Buffer[] = [];
  const session = await driver.spawn({
    id: randomUUID(),
    command: ['sh', '-c', script],
    env: {},
    files: {},
    secrets: [],
    output: {
      write: (_stream, chunk) => chunks.push(chunk),
      note: () => undefined,
      end: () => undefined,
    },
    ...more,
  });
  const exit = await session.exit;
  await driver.remove(session.id);
  return { ...exit, output: Buffer.concat(chunks).toString().trim() };
}

const ends = await Promise.all(scripts.map(attack));
process.stdout.write(JSON.stringify(ends));
drivers.all.forEach((one) => one.close());
