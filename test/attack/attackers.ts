import { spawn } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Sandbox, SessionSpec, SessionUser } from '#lib/session-runtime';
import { ON_DISK, testSandbox } from '../../libs/hosts/session-runtime/testing/sandboxes.js';
import type { AttackEnd, AttackOrder } from './attacker-process.js';

const PROGRAM = join(import.meta.dirname, '../../dist/test/attack/attacker-process.js');
/** No account of the machine has these numbers. */
const ORDINARY = { uid: 1_900_200_001, gid: 1_900_200_001 };
export const ACCOUNT = { uid: 1_900_200_002, gid: 1_900_200_002 };

/** Who runs the host, and as whom the session of the attack runs. */
export interface Attacker {
  name: string;
  host?: SessionUser;
  account?: SessionUser;
}

export interface AttackOptions extends Partial<SessionSpec> {
  settings?: Partial<Sandbox>;
  /**
   * A command that starts the host in place of this process, with the host's command at its end.
   */
  wrapper?: string[];
}

const isRoot = process.getuid?.() === 0;
const sandbox = await testSandbox();

/**
 * An ordinary user, and root with and without accounts for its sessions. A test that is not root is
 * the first.
 */
export const ATTACKERS: Attacker[] = sandbox === undefined ? [] : attackers();

function attackers(): Attacker[] {
  if (!isRoot) return [{ name: 'an ordinary user' }];
  return [
    { name: 'an ordinary user', host: ORDINARY },
    { name: 'an account of root', account: ACCOUNT },
    { name: 'root itself' },
  ];
}

/** Runs the scripts in sandboxes of their own, all at the same time. */
export async function attack(
  { host, account }: Attacker,
  scripts: string[],
  { settings, wrapper = [], ...more }: AttackOptions = {},
): Promise<AttackEnd[]> {
  const folder = mkdtempSync(join(ON_DISK, 'drover-attack-'));
  try {
    const order: AttackOrder = {
      dir: prepare(folder, host),
      sandbox: { ...sandbox!, ...settings, program: reachableProgram(folder) },
      user: account,
      scripts,
      more,
    };
    return await runHost([...wrapper, process.execPath, PROGRAM], host, order);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The output of one script. */
export async function outputOf(attacker: Attacker, script: string, options?: AttackOptions) {
  const [end] = await attack(attacker, [script], options);
  return end?.output ?? '';
}

function prepare(folder: string, host: SessionUser | undefined): string {
  const dir = join(folder, 'sessions');
  mkdirSync(dir, { mode: 0o700 });
  chmodSync(folder, 0o755);
  if (host !== undefined) chownSync(dir, host.uid, host.gid);
  return dir;
}

/** An ordinary user may not enter the folder to which it was downloaded. */
function reachableProgram(folder: string): Sandbox['program'] {
  const file = join(folder, 'bwrap');
  copyFileSync(sandbox!.program.file, file);
  chmodSync(file, 0o755);
  return { ...sandbox!.program, file };
}

async function runHost(
  [program = '', ...args]: string[],
  host: SessionUser | undefined,
  order: AttackOrder,
): Promise<AttackEnd[]> {
  const child = spawn(program, args, {
    ...host,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const errors = text(child.stderr);
  child.stdin.end(JSON.stringify(order));
  const answer = await text(child.stdout);
  if (answer === '') throw new Error(`The host of the attack failed: ${await errors}`);
  return JSON.parse(answer) as AttackEnd[];
}
