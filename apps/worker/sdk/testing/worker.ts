import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { lineWriter } from '#lib/kernel';
import { FinalError, type RunStopped, type TaskHandler, Worker } from '../index.js';

/** A program with handlers for the tests of the SDK. */

const write = lineWriter(1);
const say = (line: object): void => write(`${JSON.stringify(line)}\n`);

interface Pages {
  pages: number;
  /** The page after which the first run waits for its stop, if any. */
  waitsAt?: number;
  /** True: the run ignores its stop. */
  ignores?: boolean;
  /** True: a run that is stopped returns its result. */
  finishes?: boolean;
}

const read: TaskHandler<Pages, { page: number }> = async (task, ctx) => {
  const { pages, waitsAt, ignores, finishes } = task.inputContext;
  let { page = 0 } = task.checkpointData;
  const begun = page;
  ctx.onWarning((reason) => ctx.log.warn(`warned: ${reason}`));
  while (page < pages) {
    page += 1;
    const id = `page-${page}`;
    ctx.usage({ id, model: 'claude-sonnet-4', inputTokens: 100, outputTokens: 10 });
    ctx.progress((100 * page) / pages, id);
    await ctx.checkpoint({ page });
    if (page !== waitsAt || ctx.run.generation > 1) continue;
    if (ignores) await new Promise<never>(() => setInterval(() => undefined, 1_000));
    if (!ctx.signal.aborted) await once(ctx.signal, 'abort');
    const { action, reason } = ctx.signal.reason as { action: string; reason: string };
    say({ message: 'aborted', task: task.id, action, reason });
    if (!finishes) ctx.signal.throwIfAborted();
  }
  ctx.log.info('read', { pages });
  return { begun, pages };
};

const ask: TaskHandler = async (_, ctx) => {
  const common = { onDeadline: 'fail', deadlineSeconds: 600 } as const;
  try {
    const first = await ctx.ask({ prompt: 'Which one?', choices: ['left', 'right'], ...common });
    const second = await ctx.ask({ prompt: 'How many?', ...common });
    return { answers: [first, second] };
  } catch (error) {
    say({ message: 'asked', reason: (error as RunStopped).reason });
    throw error;
  }
};

/** Its listeners fail, its progress is wrong, and it waits for neither checkpoints nor answers. */
const careless: TaskHandler = async (_, ctx) => {
  ctx.onWarning(() => {
    throw new Error('thrown');
  });
  ctx.onWarning(() => Promise.reject(new Error('rejected')));
  ctx.progress(40, `\0\ud800${'a long step '.repeat(200)}`);
  void ctx.checkpoint({ page: 1n });
  void ctx.checkpoint({ page: 1 });
  try {
    ctx.progress(0 / 0);
  } catch (error) {
    ctx.log.info(String(error));
  }
  await once(ctx.signal, 'abort');
  void ctx.ask({ prompt: 'Why?', onDeadline: 'fail' });
  await setImmediate();
  say({ message: 'went on' });
};

const worker = new Worker({
  tasks: {
    read,
    ask,
    careless,
    fail: ({ inputContext, retryCount }) => {
      if (inputContext['final'] === true) throw new FinalError('the input is wrong');
      if (retryCount === 0) throw new Error('the first attempt fails');
      return {};
    },
    list: ({ inputContext }, ctx) => {
      ctx.log.info('a number', { n: 1n });
      return inputContext['big'] === true ? { n: 1n } : ([1] as object);
    },
  },
  concurrency: 2,
});
await worker.run();
say({ message: 'run has ended' });
