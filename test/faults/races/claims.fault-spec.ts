import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '#lib/kernel';
import { expectInvariants } from '../harness/verdict.js';
import { api, Arena, atOnce } from './arena.js';

const ROUNDS = 40;
const LIVE = ['ASSIGNED', 'WORKING', 'STALE'];

let arena: Arena;

beforeAll(async () => {
  arena = await Arena.open();
});
afterAll(() => arena.close());

const rounds = Array.from({ length: ROUNDS }, (_, round) => round);
const status = (answer: { status: number }) => answer.status;

describe('concurrent claims and commands', () => {
  it('one of six claims gets the last slot of an agent', async () => {
    const capability = `only-${newId()}`;
    await Promise.all(Array.from({ length: ROUNDS + 10 }, () => arena.task(capability)));
    const agent = await arena.contender(capability, 3);
    const held = await arena.claim(agent, 0, 2);
    expect(held).toHaveLength(2);
    for (const round of rounds) {
      const claims = await atOnce(
        Array.from({ length: 6 }, (_, n) => () => arena.claim(agent, n + round, 2)),
      );
      const [won, ...others] = claims.flat();
      expect(others).toEqual([]);
      const { body } = await arena.workspace.api.get(`/agents/${agent.id}`);
      expect(body).toMatchObject({ liveRuns: 3 });
      await api(agent).post(`/runs/${won?.runId}/complete`);
    }
    await expectInvariants(arena.db);
  });

  it('ten agents that claim three tasks get each task once', async () => {
    for (const round of rounds) {
      const capability = `only-${newId()}`;
      const ids = await Promise.all([1, 2, 3].map(() => arena.task(capability)));
      const agents = await Promise.all(
        Array.from({ length: 10 }, () => arena.contender(capability)),
      );
      const claims = await atOnce(agents.map((agent, n) => () => arena.claim(agent, n + round)));
      const given = claims.flat().map((held) => held.taskId);
      // A claim skips tasks that another one has locked, and is repeated. No task is handed out
      // twice.
      expect(new Set(given).size).toBe(given.length);
      for (const agent of agents) given.push(...(await arena.claim(agent)).map((h) => h.taskId));
      expect(given.sort()).toEqual(ids.sort());
    }
    await expectInvariants(arena.db);
  });

  it('claim, pause, cancel and archive at once: the answers match the stored states', async () => {
    for (const round of rounds) {
      const capability = `only-${newId()}`;
      const taskId = await arena.task(capability);
      const agent = await arena.contender(capability);
      const [held, pause, archive] = await Promise.all([
        arena.claim(agent, round),
        arena.command(taskId, 'pause').then(status),
        arena.command(taskId, 'archive').then(status),
      ]);
      expect({ pause, archive }).toEqual({ pause: 200, archive: 409 });
      const task = await arena.read(taskId);
      expect(task).toMatchObject({ status: 'PAUSED', runId: held[0]?.runId ?? null });
      const [start, cancel] = await atOnce([
        () =>
          api(agent, round)
            .post(`/runs/${held[0]?.runId ?? newId()}/start`)
            .then(status),
        () => arena.command(taskId, 'cancel').then(status),
      ]);
      // A paused task is not started, whoever holds it.
      expect({ start: start === 200, cancel }).toEqual({ start: false, cancel: 200 });
      expect(await arena.read(taskId)).toMatchObject({ status: 'ABORTED', runId: null });
    }
    await expectInvariants(arena.db);
  });

  it('deregister and claim at once: no run stays with an agent that has gone', async () => {
    let given = 0;
    for (const round of rounds) {
      const capability = `only-${newId()}`;
      const ids = await Promise.all([1, 2, 3].map(() => arena.task(capability)));
      const agent = await arena.contender(capability, 3);
      const [first, second, gone] = await Promise.all([
        arena.claim(agent, round, 1),
        arena.claim(agent, round + 1, 2),
        api(agent, round).post(`/agents/${agent.id}/deregister`).then(status),
      ]);
      expect(gone).toBe(200);
      const { body } = await arena.workspace.api.get(`/agents/${agent.id}`);
      expect(body).toMatchObject({ status: 'TERMINATED', liveRuns: 0 });
      for (const id of ids) {
        expect(await arena.read(id)).toMatchObject({ status: 'PENDING', runId: null });
        const live = (await arena.runsOf(id)).filter((run) => LIVE.includes(run.state));
        expect(live).toEqual([]);
      }
      for (const { runId } of [...first, ...second]) {
        given += 1;
        const answer = await api(agent).post(`/runs/${runId}/complete`);
        expect([401, 403, 409]).toContain(answer.status);
      }
      const heir = await arena.contender(capability, 3);
      expect(await arena.claim(heir, 0, 3)).toHaveLength(3);
    }
    expect(given).toBeGreaterThan(0);
    await expectInvariants(arena.db);
  });
});

describe('dependencies that close a cycle together', () => {
  it.each([2, 3, 5])(
    'at least one of %i dependencies that close a cycle together is refused',
    async (size) => {
      for (const round of rounds) {
        const ids = await Promise.all(Array.from({ length: size }, () => arena.task('nobody')));
        const answers = await atOnce(
          ids.map((id, n) => () => {
            const dependsOn = [ids[(n + 1) % size]];
            return arena.workspace.api.post(`/agent-tasks/${id}/dependencies`, { dependsOn });
          }),
        );
        const refused = answers.filter((answer) => answer.status !== 200);
        expect({ round, refused: refused.map(({ body }) => body['code']) }).toEqual({
          round,
          refused: ['dependency_cycle'],
        });
        const { rows } = await arena.db.owner.query(
          'SELECT FROM task_dependencies WHERE task_id = ANY($1::uuid[])',
          [ids],
        );
        expect(rows).toHaveLength(size - 1);
      }
      await expectInvariants(arena.db);
    },
  );
});
