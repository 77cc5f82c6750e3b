import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectInvariants } from '../harness/verdict.js';
import { api, Arena, atOnce, atOnceWithSweeps } from './arena.js';

const ROUNDS = 40;

let arena: Arena;

beforeAll(async () => {
  arena = await Arena.open();
});
afterAll(() => arena.close());

const rounds = Array.from({ length: ROUNDS }, (_, round) => round);
const status = (answer: { status: number }) => answer.status;

describe('concurrent ends of one run', () => {
  it('complete, fail, release, cancel, a passed lease and a retry at once: one ends the run', async () => {
    const winners = new Map<string, number>();
    for (const round of rounds) {
      const held = await arena.underWay();
      const { taskId, runId, agent } = held;
      await arena.letLeasePass(held);
      const report = (name: string, server: number, body?: object) => () =>
        api(agent, server).post(`/runs/${runId}/${name}`, body).then(status);
      const [complete, fail, release, cancel, expired] = await atOnceWithSweeps([
        report('complete', round),
        report('fail', round + 1, { error: { message: 'on purpose', class: 'exit_code' } }),
        report('release', round),
        () => arena.command(taskId, 'cancel').then(status),
        () => arena.expireLeases(),
        () => arena.command(taskId, 'retry').then(status),
      ]);
      const run = (await arena.runsOf(taskId))[0];
      // A cancel after another end finds a task that waits for its retry, and succeeds.
      const byEnd = { complete, fail, release, cancel, expired };
      const wins = {
        complete: run?.state === 'COMPLETED',
        fail: run?.end_reason === 'exit_code',
        release: run?.end_reason === 'released',
        cancel: run?.end_reason === 'cancelled',
        expired: run?.end_reason === 'lease_expired',
      };
      const winner = Object.entries(wins).filter(([, won]) => won);
      expect({ winner, byEnd }).toMatchObject({ winner: [expect.anything()] });
      // A failed run answers a second failure as a repetition, and so does a released one.
      expect([complete === 200, fail === 200, release === 200]).toEqual([
        run?.state === 'COMPLETED',
        run?.state === 'FAILED',
        run?.state === 'RELEASED',
      ]);
      expect(expired).toBe(wins.expired ? 1 : 0);
      if (wins.cancel || wins.complete) expect(cancel === 200).toBe(wins.cancel);
      const way = await arena.wayOf(taskId);
      if (wins.complete) expect(way.slice(3)).toEqual(['COMPLETED']);
      else expect(way).not.toContain('COMPLETED');
      const name = winner[0]?.[0] ?? '';
      winners.set(name, (winners.get(name) ?? 0) + 1);
    }
    // A race with a constant winner is no race.
    expect(winners.size).toBeGreaterThan(1);
    await expectInvariants(arena.db);
  });

  it('complete, fail, cancel, heartbeat, sweep and retry for a dead agent: one ends the run', async () => {
    const winners = new Set<string>();
    for (const round of rounds) {
      const held = await arena.underWay();
      const { taskId, runId, agent } = held;
      await arena.fallSilent(held);
      expect(await arena.runsOf(taskId)).toMatchObject([{ state: 'STALE' }]);
      const report = (name: string, server: number, body?: object) => () =>
        api(agent, server).post(`/runs/${runId}/${name}`, body).then(status);
      const heartbeat = { status: 'healthy' };
      const [complete, fail, recovered, cancel] = await atOnceWithSweeps<unknown>([
        report('complete', round),
        report('fail', round + 1, { error: { message: 'on purpose', class: 'exit_code' } }),
        () => arena.recoverLost(),
        () => arena.command(taskId, 'cancel').then(status),
        () => api(agent, round).post(`/agents/${agent.id}/heartbeat`, heartbeat),
        () => arena.watchLiveness(),
        () => arena.command(taskId, 'retry').then(status),
      ]);
      const [run] = await arena.runsOf(taskId);
      const end = run?.end_reason ?? 'none';
      expect(['completed', 'exit_code', 'agent_stale', 'cancelled']).toContain(end);
      expect({ end, complete, failed: fail === 200, recovered }).toEqual({
        end,
        complete: end === 'completed' ? 200 : 409,
        // A failed run answers a second failure as a repetition.
        failed: end === 'exit_code' || end === 'agent_stale',
        recovered: end === 'agent_stale' ? 1 : 0,
      });
      if (end === 'cancelled') expect(cancel).toBe(200);
      const way = await arena.wayOf(taskId);
      if (end === 'completed') expect(way.slice(3)).toEqual(['COMPLETED']);
      else expect(way).not.toContain('COMPLETED');
      winners.add(end);
    }
    // A race with a constant winner is no race.
    expect(winners.size).toBeGreaterThan(1);
    await expectInvariants(arena.db);
  });

  it('eight equal completions take effect once and get the same answer', async () => {
    for (const round of rounds) {
      const { taskId, runId, agent } = await arena.underWay();
      const answers = await atOnce(
        Array.from(
          { length: 8 },
          (_, n) => () =>
            api(agent, n + round).post(`/runs/${runId}/complete`, { outputResult: { by: n } }),
        ),
      );
      const expected = { status: 200, body: { taskId, runId, status: 'COMPLETED', version: 4 } };
      for (const answer of answers) expect(answer).toMatchObject(expected);
      expect(await arena.wayOf(taskId)).toEqual(['PENDING', 'ASSIGNED', 'RUNNING', 'COMPLETED']);
    }
  });

  it('four equal failures and the sweeps count as one attempt', async () => {
    for (const round of rounds) {
      const { taskId, runId, agent } = await arena.underWay({ maxRetries: 2 });
      const error = { error: { message: 'on purpose', class: 'exit_code' } };
      const fails = Array.from(
        { length: 4 },
        (_, n) => () =>
          api(agent, n + round)
            .post(`/runs/${runId}/fail`, error)
            .then(status),
      );
      const answers = await atOnceWithSweeps<unknown>([...fails, () => arena.promoteRetries()]);
      expect(answers.slice(0, 4)).toEqual([200, 200, 200, 200]);
      expect(await arena.read(taskId)).toMatchObject({ retryCount: 1, generation: 1 });
      expect(await arena.runsOf(taskId)).toMatchObject([{ state: 'FAILED' }]);
    }
    await expectInvariants(arena.db);
  });

  it('retry and archive, each twice at once: one of the two happens', async () => {
    for (const round of rounds) {
      const taskId = await arena.task('nobody');
      await arena.command(taskId, 'cancel');
      const commands = ['retry', 'archive', 'retry', 'archive'];
      const answers = await atOnce(
        commands.map((command) => () => arena.command(taskId, command).then(status)),
      );
      const retried = answers.filter((code, at) => at % 2 === 0 && code === 200).length;
      const archived = answers.filter((code, at) => at % 2 === 1 && code === 200).length;
      // Archiving an archived task is no error. Retrying a waiting one is an error.
      expect([
        [1, 0],
        [0, 2],
      ]).toContainEqual([retried, archived]);
      const { status: end } = await arena.read(taskId);
      expect({ round, end }).toEqual({ round, end: retried === 1 ? 'PENDING' : 'ARCHIVED' });
    }
  });

  it('pause, resume and complete at once: an accepted completion stays', async () => {
    for (const round of rounds) {
      const { taskId, runId, agent } = await arena.underWay();
      const [complete] = await atOnce([
        () => api(agent, round).post(`/runs/${runId}/complete`).then(status),
        () => arena.command(taskId, 'pause').then(status),
        () => arena.command(taskId, 'resume').then(status),
        () =>
          api(agent, round + 1)
            .post(`/runs/${runId}/release`)
            .then(status),
      ]);
      const way = await arena.wayOf(taskId);
      expect(way.filter((step) => step === 'COMPLETED')).toHaveLength(complete === 200 ? 1 : 0);
      if (complete === 200) expect(way.at(-1)).toBe('COMPLETED');
    }
    await expectInvariants(arena.db);
  });
});
