import { endRun, may, move, reconsider, type Verdict } from './rules.js';
import { type Model, type Switch, type Task } from './state.js';

export type Command = 'pause' | 'resume' | 'cancel' | 'cascade' | 'retry' | 'archive';

export const COMMANDS: Record<Command, (model: Model, task: Task) => Verdict> = {
  pause(model, task) {
    if (task.question) return 'illegal_transition';
    if (task.status === 'PAUSED') return 200;
    if (!may(task, 'PAUSED')) return 'illegal_transition';
    move(model, task, 'PAUSED');
    if (task.run) task.run.warning = 'none';
    return 200;
  },
  resume(model, task) {
    if (['PENDING', 'ASSIGNED', 'RUNNING'].includes(task.status)) return 200;
    if (task.status !== 'PAUSED' || task.question) return 'illegal_transition';
    if (task.run?.started) {
      move(model, task, 'RUNNING');
      task.run.warning = 'none';
    } else {
      endRun(task.run, 'RELEASED', 'resumed_elsewhere');
      model.clock += 1;
      move(model, task, 'PENDING');
      reconsider(task);
    }
    return 200;
  },
  cancel(model, task) {
    if (task.status === 'ABORTED' && task.retry === 'none') return 200;
    if (!may(task, 'ABORTED')) return 'illegal_transition';
    abort(model, task, 'cancelled');
    return 200;
  },
  cascade(model, task) {
    const verdict = COMMANDS.cancel(model, task);
    if (verdict !== 200) return verdict;
    for (const other of model.tasks) {
      if (other !== task && mayStillRun(other) && comesAfter(other, task)) {
        abort(model, other, 'dependency_cancelled');
      }
    }
    return 200;
  },
  retry(model, task) {
    if (task.status !== 'FAILED' && task.status !== 'ABORTED') return 'illegal_transition';
    model.clock += 1;
    move(model, task, 'PENDING');
    task.retryCount = 0;
    reconsider(task);
    return 200;
  },
  archive(model, task) {
    if (task.status === 'ARCHIVED') return 200;
    const waits = task.status === 'ABORTED' && task.retry !== 'none';
    if (waits || !may(task, 'ARCHIVED')) return 'illegal_transition';
    move(model, task, 'ARCHIVED');
    return 200;
  },
};

function abort(model: Model, task: Task, reason: string): void {
  move(model, task, 'ABORTED');
  task.abortReason = reason;
  endRun(task.run, 'RELEASED', 'cancelled');
}

function mayStillRun({ status, retry }: Task): boolean {
  if (status === 'ABORTED') return retry !== 'none';
  return ['PENDING', 'ASSIGNED', 'RUNNING', 'PAUSED'].includes(status);
}

/** Tells whether it depends on the other, also through finished tasks. */
function comesAfter(task: Task, other: Task, seen = new Set<Task>()): boolean {
  if (seen.has(task)) return false;
  seen.add(task);
  return task.edges.some(
    ({ on, settled }) => !settled && (on === other || comesAfter(on, other, seen)),
  );
}

export function turnSwitch(model: Model, made: Pick<Switch, 'id' | 'taskType' | 'until'>): void {
  model.switches.push({ ...made, ended: false });
}

export function liftSwitch(lifted: Switch): Verdict {
  lifted.ended = true;
  return 200;
}
