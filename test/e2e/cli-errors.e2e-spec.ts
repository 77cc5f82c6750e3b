import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestFleet } from '../support/fleet.js';
import { type Ended, Terminal } from './terminal.js';

/** The errors of the command line. */

const NO_SUCH = '0198c0de-7000-7000-8000-000000000000';

let fleet: TestFleet;
let access: Record<string, string>;
let config: string;

beforeAll(async () => {
  fleet = await TestFleet.atSharedServer();
  config = join(fleet.folder, 'config.json');
  ({ access } = fleet);
});
afterAll(() => fleet.stop());

function drover(
  args: readonly string[],
  { env = access }: { env?: Record<string, string> } = {},
): Promise<Ended> {
  const { folder } = fleet;
  const own = { HOME: folder, DROVER_CONFIG: config, DROVER_HOME: join(folder, 'none') };
  return new Terminal(args, { env: { ...own, ...env }, cwd: folder, input: '' }).ended;
}

describe('an error', () => {
  const AWAY = { DROVER_API_URL: 'http://127.0.0.1:1' };
  it.each<{ line: string; code: number; sentence: RegExp; env?: Record<string, string> }>([
    { line: 'task show not-an-id', code: 5, sentence: /No task has the id or name not-an-id/ },
    { line: 'task list --project nowhere', code: 5, sentence: /No project has the id or name/ },
    { line: 'login http://127.0.0.1:9 --name x', code: 6, sentence: /cannot be reached/ },
    { line: `task show ${NO_SUCH}`, code: 5, sentence: /task does not exist/ },
    {
      line: 'task lst',
      code: 2,
      sentence: /^drover: unknown command 'lst'[^]*See `drover task --help`/,
    },
    { line: 'tsk', code: 2, sentence: /^drover: unknown command 'tsk'[^]*See `drover --help`/ },
    {
      line: 'task list --bogus',
      code: 2,
      sentence: /^drover: unknown option '--bogus'\n[^]*See `drover task list --help`\.\n$/,
    },
    { line: 'kill-switch on --everything --reason x', code: 4, sentence: /operator must sign in/ },
    { line: 'task create --type x', code: 2, sentence: /--title is missing/ },
    { line: 'task create --file /no/such/file', code: 2, sentence: /no such file/ },
    { line: 'task create --file /tmp', code: 2, sentence: /directory/ },
    { line: '--context nowhere task list', code: 2, sentence: /no context "nowhere"/ },
    { line: '--bogus task list', code: 2, sentence: /unknown option/ },
    { line: `task watch ${NO_SUCH}`, code: 5, sentence: /task does not exist/ },
    { line: 'task list --limit -5', code: 2, sentence: /whole number/ },
    { line: 'claim', code: 4, sentence: /not an agent token/ },
    { line: 'claim x --lease soon', code: 2, sentence: /--lease needs a duration such as/ },
    { line: 'worker start gpu-1', code: 2, sentence: /too many arguments/ },
    { line: 'worker stop --timeout 5m', code: 2, sentence: /--timeout needs --graceful/ },
    { line: 'login http://127.0.0.1:9 --name local', code: 2, sentence: /another name/ },
    { line: 'task list --limit many', code: 2, sentence: /needs a number/ },
    { line: 'task list --context nowhere', code: 2, sentence: /no context "nowhere"/ },
    { line: 'context use nowhere', code: 2, sentence: /no context "nowhere"/ },
    { line: 'context set nowhere --url http://127.0.0.1:9', code: 2, sentence: /no context/ },
    { line: 'context set nowhere', code: 2, sentence: /Nothing to change/ },
    { line: 'api FETCH /x', code: 2, sentence: /Unknown method/ },
    { line: 'task list', code: 3, sentence: /drover login/, env: { DROVER_API_KEY: 'drv_wrong' } },
    { line: 'task list', code: 3, sentence: /no DROVER_API_KEY/, env: { DROVER_API_KEY: '' } },
    { line: 'task list', code: 3, sentence: /DROVER_API_URL is not/, env: { DROVER_API_URL: '' } },
    { line: 'task list', code: 6, sentence: /cannot be reached/, env: AWAY },
    { line: 'events -f', code: 6, sentence: /cannot be reached/, env: AWAY },
  ])('`$line` fails with exit code $code', async ({ line, code, sentence, env }) => {
    const ended = await drover(line.split(' '), { env: { ...access, ...env } });
    expect([ended.code, ended.stdout]).toEqual([code, '']);
    expect(ended.stderr).toMatch(sentence);
    expect(ended.stderr).not.toMatch(/\n +at /);
  });

  it('a command without a server fails with exit code 3', async () => {
    const { code, stderr } = await drover(['task', 'list'], { env: {} });
    expect([code, stderr]).toEqual([3, expect.stringContaining('No server is configured')]);
    // The test runs in a clone.
    expect(stderr).toMatch(/There is none in \/\S+\/none\.\s+Start one with `npm start`/);
  });

  it('a broken context file is named and kept', async () => {
    const broken = join(fleet.folder, 'broken.json');
    writeFileSync(broken, '{');
    const { code, stderr } = await drover(['context', 'list'], { env: { DROVER_CONFIG: broken } });
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${broken} is not JSON`)]);
    expect(existsSync(broken)).toBe(true);
  });
});
