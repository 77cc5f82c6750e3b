import { expect } from '@jest/globals';
import fc from 'fast-check';
import { at, Deed, index } from './deed.js';
import { holds, type Model, type Switch } from './state.js';
import { liftSwitch, turnSwitch } from './user-rules.js';
import { verdictOf } from './world.js';

/** Two types, so that one continues while the other is paused. */
export const taskType = fc.constantFrom('odd', 'even');

const switchedType = fc.oneof({ arbitrary: taskType, weight: 4 }, fc.constant(null));

export const switchingOff = fc.record({ taskType: switchedType, until: fc.boolean() }).map(
  (given) =>
    new Deed(
      `switchOff(${given.taskType ?? 'everything'}${given.until ? ', for a day' : ''})`,
      mayBeMade,
      async (model, world) => {
        const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
        const answer = await world.api.post<{ id: string }>('/pauses', {
          ...(given.taskType === null
            ? { scope: 'workspace' }
            : { scope: 'task_type', taskType: given.taskType }),
          reason: 'Modelled',
          ...(given.until && { until: tomorrow }),
        });
        expect(answer.status).toBe(201);
        const until = given.until ? 'ahead' : 'never';
        turnSwitch(model, { id: answer.body.id, taskType: given.taskType, until });
      },
    ),
);

function mayBeMade({ tasks, switches }: Readonly<Model>): boolean {
  return tasks.length > 0 && switches.filter(holds).length < 2;
}

export const liftingSwitch = index.map(
  (n) =>
    new Deed(
      `lift(switch ${n})`,
      (model) => model.switches.length > 0,
      async (model, world) => {
        // Picks most often an active pause. Ending a pause that has ended changes nothing.
        const held = model.switches.filter(holds);
        const lifted = at(held.length > 0 ? held : model.switches, n);
        const answer = await world.api.delete(`/pauses/${lifted.id}`);
        expect(verdictOf(answer)).toBe(liftSwitch(lifted));
      },
    ),
);

export const switchEnding = index.map(
  (n) =>
    new Deed(
      `switchEnds(${n})`,
      (model) => timed(model).length > 0,
      async (model, world) => {
        const ending = at(timed(model), n);
        await world.letSwitchEnd(ending.id);
        ending.until = 'past';
      },
    ),
);

function timed(model: Readonly<Model>): Switch[] {
  return model.switches.filter((each) => holds(each) && each.until === 'ahead');
}
