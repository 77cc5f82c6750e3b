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
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Log } from '#lib/agent-host';
import { ConnectionProblem } from '#lib/api-client';
import { refusal } from '../../../libs/hosts/agent-host/testing/refusal.js';
import type { UsageAnswer, UsageReport } from '../api/types.js';
import type { UsageLine } from '../execution/usage-line.js';
import { UsageOutbox } from './usage-outbox.js';

const quiet = new Log(() => undefined);
const never = new AbortController().signal;
const used = (inputTokens: number, id?: string, model = 'm') => ({
  model,
  inputTokens,
  outputTokens: 0,
  ...(id !== undefined && { id }),
});
const calm: UsageAnswer = { advice: 'continue', budgets: [] };

let dir: string;
let path: string;
let sent: (readonly UsageReport[])[];
let runs: string[];
let warnings: string[];
let answer: (reports: readonly UsageReport[]) => UsageAnswer;
let lives: UsageOutbox[];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-usage-'));
});
beforeEach(() => {
  path = join(dir, expect.getState().currentTestName?.replaceAll(/\W/g, '-') ?? '');
  [sent, runs, warnings, lives, answer] = [[], [], [], [], () => calm];
});
afterEach(() => {
  jest.restoreAllMocks();
  for (const life of lives) life.stop();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A process of the worker, with the files of the earlier processes. */
function openOutbox(): UsageOutbox {
  const usage = async (runId: string, reports: readonly UsageReport[]): Promise<UsageAnswer> => {
    runs.push(runId);
    sent.push(reports);
    return answer(reports);
  };
  const life = new UsageOutbox({ api: { usage }, path, log: quiet });
  lives.push(life);
  return life;
}

/** The usage of one run. */
function outbox(runId = 'run') {
  const life = openOutbox();
  life.open(runId, (message) => void warnings.push(message));
  return {
    life,
    add: (lines: UsageLine[]): void => life.add(runId, lines),
    deliver: (giveUp: AbortSignal): Promise<void> => life.close(runId, giveUp),
  };
}

/** Fails the given number of times, and then accepts everything. */
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
  test('the reports of usage are sent together, each with an id', async () => {
    const box = outbox();
    box.add([used(1), used(2, 'mine')]);
    box.add([used(3)]);
    await box.deliver(never);
    expect(sent).toHaveLength(1);
    const ids = sent.flat().map(({ id }) => id);
    expect(ids[1]).toBe('mine');
    expect(new Set(ids).size).toBe(3);
    expect(existsSync(path)).toBe(false);
  });

  test('a repeated id counts once, and the author learns of a contradiction', async () => {
    const box = outbox();
    box.add([used(1, 'mine'), used(1, 'mine'), used(2, 'mine')]);
    await box.deliver(never);
    expect(sent).toEqual([[used(1, 'mine')]]);
    expect(warnings).toEqual(['Two reports of usage have the id "mine": only the first counts']);
  });

  test.each([
    ['no network', new ConnectionProblem('gone')],
    ['too many requests', refusal(429, 'rate_limited', 'Later')],
    ['a server that is not ready', refusal(503, 'unavailable', 'Later')],
  ])('the usage is sent again with the same ids after %s', async (_, error) => {
    answer = failing(error, 2);
    const box = outbox();
    box.add([used(1), used(2)]);
    await box.deliver(never);
    expect(sent).toHaveLength(3);
    expect(sent[2]).toEqual(sent[0]);
  });

  test('the usage is sent in requests of 100', async () => {
    const box = outbox();
    for (let tokens = 0; tokens < 250; tokens += 1) box.add([used(tokens)]);
    await box.deliver(never);
    expect(sent.map(({ length }) => length)).toEqual([100, 100, 50]);
  });

  test.each([400, 409, 422])(
    'a report refused with %d is logged once, and the others count',
    async (status) => {
      answer = refusing(({ inputTokens }) => inputTokens === 3, status);
      const box = outbox();
      box.add([1, 2, 3, 4, 3, 6].map((tokens) => used(tokens)));
      await box.deliver(never);
      const taken = sent.filter((reports) => !reports.some(({ inputTokens }) => inputTokens === 3));
      expect(taken.flat().map(({ inputTokens }) => inputTokens)).toEqual([1, 2, 4, 6]);
      expect(warnings).toEqual(['The server refused to count usage of m: No such model']);
    },
  );

  test('the usage of an unknown run is given up at once', async () => {
    answer = () => {
      throw refusal(404, 'run_not_found', 'There is no such run');
    };
    const box = outbox();
    box.add([used(1), used(2)]);
    await box.deliver(never);
    expect(sent).toHaveLength(1);
    expect(warnings).toEqual([
      'The server refused to count usage of m and 1 more: There is no such run',
    ]);
  });

  test('a restarted worker delivers undelivered usage unchanged', async () => {
    answer = failing(new ConnectionProblem('gone'), Infinity);
    const first = outbox();
    first.add([used(1), used(2)]);
    await first.deliver(AbortSignal.timeout(1));
    // A line that was cut off by a kill.
    writeFileSync(path, '{"runId": "run", "at', { flag: 'a' });
    await until(() => sent.length > 0);
    first.life.stop();
    const [before] = sent.splice(0);
    answer = () => calm;
    const second = outbox();
    second.life.start();
    await second.deliver(never);
    expect(sent).toEqual([before]);
    expect(second.life.isEmpty).toBe(true);
  });

  test('the usage is sent even if it cannot be written to disk', async () => {
    mkdirSync(path);
    const box = outbox();
    box.add([used(1)]);
    await box.deliver(never);
    expect(sent).toHaveLength(1);
  });

  test('the waiting usage is bounded, and the author learns of the loss', async () => {
    answer = failing(new ConnectionProblem('gone'), 1);
    const box = outbox();
    const many = Array.from({ length: 100 }, () => used(1));
    for (let count = 0; count < 102; count += 1) box.add(many);
    expect(warnings).toEqual(['Too many reports of usage wait: some are lost']);
    await box.deliver(never);
    expect(new Set(sent.flat().map(({ id }) => id)).size).toBe(10_000);
  });

  test('the author is warned once for each advice near the end of a budget', async () => {
    const advice = ['warn', 'warn', 'stop', 'continue'] as const;
    answer = () => {
      const budgets = [
        { scope: 'project' as const, allocated: '1000', percentUsed: 90 + sent.length },
      ];
      return { advice: advice[sent.length - 1] ?? 'continue', budgets };
    };
    const box = outbox();
    for (let count = 1; count <= 4; count += 1) {
      box.add(Array.from({ length: 100 }, () => used(1)));
      await until(() => sent.length === count);
    }
    await box.deliver(never);
    expect(warnings).toEqual([
      '91 % of a budget of 1000 tokens (project) are used',
      '93 % of a budget of 1000 tokens (project) are used',
    ]);
  });
});

describe('Usage of a model without a price', () => {
  const priceless = refusal(422, 'unknown_model', 'No such model');

  test('usage without a price is sent by a restarted worker, by run and model', async () => {
    answer = refusing(({ model }) => model === 'm', 422, 'unknown_model');
    const first = outbox('one');
    first.add([used(1, 'a'), used(1, 'b', 'n'), used(2, 'c')]);
    first.life.add('two', [used(1, 'a')]);
    await first.deliver(never);
    await first.life.close('two', never);
    expect(sent.map((reports) => reports.map(({ id }) => id))).toEqual([['a', 'c'], ['b'], ['a']]);
    expect(warnings).toEqual([
      'The model "m" has no price yet: its usage is kept for seven days, ' +
        'and counted as soon as it has one',
    ]);
    expect(first.life.isEmpty).toBe(false);
    [sent, runs, answer] = [[], [], () => calm];
    const second = openOutbox();
    second.start();
    await second.close('one', never);
    await second.close('two', never);
    expect(new Set(runs)).toEqual(new Set(['one', 'two']));
    expect([second.isEmpty, existsSync(path)]).toEqual([true, false]);
  });

  test('usage without a price is sent again after ten minutes, for seven days', async () => {
    answer = () => {
      throw priceless;
    };
    const box = outbox();
    box.add([used(1)]);
    await box.deliver(never);
    box.life.start();
    expect(sent).toHaveLength(1);
    const now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now + 600_000);
    box.life.start();
    await until(() => sent.length === 2);
    expect(box.life.isEmpty).toBe(false);
    clock.mockReturnValue(now + 7 * 86_400_000);
    box.life.start();
    await until(() => box.life.isEmpty);
    expect(sent).toHaveLength(3);
  });

  test('usage without a price is bounded', async () => {
    answer = () => {
      throw priceless;
    };
    const box = outbox();
    for (const run of ['run', 'other']) {
      for (let count = 0; count < 60; count += 1) {
        box.life.add(
          run,
          Array.from({ length: 100 }, (_, id) => used(1, `${count}-${id}`)),
        );
      }
    }
    await box.deliver(never);
    await box.life.close('other', never);
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(12_000);
    const next = openOutbox();
    next.start();
    await next.close('run', never);
    await next.close('other', never);
    expect(next.isEmpty).toBe(false);
  });

  test('usage without a price is taken over from earlier versions', async () => {
    const entry = { runId: 'run', at: Date.now(), report: used(1, 'a') };
    const agentId = path.slice(dir.length + 1);
    writeFileSync(join(dir, `unpriced-${agentId}.jsonl`), `${JSON.stringify(entry)}\n`);
    const api = { agentId, usage: async () => calm };
    const life = UsageOutbox.of(dir, { api, log: quiet });
    lives.push(life);
    expect(life.isEmpty).toBe(false);
    expect(readFileSync(join(dir, `usage-${agentId}.jsonl`), 'utf8')).toContain('"id":"a"');
  });
});

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}
