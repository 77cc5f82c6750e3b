import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestServer, TestWorkspace } from '../support/shared-server.js';

/**
 * Prints each request and its outcome to standard error. A failed line ends the script. A stream
 * never ends, so it is followed for some seconds.
 */
const PRELUDE = `set -eu -o pipefail
request() { command curl -w '%{stderr}%{http_code} %{url_effective}\\n' "$@"; }
curl() {
  case "$1" in
    -sN) request --max-time 4 "$@" || [ $? = 28 ];;
    *) request --max-time 120 "$@";;
  esac
}
`;

const MOST_MS = 170_000;

export function readPage(name: string): string {
  return readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8');
}

/** Returns the values on lines like `field … # value` of a page, in their order. */
export function shownValues(page: string): string[] {
  return [...page.matchAll(/field [^#\n]*# (\w+)$/gm)].map(([, value]) => value ?? '');
}

const SCOPES = {
  MEMBER: ['agents:write', 'tasks:write'],
  ADMIN: ['agents:write', 'projects:write', 'tasks:write', 'workspace:admin'],
};

/** Creates the folder of a running Drover, with a key. @returns its workspace */
export async function furnishHome(
  app: TestServer,
  home: string,
  role: keyof typeof SCOPES = 'MEMBER',
): Promise<TestWorkspace> {
  const workspace = await app.newWorkspace();
  const wanted = { name: 'docs', role, scopes: SCOPES[role] };
  const { body } = await workspace.api.post(`/workspaces/${workspace.id}/api-keys`, wanted);
  writeFileSync(join(home, 'address'), `${app.url}\n`);
  writeFileSync(join(home, 'api-key'), `${String(body['key'])}\n`);
  return workspace;
}

export interface Pasted {
  code: unknown;
  output: string;
  err: string;
  /** One line `status url` for each request. */
  requests: string[];
}

/**
 * Runs a page's lines as they stand there, in one shell. @param variables that the reader of the
 * page sets
 */
export async function paste(
  page: string,
  home: string,
  variables: Record<string, string> = {},
): Promise<Pasted> {
  const lines = [...page.matchAll(/```sh\n([^]*?)```/g)].map(([, block]) => block ?? '');
  const shell = spawn('bash', ['-c', PRELUDE + lines.join('echo\n')], {
    cwd: home,
    env: { ...process.env, DROVER_HOME: home, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A page can wait for an event that never comes.
    timeout: MOST_MS,
  });
  const ended = new Promise((resolve) => shell.once('close', resolve));
  const [output, err] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  const requests = err.split('\n').filter((line) => line !== '');
  return { code: await ended, output, err, requests };
}
