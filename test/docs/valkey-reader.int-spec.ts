import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'iovalkey';
import { PrivateValkey } from '../faults/harness/private-valkey.js';
import { readPage } from './page.js';

const WORKSPACE = '019ab0c2-d4e8-7a3f-b1c2-d3e4f5a6b7c8';
const PASSWORD = 'a-long-password';

let valkey: PrivateValkey;
let reader: Redis;

/** The rules of the page, which the shell would take out of their quotes. */
function rulesOfPage(): string[] {
  const page = readPage('operations.md');
  const [, command = ''] = /valkey-cli ACL SETUSER ((?:.*\\\n)*.*)/.exec(page) ?? [];
  const words = command.replaceAll('\\\n', ' ').replaceAll("'", '').trim().split(/\s+/);
  return words.map((word) => word.replace('WORKSPACE', WORKSPACE));
}

beforeAll(async () => {
  valkey = await PrivateValkey.start();
  const [name = '', ...rules] = rulesOfPage();
  await valkey.ask(async (commands) => {
    await commands.zadd(`tasks:pending:${WORKSPACE}`, 1, 'a task');
    await commands.hset('agent:status:an-agent', 'status', 'IDLE');
    await commands.call('acl', 'setuser', name, ...rules);
  });
  const url = new URL(valkey.url);
  url.username = name;
  url.password = PASSWORD;
  reader = new Redis(url.href, { enableReadyCheck: false });
});

afterAll(async () => {
  await reader.quit();
  await valkey.close();
});

it('the reader of the page reads the views of its workspace', async () => {
  expect(await reader.zrange(`tasks:pending:${WORKSPACE}`, 0, -1)).toEqual(['a task']);
});

it.each([
  'hgetall agent:status:an-agent',
  `del tasks:pending:${WORKSPACE}`,
  'smembers tasks:active:another-workspace',
  'scan 0',
  'keys *',
  'randomkey',
  'client list',
  'client pause 1',
  'subscribe tasks:events',
  'flushall',
])('the reader of the page is refused %s', async (command) => {
  const [name = '', ...args] = command.split(' ');
  await expect(reader.call(name, ...args)).rejects.toThrow('NOPERM');
});
