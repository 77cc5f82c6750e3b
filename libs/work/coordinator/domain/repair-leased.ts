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
  /** The named run has ended, belongs to another task, or never existed. */
  | 'no_live_run'
  /** The run is live and its agent is TERMINATED. */
  | 'agent_gone'
  /** The task is ASSIGNED and its run has begun. */
  | 'task_behind'
  /** The task is RUNNING and its run has not begun. */
  | 'run_behind';

export type Repair =
  | { kind: 'recover'; plan: FailurePlan }
  | { kind: 'catch_up'; transition: Transition }
  | { kind: 'begin_run' }
  /** The task stays PAUSED and no longer holds a run. */
  | { kind: 'forget_run' };

/**
 * Plans how a task and its run become consistent. A live run goes on; otherwise the task is retried
 * like after any failure of ours.
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

/** The named run stays unchanged: it has ended, or belongs to another task. */
function retryWithoutRun(task: LockedTask, policy: RetryPolicy, random: number): Repair {
  const message = `It was ${task.status}, but no live run held it`;
  const failure = { reason: 'infrastructure', message, actor: COORDINATOR } as const;
  const plan = planFailure(task, failure, policy, random);
  if (plan.kind === 'detach') return { kind: 'forget_run' };
  return { kind: 'recover', plan: { ...plan, first: { ...plan.first, run: undefined } } };
}
