import type { Client } from './client.js';
import type { Agent } from './site.js';

/** Completes an agent's run, if any, and claims the next. @returns its new run */
export type Move = (agent: Agent, held: readonly string[]) => Promise<string[]>;

interface Claimed {
  run: { id: string };
}

/**
 * Uses the API with one request per move. Without reports of many runs at once, it needs one per
 * run.
 */
export async function moveOver(client: Client, agent: Agent, maxTasks: number): Promise<Move> {
  const claimNext = { maxTasks };
  const bulk = maxTasks > 1 && (await client.has('/api/v1/runs/complete', agent.token));
  return async ({ id, token }, held) => {
    const post = <T>(path: string, body: object) => client.post<T>(`/api/v1${path}`, token, body);
    const complete = (runId: string, body: object) =>
      post<{ claimed?: Claimed[] }>(`/runs/${runId}/complete`, body);
    const [first, ...others] = held;
    if (first === undefined) {
      return runsOf((await post<{ tasks: Claimed[] }>(`/agents/${id}/claim`, claimNext)).tasks);
    }
    if (bulk) {
      const completions = held.map((runId) => ({ runId }));
      const body = { completions, claimNext };
      return runsOf((await post<{ claimed?: Claimed[] }>('/runs/complete', body)).claimed);
    }
    await Promise.all(others.map((runId) => complete(runId, {})));
    return runsOf((await complete(first, { claimNext })).claimed);
  };
}

/** Moves tasks over the bare server. */
export function moveOverBare(client: Client, maxTasks: number): Move {
  return async ({ token }, done) => {
    const { tasks } = await client.post<{ tasks: { id: string }[] }>('/next', token, {
      done,
      maxTasks,
    });
    return tasks.map(({ id }) => id);
  };
}

export interface Drained {
  /** The tasks per second. */
  rate: number;
  /** The latency of each move that completed something, in ms. */
  latencies: number[];
}

/**
 * All agents move on until nothing is left. @throws Error if a task was not handed out exactly once
 */
export async function drainBy(
  move: Move,
  agents: readonly Agent[],
  tasks: number,
): Promise<Drained> {
  const latencies: number[] = [];
  let done = 0;
  const start = performance.now();
  const work = async (agent: Agent): Promise<void> => {
    for (let held = await move(agent, []); held.length > 0;) {
      const began = performance.now();
      const next = await move(agent, held);
      latencies.push(performance.now() - began);
      done += held.length;
      held = next;
    }
  };
  await Promise.all(agents.map(work));
  const rate = done / ((performance.now() - start) / 1000);
  if (done !== tasks) throw new Error(`${done} tasks were done instead of ${tasks}`);
  return { rate, latencies };
}

function runsOf(claimed: readonly Claimed[] = []): string[] {
  return claimed.map(({ run }) => run.id);
}

/** The mean times of a request, in ms. */
export interface Spent {
  claim: number;
  complete: number;
}

/**
 * Each agent claims this number of tasks and completes them, one request each, for some rounds.
 *
 * @throws Error if nothing is left
 */
export async function claimAndComplete(
  client: Client,
  agents: readonly Agent[],
  { maxTasks, rounds }: { maxTasks: number; rounds: number },
): Promise<Spent> {
  const spent = { claim: 0, complete: 0 };
  const timed = async <T>(what: keyof Spent, work: Promise<T>): Promise<T> => {
    const began = performance.now();
    const result = await work;
    spent[what] += (performance.now() - began) / rounds / agents.length;
    return result;
  };
  const work = async ({ id, token }: Agent): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      const path = `/api/v1/agents/${id}/claim`;
      const claim = client.post<{ tasks: Claimed[] }>(path, token, { maxTasks });
      const completions = runsOf((await timed('claim', claim)).tasks).map((runId) => ({ runId }));
      if (completions.length < maxTasks) throw new Error('There are too few tasks');
      await timed('complete', client.post('/api/v1/runs/complete', token, { completions }));
    }
  };
  await Promise.all(agents.map(work));
  return spent;
}
