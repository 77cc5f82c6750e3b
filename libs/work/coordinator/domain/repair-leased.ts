import { COORDINATOR } from '#lib/kernel';
import {
  type LockedTask,
  type Transition,
  planFailure,
  type FailurePlan,
  type RetryPolicy,
} from '#lib/transitions/domain';

/** The inconsistencies between a leased task and its run. */
export type LeasedDefect =
  /** The run that it names has ended, is another task's, or never was. */
  | 'no_live_run'
  /** The run is live, and its agent TERMINATED. */
  | 'agent_gone'
  /** ASSIGNED, and its run has begun. */
  | 'task_behind'
  /** RUNNING, and its run has not begun. */
  | 'run_behind';

export type Repair =
  | { kind: 'recover'; plan: FailurePlan }
  | { kind: 'catch_up'; transition: Transition }
  | { kind: 'begin_run' }
  /** PAUSED: it stays so, and holds no run any more. */
  | { kind: 'forget_run' };

/**
 * How a task and its run come together again: what is alive goes on, what is not is tried again like after
 * any failure of ours.
 *
 * @param random a number in [0, 1)
 */
export function planRepair(
  task: LockedTask,
  defect: LeasedDefect,
  policy: RetryPolicy,
  random: number,
): Repair {
  switch (defect) {
    case 'task_behind': {
      const message = 'It was ASSIGNED, but its run had begun';
      const about = { workspaceId: task.workspace_id, taskId: task.id, actor: COORDINATOR };
      return { kind: 'catch_up', transition: { ...about, to: 'RUNNING', level: 'WARN', message } };
    }
    case 'run_behind':
      return { kind: 'begin_run' };
    case 'agent_gone': {
      const message = 'Its agent was terminated';
      const failure = { reason: 'agent_terminated', message, actor: COORDINATOR } as const;
      return { kind: 'recover', plan: planFailure(task, failure, policy, random) };
    }
    case 'no_live_run':
      return task.status === 'PAUSED'
        ? { kind: 'forget_run' }
        : retryWithoutRun(task, policy, random);
  }
}

/** The run that the task names is left alone: it has ended, or is another task's. */
function retryWithoutRun(task: LockedTask, policy: RetryPolicy, random: number): Repair {
  const message = `It was ${task.status}, but no live run held it`;
  const failure = { reason: 'infrastructure', message, actor: COORDINATOR } as const;
  const plan = planFailure(task, failure, policy, random);
  if (plan.kind === 'detach') return { kind: 'forget_run' };
  return { kind: 'recover', plan: { ...plan, first: { ...plan.first, run: undefined } } };
}
