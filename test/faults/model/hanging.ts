import { expect } from '@jest/globals';
import fc from 'fast-check';
import { at, Deed, hasAgents, index } from './deed.js';
import { progressOf, reportAs } from './reports.js';
import { isLive, type Model, type Run } from './state.js';

const begun = (model: Readonly<Model>): Run[] =>
  model.runs.filter((run) => isLive(run) && run.started);
const warned = (model: Readonly<Model>): Run[] =>
  model.runs.filter((run) => isLive(run) && run.warning === 'fresh');

/** Moves the last progress of a run, or its expected end, back by an hour. */
export const fallingSilent = fc
  .record({ run: index, what: fc.constantFrom('both', 'both', 'both', 'both', 'silent', 'late') })
  .map(
    ({ run: n, what }) =>
      new Deed(
        `fallsSilent(${n}, ${what})`,
        (model) => begun(model).length > 0,
        async (model, world) => {
          const run = at(begun(model), n);
          if (what !== 'late') {
            await world.letSilencePass(run.id);
            run.silent = true;
          }
          if (what !== 'silent') {
            await world.letEstimatePass(run.task.id);
            if (run.task.estimate !== 'none') run.task.estimate = 'past';
          }
        },
      ),
  );

export const warningAging = index.map(
  (n) =>
    new Deed(
      `warningAges(${n})`,
      (model) => warned(model).length > 0,
      async (model, world) => {
        const run = at(warned(model), n);
        await world.letWarningAge(run.id);
        run.warning = 'old';
      },
    ),
);

/** The agent reports that it does not hang. */
export const warnedReporting = fc.record({ run: index, n: index }).map(
  (given) =>
    new Deed(
      `progress(warned run ${given.run}, ${given.n})`,
      (model) => warned(model).length > 0,
      (model, world) => reportAs(model, world, progressOf(at(warned(model), given.run), given.n)),
    ),
);

/** An agent asks for the commands to all runs that it ever had. */
export const listening = index.map(
  (n) =>
    new Deed(`listen(agent ${n})`, hasAgents, async (model, world) => {
      const agent = at(model.agents, n);
      const runs = model.runs.filter((run) => run.agent === agent);
      if (runs.length === 0) return;
      const answer = await world.as(agent).post<{ runs: Told[] }>(`/agents/${agent.id}/signals`, {
        runIds: runs.map(({ id }) => id),
      });
      if (agent.life === 'TERMINATED' && answer.status === 401) return;
      expect(answer.status).toBe(200);
      const told = new Map(answer.body.runs.map(({ runId, action }) => [runId, action]));
      expect(runs.map(({ id }) => told.get(id))).toEqual(runs.map(toBeTold));
    }),
);

interface Told {
  runId: string;
  action: string;
}

function toBeTold(run: Run): string | undefined {
  if (!isLive(run)) return 'stop';
  if (run.task.status === 'PAUSED') return 'pause';
  return run.task.status === 'RUNNING' && run.warning !== 'none' ? 'warn' : undefined;
}
