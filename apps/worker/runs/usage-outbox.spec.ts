import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Log } from '#lib/agent-host';
import { ConnectionProblem } from '#lib/api-client';
import { refusal } from '../../../libs/hosts/agent-host/testing/refusal.js';
import type { UsageAnswer, UsageReport } from '../api/types.js';
import { UsageFile } from './usage-file.js';
import { UsageOutbox } from './usage-outbox.js';

const quiet = new Log(() => undefined);
const never = new AbortController().signal;
const used = (inputTokens: number, id?: string) => ({
  model: 'm',
  inputTokens,
  outputTokens: 0,
  ...(id !== undefined && { id }),
});
const calm: UsageAnswer = { advice: 'continue', budgets: [] };

let dir: string;
let path: string;
let sent: (readonly UsageReport[])[];
let told: string[];
let unpriced: UsageReport[];
let answer: (reports: readonly UsageReport[]) => UsageAnswer;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-usage-'));
});
beforeEach(() => {
  path = join(dir, expect.getState().currentTestName?.replaceAll(/\W/g, '-') ?? '');
  [sent, told, unpriced, answer] = [[], [], [], () => calm];
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function outbox(): UsageOutbox {
  const usage = async (_: string, reports: readonly UsageReport[]): Promise<UsageAnswer> => {
    sent.push(reports);
    return answer(reports);
  };
  const file = new UsageFile(path, quiet);
  const tell = (message: string): void => void told.push(message);
  const keep = (_: string, report: UsageReport): boolean => unpriced.push(report) < 3;
  return new UsageOutbox({
    api: { usage },
    runId: 'run',
    file,
    log: quiet,
    tell,
    unpriced: { keep },
  });
}

/** Fails so many times, and then takes all. */
const failing = (error: Error, times: number) => () => {
  if (sent.length <= times) throw error;
  return calm;
};
const refusing = (isRefused: (report: UsageReport) => boolean, status = 422, code = 'refused') => {
  return (reports: readonly UsageReport[]) => {
    if (reports.some(isRefused)) throw refusal(status, code, 'No such model');
    return calm;
  };
};

describe('The usage of a run', () => {
  test('is sent together, each report with an id', async () => {
    const box = outbox();
    box.add([used(1), used(2, 'mine')]);
    box.add([used(3)]);
    await box.deliver(never);
    expect(sent).toHaveLength(1);
    const ids = sent.flat().map(({ id }) => id);
    expect(ids[1]).toBe('mine');
    expect(new Set(ids).size).toBe(3);
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  test('that is said twice under one id counts once, and what says something else is told', async () => {
    const box = outbox();
    box.add([used(1, 'mine'), used(1, 'mine'), used(2, 'mine')]);
    await box.deliver(never);
    expect(sent).toEqual([[used(1, 'mine')]]);
    expect(told).toEqual(['Two reports of usage have the id "mine": only the first counts']);
  });

  test.each([
    ['no network', new ConnectionProblem('gone')],
    ['too many requests', refusal(429, 'rate_limited', 'Later')],
    ['a server that is not ready', refusal(503, 'unavailable', 'Later')],
  ])('is sent again with the same ids after %s', async (_, error) => {
    answer = failing(error, 2);
    const box = outbox();
    box.add([used(1), used(2)]);
    await box.deliver(never);
    expect(sent).toHaveLength(3);
    expect(sent[2]).toEqual(sent[0]);
  });

  test('is sent in requests of a hundred', async () => {
    const box = outbox();
    for (let tokens = 0; tokens < 250; tokens += 1) box.add([used(tokens)]);
    await box.deliver(never);
    expect(sent.map(({ length }) => length)).toEqual([100, 100, 50]);
  });

  test.each([400, 409, 422])(
    'that is refused with %d is told once, and the rest counts',
    async (status) => {
      answer = refusing(({ inputTokens }) => inputTokens === 3, status);
      const box = outbox();
      box.add([1, 2, 3, 4, 3, 6].map((tokens) => used(tokens)));
      await box.deliver(never);
      const taken = sent.filter((reports) => !reports.some(({ inputTokens }) => inputTokens === 3));
      expect(taken.flat().map(({ inputTokens }) => inputTokens)).toEqual([1, 2, 4, 6]);
      expect(told).toEqual(['The server refused to count usage of m: No such model']);
    },
  );

  test('of a model without a price is kept for later, as long as there is room', async () => {
    answer = refusing(({ inputTokens }) => Number(inputTokens) > 2, 422, 'unknown_model');
    const box = outbox();
    box.add([1, 2, 3, 4, 5].map((tokens) => used(tokens)));
    await box.deliver(never);
    expect(unpriced.map(({ inputTokens }) => inputTokens)).toEqual([3, 4, 5]);
    expect(told).toEqual([
      'The model "m" has no price yet: its usage is kept for seven days, and counted as soon as it has one',
      'The server refused to count usage of m: No such model',
    ]);
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  test('of a run that is not known any more is given up in one piece', async () => {
    answer = () => {
      throw refusal(404, 'run_not_found', 'There is no such run');
    };
    const box = outbox();
    box.add([used(1), used(2)]);
    await box.deliver(never);
    expect(sent).toHaveLength(1);
    expect(told).toEqual([
      'The server refused to count usage of m and 1 more: There is no such run',
    ]);
  });

  test('that cannot be delivered is delivered by the next life, as it was', async () => {
    answer = failing(new ConnectionProblem('gone'), Infinity);
    const first = outbox();
    first.add([used(1), used(2)]);
    await expect(first.deliver(AbortSignal.abort())).rejects.toThrow('gone');
    // A line that was not finished.
    writeFileSync(path, '{"model": "m", "inp', { flag: 'a' });
    const [before] = sent.splice(0);
    answer = () => calm;
    await outbox().deliverEarlier(never);
    expect(sent).toEqual([before]);
  });

  test('does not end up where the run wants it', async () => {
    const elsewhere = join(dir, 'elsewhere');
    writeFileSync(elsewhere, 'precious');
    symlinkSync(elsewhere, path);
    answer = failing(new ConnectionProblem('gone'), Infinity);
    const box = outbox();
    box.add([used(1)]);
    await expect(box.deliver(AbortSignal.abort())).rejects.toThrow('gone');
    expect(readFileSync(elsewhere, 'utf8')).toBe('precious');
    expect(readFileSync(path, 'utf8')).toContain('"inputTokens":1');
  });

  test('is sent where it cannot be kept', async () => {
    mkdirSync(path);
    const box = outbox();
    box.add([used(1)]);
    await box.deliver(never);
    expect(sent).toHaveLength(1);
  });

  test('is bounded while the server is away, and says so', async () => {
    answer = failing(new ConnectionProblem('gone'), 1);
    const box = outbox();
    const many = Array.from({ length: 100 }, () => used(1));
    for (let count = 0; count < 102; count += 1) box.add(many);
    expect(told).toEqual(['Too many reports of usage wait: some are lost']);
    await box.deliver(never);
    expect(new Set(sent.flat().map(({ id }) => id)).size).toBe(10_000);
  });

  test('that comes near the end of a budget is told, once for each advice', async () => {
    const advice = ['warn', 'warn', 'stop', 'continue'] as const;
    answer = () => {
      const budgets = [
        { scope: 'project' as const, allocated: '1000', percentUsed: 90 + sent.length },
      ];
      return { advice: advice[sent.length - 1] ?? 'continue', budgets };
    };
    const box = outbox();
    for (let count = 0; count < 4; count += 1) {
      box.add([used(1)]);
      await box.deliver(never);
    }
    expect(told).toEqual([
      '91 % of a budget of 1000 tokens (project) are used',
      '93 % of a budget of 1000 tokens (project) are used',
    ]);
  });
});
