import type { Conversation, Turn } from '../../support/model-server/index.js';
import type { Ground, TriedKind } from '../ground.js';
import { expectEqual, type Trial } from '../trial.js';

const CALLS = 3;
const SUMMARY = 'All three calls are made.';
/** The longest time between a result and the state that has it, in milliseconds. */
const KEEP_MS = 5_000;

/** A place in the script at which the worker is killed. */
interface Moment {
  name: string;
  turn: number;
  /** The chunk of the answer before which it happens. Undefined: while the tool of the turn runs. */
  chunk?: number;
}

const MOMENTS: Moment[] = [
  { name: 'before the first answer', turn: 0, chunk: 0 },
  { name: 'in the first answer', turn: 0, chunk: 1 },
  { name: 'in the first call', turn: 0 },
  { name: 'before the second answer', turn: 1, chunk: 0 },
  { name: 'in the second answer', turn: 1, chunk: 1 },
  { name: 'in the second call', turn: 1 },
  { name: 'before the third answer', turn: 2, chunk: 0 },
  { name: 'in the third answer', turn: 2, chunk: 1 },
  { name: 'before the last answer', turn: CALLS, chunk: 0 },
  { name: 'in the last answer', turn: CALLS, chunk: 1 },
];

export const kills: Trial[] = MOMENTS.map((moment) => ({
  name: `killed ${moment.name}, finished by another worker`,
  run: (ground, kind) => killAt(ground, kind, moment),
}));

async function killAt(ground: Ground, kind: TriedKind, moment: Moment) {
  await ground.needWorkers(2);
  const script = new KillScript(moment, ground);
  const models = await ground.answer(kind, (conversation) => script.turns(conversation));
  let id: string | undefined;
  try {
    id = await ground.submit(kind, { maxRetries: 1 });
    await untilThere(ground, id, script);
    // At once: a state has the calls before the last one.
    const done = await resultsOf(ground, id);
    const victim = await ground.task(id);
    script.isOver = true;
    await ground.killWorkerOf(victim);
    const task = await ground.untilStatus(id, 'COMPLETED', 'FAILED');
    expectEqual('the end', task.status, 'COMPLETED');
    expectEqual('the summary', task.summary?.trim(), SUMMARY);
    expectEqual('the retries', task.retryCount, 1);
    expectEqual('the worker is another one', task.agentId !== victim.agentId, true);
    const all = await resultsOf(ground, id);
    const twice = done.filter((call) => all.filter((other) => other === call).length > 1);
    expectEqual('calls that were recorded as done and made again', twice.join(', '), '');
    expectEqual('the calls that were made', new Set(all).size, CALLS);
    const isResumed = (await ground.logOf(id, 'agent_resumed')).length > 0;
    const beginning = isResumed ? 'resumed' : 'a new conversation';
    return `${beginning}, ${done.length} recorded calls not repeated`;
  } finally {
    await models.close();
    await ground.clear(id);
  }
}

/**
 * The turns of an agent, which stop at a moment until its worker was killed. As a model does, the script makes no
 * call that its conversation has or that its prompt names as done.
 */
class KillScript {
  isOver = false;
  /** The stand-in has come to the moment. */
  isThere = false;

  constructor(
    readonly moment: Moment,
    private readonly ground: Ground,
  ) {}

  turns({ prompt, later, items }: Conversation): Turn[] {
    const results = items.filter(({ kind }) => kind === 'result');
    const isDone = (turn: number) =>
      results.some(({ text }) => new RegExp(`${markOf(turn)}(?!-)`).test(text)) ||
      new RegExp(`done, with ".*${markOf(turn)}(?!-)`).test(`${prompt}\n${later}`);
    const open = Array.from({ length: CALLS }, (_, turn) => turn).filter((turn) => !isDone(turn));
    const calls = open.map((turn): Turn => ({
      text: `Call ${turn} comes.`,
      calls: [{ run: this.commandOf(turn) }],
      beforeChunk: (chunk) => this.before(turn, chunk),
    }));
    // The stand-in goes on with the turn after as many results.
    const passed = results.map((): Turn => ({ calls: [{ run: 'true' }] }));
    const last = { text: SUMMARY, beforeChunk: (chunk: number) => this.before(CALLS, chunk) };
    return [...passed, ...calls, last];
  }

  private before(turn: number, chunk: number): Promise<void> | undefined {
    if (this.isOver) return undefined;
    if (turn === this.moment.turn && chunk === this.moment.chunk) {
      this.isThere = true;
      return new Promise(() => undefined);
    }
    const isBetween = turn > 0 && turn < this.moment.turn && chunk === 0;
    return isBetween ? this.untilKept() : undefined;
  }

  /** Resolves when a state was kept after now, or none came in the time that one needs. */
  private async untilKept(): Promise<void> {
    const { keptStates: before } = this.ground;
    const until = performance.now() + KEEP_MS;
    const isKept = () => this.ground.keptStates > before;
    await this.ground.until('a state', () => isKept() || performance.now() > until);
  }

  private commandOf(turn: number): string {
    const hangs = !this.isOver && turn === this.moment.turn && this.moment.chunk === undefined;
    return hangs ? `echo ${markOf(turn)}-hangs; sleep 600` : `echo ${markOf(turn)}`;
  }
}

function markOf(turn: number): string {
  return `call-${turn}-done`;
}

async function untilThere(ground: Ground, id: string, script: KillScript): Promise<void> {
  const { moment } = script;
  await ground.until(`the moment ${moment.name}`, async () => {
    const { status, lastError } = await ground.task(id);
    if (['FAILED', 'ABORTED', 'COMPLETED'].includes(status)) {
      throw new Error(`ended before: ${lastError ?? status}`);
    }
    if (moment.chunk !== undefined) {
      const before = await resultsOf(ground, id);
      return script.isThere && before.length >= moment.turn;
    }
    const calls = await ground.logOf(id, 'agent_tool');
    return calls.some((title) => title.includes(`${markOf(moment.turn)}-hangs`));
  });
}

/** The marks of the calls whose results are in the log. */
async function resultsOf(ground: Ground, id: string): Promise<string[]> {
  const results = await ground.logOf(id, 'agent_tool_result');
  return results.flatMap((text) => /call-\d-done(?!-)/.exec(text)?.[0] ?? []);
}
