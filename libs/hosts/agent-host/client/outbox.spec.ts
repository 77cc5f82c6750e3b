import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ConnectionProblem } from '#lib/api-client';
import { Log } from '../machine/log.js';
import { Outbox, type OutboxOptions } from './outbox.js';
import { refusal } from '../testing/refusal.js';

const log = new Log(() => undefined);
const never = new AbortController().signal;

let waiting: number[];
let sent: number[][];
let refused: number[];
let answer: (reports: number[]) => Promise<void> | void;
let outbox: Outbox<number>;

beforeEach(() => {
  [waiting, sent, refused, answer] = [[], [], [], () => undefined];
  outbox = anOutbox();
});
afterEach(() => outbox.stop());

function anOutbox(options: Partial<OutboxOptions> = {}): Outbox<number> {
  const forget = (reports: number[]): void => {
    waiting = waiting.filter((one) => !reports.includes(one));
  };
  const settleRefused = (report: number): void => {
    refused.push(report);
    forget([report]);
  };
  const send = async (reports: number[]): Promise<void> => {
    sent.push(reports);
    await answer(reports);
  };
  const next = (): number[] => waiting.slice(0, 4);
  return new Outbox({ next, send, forget, settleRefused }, { what: 'report', log, ...options });
}

function add(...reports: number[]): void {
  waiting.push(...reports);
  outbox.wake();
}

describe('An outbox', () => {
  test('the outbox sends reports in order, as many at once as fit', async () => {
    add(1, 2, 3, 4, 5, 6);
    await outbox.flush(never);
    expect(sent).toEqual([
      [1, 2, 3, 4],
      [5, 6],
    ]);
  });

  test('the outbox repeats a failed request until the server has it', async () => {
    answer = () => {
      if (sent.length < 3) throw new ConnectionProblem('gone');
    };
    add(1, 2);
    await outbox.flush(never);
    expect(sent).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
  });

  test('a refused report delays no other', async () => {
    answer = (reports) => {
      if (reports.includes(2)) throw refusal(422, 'validation_failed');
    };
    add(1, 2, 3, 4, 5);
    await outbox.flush(never);
    expect(refused).toEqual([2]);
    expect(sent).toEqual([[1, 2, 3, 4], [1, 2], [1], [2], [3, 4], [5]]);
  });

  test('the outbox continues after an outage while it halves a refused request', async () => {
    answer = (reports) => {
      if (reports.includes(2)) throw refusal(422, 'validation_failed');
      if (reports.includes(3) && sent.length < 6) throw new ConnectionProblem('gone');
    };
    add(1, 2, 3);
    await outbox.flush(never);
    expect(refused).toEqual([2]);
    expect(sent.at(-1)).toEqual([3]);
  });

  test('a refused request is repeated if its owner calls the refusal curable', async () => {
    outbox = anOutbox({ isRefusal: () => false });
    answer = () => {
      if (sent.length === 1) throw refusal(403, 'forbidden');
    };
    add(1);
    await outbox.flush(never);
    expect([sent, refused]).toEqual([[[1], [1]], []]);
  });

  test('reports gather, unless a caller waits for them', async () => {
    outbox = anOutbox({ gather: { ms: 2 ** 30, count: 3 } });
    add(1);
    add(2);
    expect(sent).toEqual([]);
    await outbox.flush(never);
    expect(sent).toEqual([[1, 2]]);
    add(3, 4, 5);
    await outbox.flush(never);
    expect(sent.at(-1)).toEqual([3, 4, 5]);
  });

  test('another answer ends a retry wait, but no wait that the server asked for', async () => {
    answer = () => {
      if (sent.length === 1) throw refusal(503, 'unavailable', 'Later', 2 ** 20);
    };
    add(1);
    await outbox.flush(AbortSignal.timeout(1));
    outbox.retryNow();
    await outbox.flush(AbortSignal.timeout(1));
    expect(sent).toEqual([[1]]);
  });

  test('a stopped outbox resolves its waiters at once', async () => {
    const asked = new Promise<void>((resolve) => {
      answer = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    add(1);
    await asked;
    const flushed = outbox.flush(never);
    outbox.stop();
    await flushed;
    await outbox.flush(never);
    add(2);
    expect(sent).toEqual([[1]]);
  });
});
