import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestFleet } from '../support/fleet.js';
import { waitFor } from '../support/wait-for.js';
import { PullAgent } from './harness/pull-agent.js';
import { expectInvariants } from './harness/verdict.js';

const STALE_SECONDS = 3;
/**
 * Searches are at least 20 ms apart, and take one or two silent agents for dead. So at most two of them
 * can do so within 40 ms, and the others are still enough to be doubted.
 */
const AT_ONCE_MS = 40;
const CROWD = 8;

let fleet: TestFleet;

beforeAll(async () => {
  fleet = await TestFleet.create();
  await fleet.startServer();
});

afterAll(() => fleet.stop());

interface RunRow {
  agent_id: string;
  state: string;
  end_reason: string | null;
}

async function runsOf(taskId: string): Promise<RunRow[]> {
  const { rows } = await fleet.db.owner.query<RunRow>(
    'SELECT agent_id, state, end_reason FROM task_runs WHERE task_id = $1 ORDER BY generation',
    [taskId],
  );
  return rows;
}

/** An agent that can take only its own tasks. */
const anAgent = (capability: string) =>
  PullAgent.register(fleet, { capabilities: [capability], staleThresholdSeconds: STALE_SECONDS });

const aTask = (capability: string) => fleet.submit('', { requiredCapabilities: [capability] });

/** The server receives this agent's heartbeats, so the others are silent by themselves. */
async function aWitness(): Promise<PullAgent> {
  const witness = await anAgent('witness');
  await witness.startHeartbeats();
  return witness;
}

/** Ends with one heartbeat of each agent, all at once. */
async function fallSilent(agents: readonly PullAgent[]): Promise<void> {
  for (const agent of agents) agent.stopHeartbeats();
  let took: number;
  do {
    const start = performance.now();
    await Promise.all(agents.map((agent) => agent.heartbeat()));
    took = performance.now() - start;
  } while (took > AT_ONCE_MS);
}

describe('an agent', () => {
  it('another agent gets the task of a dead agent as a second run', async () => {
    const witness = await aWitness();
    const dying = await anAgent('dying');
    await dying.startHeartbeats();
    const taskId = await aTask('dying');
    await dying.start(await dying.claim());
    dying.stopHeartbeats();
    const heir = await anAgent('dying');
    await heir.startHeartbeats();
    const run = await heir.claim();
    expect(run.taskId).toBe(taskId);
    await heir.complete(run);
    expect(await runsOf(taskId)).toEqual([
      { agent_id: dying.id, state: 'FAILED', end_reason: 'agent_stale' },
      { agent_id: heir.id, state: 'COMPLETED', end_reason: 'completed' },
    ]);
    await Promise.all([witness.leave(), heir.leave()]);
  });

  it('an agent that stopped past its threshold finds its task completed by another', async () => {
    const witness = await aWitness();
    const stopped = await fleet.startWorker('stopped', {
      DROVER_WORKER_CAPABILITIES: 'stopped',
      DROVER_WORKER_STALE_SECONDS: String(STALE_SECONDS),
    });
    const go = join(fleet.folder, 'go');
    const script = `
      const fs = require('fs');
      fs.writeFileSync(${JSON.stringify(`${go}.begun`)}, '');
      const timer = setInterval(() => {
        if (!fs.existsSync(${JSON.stringify(go)})) return;
        clearInterval(timer);
        fs.writeFileSync(${JSON.stringify(`${go}.done`)}, '');
        console.log('::drover {"result": {"late": true}}');
      }, 20);`;
    const taskId = await fleet.submit(script, { requiredCapabilities: ['stopped'] });
    await waitFor('its process', () => existsSync(`${go}.begun`));
    stopped.kill('SIGSTOP');
    const heir = await anAgent('stopped');
    await heir.startHeartbeats();
    const run = await heir.claim();
    expect(run.taskId).toBe(taskId);
    await heir.complete(run);
    // Its process did not stop, and has completed by the time the worker can report.
    writeFileSync(go, '');
    await waitFor('the process of the stopped worker', () => existsSync(`${go}.done`));
    stopped.kill('SIGCONT');
    await stopped.said('Run lost; ending it');
    const [first] = await runsOf(taskId);
    expect(first).toMatchObject({ state: 'FAILED', end_reason: 'agent_stale' });
    expect(await fleet.task(taskId)).toMatchObject({
      status: 'COMPLETED',
      outputResult: { by: heir.id },
      generation: 2,
    });
    await Promise.all([witness.leave(), heir.leave(), stopped.stop()]);
  });

  it('an agent that returns to a reassigned task gets stale_run, and changes nothing', async () => {
    const witness = await aWitness();
    const late = await anAgent('late');
    await late.heartbeat();
    const taskId = await aTask('late');
    const held = await late.claim();
    await late.start(held);
    const heir = await anAgent('late');
    await heir.startHeartbeats();
    const run = await heir.claim();
    expect(await late.complete(held)).toMatchObject({ status: 409, body: { code: 'stale_run' } });
    expect((await fleet.task(taskId))['runId']).toBe(run.runId);
    await heir.complete(run);
    await Promise.all([witness.leave(), heir.leave()]);
  });

  it('agents that fall silent all at once get a second threshold of time', async () => {
    const crowd = await Promise.all(Array.from({ length: CROWD }, () => anAgent('crowd')));
    await Promise.all(crowd.map((agent) => agent.startHeartbeats()));
    const taskIds = await Promise.all(crowd.map(() => aTask('crowd')));
    for (const agent of crowd) await agent.start(await agent.claim());
    await fallSilent(crowd);
    const silentSince = performance.now();
    await waitFor('the doubt', async () => {
      const { rows } = await fleet.db.owner.query(
        `SELECT FROM coordinator_logs WHERE event = 'silence_doubted'`,
      );
      return rows.length > 0;
    });
    await waitFor('the tasks to be given back', async () => {
      const tasks = await Promise.all(taskIds.map((id) => fleet.task(id)));
      return tasks.every((task) => task['status'] === 'PENDING');
    });
    expect(performance.now() - silentSince).toBeGreaterThan(2 * STALE_SECONDS * 1_000 - 1_000);
    const heir = await anAgent('crowd');
    await heir.startHeartbeats();
    for (let n = 0; n < CROWD; n++) await heir.complete(await heir.claim());
    for (const id of taskIds) expect(await runsOf(id)).toHaveLength(2);
    await heir.leave();
  });

  it('faults of agents leave every invariant intact', async () => {
    await expectInvariants(fleet.db);
  });
});
