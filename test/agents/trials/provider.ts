import type { Script, Turn } from '../../support/model-server/index.js';
import type { Ground, Task, TriedKind } from '../ground.js';
import { expectEqual, expectMatch, type Trial } from '../trial.js';

interface Case {
  name: string;
  script: Script;
  task?: { timeoutSeconds?: number; maxRetries?: number };
  judge: (ground: Ground, id: string) => Promise<string | undefined>;
}

/** The task fails, and its error ends with the class of the agent's end. */
const failsAs = (...classes: string[]) =>
  async function judge(ground: Ground, id: string): Promise<string> {
    const { lastError } = await ground.untilStatus(id, 'FAILED', 'ABORTED', 'COMPLETED');
    expectMatch('the error', lastError, new RegExp(`\\((${classes.join('|')})\\)$`));
    return lastError ?? '';
  };

/** The task waits for the provider, at no attempt. */
async function waits(ground: Ground, id: string): Promise<string | undefined> {
  const limit = await ground.until('the limit of the provider', async () => {
    const { items } = await ground.administrator.get('/api/v1/provider-limits', {});
    return items[0];
  });
  const task = await ground.untilStatus(id, 'PENDING', 'PAUSED', 'FAILED', 'COMPLETED');
  expectEqual('waiting', ['PENDING', 'PAUSED'].includes(task.status), true);
  expectEqual('the retries', task.retryCount, 0);
  return `limited until ${limit.until}`;
}

async function timesOut(ground: Ground, id: string): Promise<string> {
  const task: Task = await ground.untilStatus(id, 'FAILED', 'ABORTED', 'COMPLETED');
  expectMatch('the error', task.lastError, /time/i);
  return task.lastError ?? '';
}

async function completesAtRetry(ground: Ground, id: string): Promise<undefined> {
  const { status, retryCount } = await ground.untilStatus(id, 'FAILED', 'COMPLETED');
  expectEqual('the status', status, 'COMPLETED');
  expectEqual('the retries', retryCount, 1);
}

const OVERFLOW: Turn = { fails: { status: 400, isContextOverflow: true } };
const HANG_TIMEOUT_SECONDS = 30;

const CASES: Case[] = [
  { name: '401', script: [{ fails: { status: 401 } }], judge: failsAs('denied') },
  { name: '429', script: [{ fails: { status: 429, retryAfter: 3_600 } }], judge: waits },
  { name: '529', script: [{ fails: { status: 529 } }], judge: waits },
  {
    name: 'a full context',
    script: [OVERFLOW],
    judge: failsAs('context_full'),
  },
  {
    name: 'a full context and a retry',
    script: ({ prompt }) => [prompt.includes('(context_full)') ? { text: 'It fits.' } : OVERFLOW],
    task: { maxRetries: 1 },
    judge: completesAtRetry,
  },
  {
    name: 'an answer that hangs',
    script: [{ text: 'It hangs here.', chunks: 3, hangAfter: 1 }],
    task: { timeoutSeconds: HANG_TIMEOUT_SECONDS },
    judge: timesOut,
  },
  {
    name: 'an answer that breaks off',
    script: [{ text: 'It breaks here.', chunks: 3, cutAfter: 1 }],
    judge: failsAs('provider'),
  },
];

export const provider: Trial[] = CASES.map(({ name, script, task, judge }) => ({
  name: `the provider: ${name}`,
  async run(ground: Ground, kind: TriedKind) {
    await ground.needWorkers(1);
    const models = await ground.answer(kind, script);
    let id: string | undefined;
    try {
      id = await ground.submit(kind, task);
      return await judge(ground, id);
    } finally {
      await models.close();
      await ground.clear(id);
    }
  },
}));
