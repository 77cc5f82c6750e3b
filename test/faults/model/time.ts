import { expect } from '@jest/globals';
import fc from 'fast-check';
import { at, Deed, hasAgents, hasTasks, index } from './deed.js';
import { deregister } from './rules.js';
import { liveRunsOf, type Pulse } from './state.js';
import { sweep } from './sweep.js';
import { verdictOf } from './world.js';

export const changingPulse = fc
  .record({ agent: index, pulse: fc.constantFrom<Pulse>('missed', 'dead', 'heartbeats') })
  .map(
    (given) =>
      new Deed(
        `${given.pulse}(agent ${given.agent})`,
        (model) => {
          if (!hasAgents(model)) return false;
          const { life, pulse } = at(model.agents, given.agent);
          return life === 'ACTIVE' && pulse !== 'mute';
        },
        async (model, world) => {
          const agent = at(model.agents, given.agent);
          await world.heartbeat(agent.id, given.pulse);
          agent.pulse = given.pulse;
        },
      ),
  );

export const leavingAgent = index.map(
  (n) =>
    new Deed(`deregister(agent ${n})`, hasAgents, async (model, world) => {
      const agent = at(model.agents, n);
      const answer = await world.as(agent).post(`/agents/${agent.id}/deregister`);
      if (agent.life === 'TERMINATED') expect([200, 401]).toContain(answer.status);
      else expect(verdictOf(answer)).toBe(deregister(model, agent));
    }),
);

export const leasePassing = index.map(
  (n) =>
    new Deed(
      `leasePasses(${n})`,
      (model) =>
        model.agents.some((agent) => liveRunsOf(model, agent).some((run) => !run.byHeartbeat)),
      async (model, world) => {
        const held = model.runs.filter((run) => run.task.run === run && !run.byHeartbeat);
        const run = at(held, n);
        await world.letLeasePass(run.id);
        run.leasePassed = true;
      },
    ),
);

export const retryComingDue = index.map(
  (n) =>
    new Deed(
      `retryComesDue(${n})`,
      (model) => model.tasks.some((task) => task.retry === 'later'),
      async (model, world) => {
        const task = at(
          model.tasks.filter(({ retry }) => retry === 'later'),
          n,
        );
        await world.letRetryComeDue(task.id);
        task.retry = 'due';
      },
    ),
);

export const sweeping = fc.constant(
  new Deed('sweep()', hasTasks, async (model, world) => {
    await world.sweep();
    sweep(model);
  }),
);
