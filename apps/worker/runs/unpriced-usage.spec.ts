import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Log } from '#lib/agent-host';
import { ConnectionProblem } from '#lib/api-client';
import { refusal } from '../../../libs/hosts/agent-host/testing/refusal.js';
import { UnpricedUsage } from './unpriced-usage.js';

const quiet = new Log(() => undefined);
const report = (id: string, model = 'm') => ({ id, model, inputTokens: 1, outputTokens: 0 });
const refused = (code: string) => refusal(422, code);

let dir: string;
let path: string;
let sent: [string, string[]][];
let refuse: (model: string) => Error | undefined;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-unpriced-'));
});
beforeEach(() => {
  path = join(dir, expect.getState().currentTestName?.replaceAll(/\W/g, '-') ?? '');
  [sent, refuse] = [[], () => undefined];
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function aLife(): UnpricedUsage {
  const usage = async (runId: string, reports: readonly { id: string; model: string }[]) => {
    const error = refuse(reports[0]?.model ?? '');
    if (error) throw error;
    sent.push([runId, reports.map(({ id }) => id)]);
    return { advice: 'continue' as const, budgets: [] };
  };
  return new UnpricedUsage({ api: { usage }, path, log: quiet });
}

describe('Usage of a model without a price', () => {
  test('is sent by a next life, run by run and model by model, as soon as there is one', async () => {
    const first = aLife();
    first.keep('one', report('a'));
    first.keep('one', report('a'));
    first.keep('one', report('b', 'n'));
    first.keep('two', report('a'));
    refuse = (model) => (model === 'm' ? refused('unknown_model') : undefined);
    writeFileSync(path, '{"runId": "th', { flag: 'a' });
    const second = aLife();
    await second.retry();
    expect(sent.splice(0)).toEqual([['one', ['b']]]);
    refuse = () => undefined;
    const third = aLife();
    expect(third.isEmpty).toBe(false);
    await third.retry();
    expect(sent).toEqual([
      ['one', ['a']],
      ['two', ['a']],
    ]);
    expect([third.isEmpty, existsSync(path)]).toEqual([true, false]);
  });

  test('waits while the server is away, and goes in requests of a hundred', async () => {
    const box = aLife();
    for (let n = 0; n < 250; n += 1) box.keep('run', report(`${n}`));
    refuse = () => new ConnectionProblem('gone');
    await box.retry();
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(251);
    refuse = () => undefined;
    await box.retry();
    expect(sent.map(([, ids]) => ids.length)).toEqual([100, 100, 50]);
  });

  test('is given up when it is refused for another reason, and after seven days', async () => {
    const box = aLife();
    box.keep('run', report('a'));
    refuse = () => refused('run_not_found');
    await box.retry();
    expect(box.isEmpty).toBe(true);
    box.keep('run', report('b'));
    refuse = () => refused('unknown_model');
    await box.retry();
    expect(box.isEmpty).toBe(false);
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 7 * 86_400_000);
    await box.retry();
    expect(box.isEmpty).toBe(true);
  });

  test('is bounded', () => {
    const box = aLife();
    for (let n = 0; n < 10_000; n += 1) expect(box.keep('run', report(`${n}`))).toBe(true);
    expect(box.keep('run', report('x'))).toBe(false);
    expect(box.keep('run', report('1'))).toBe(true);
  });
});
