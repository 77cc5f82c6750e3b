import { DroverError } from '#lib/kernel';
import { type CommandRequest, possibleCommands, type TaskCommand } from '../domain/commands.js';
import { legalTaskTransitions, type LockedTask, type TaskStatus } from '#lib/transitions';

const DONE: Record<TaskCommand, string> = {
  cancel: 'cancelled',
  pause: 'paused',
  resume: 'resumed',
  retry: 'retried',
  archive: 'archived',
};

/**
 * The refusal of a command. It also names the possible commands: an aborted task can become
 * PENDING, but only by a retry, not by a resumption.
 */
export function illegalCommand(
  task: LockedTask,
  command: TaskCommand,
  request: CommandRequest,
  requested: TaskStatus,
): DroverError {
  const { status: current } = task;
  const commands = possibleCommands(task, request);
  const others =
    commands.length === 0 ? 'It takes no command any more.' : `It takes: ${commands.join(', ')}.`;
  const look = `drover review merge ${task.id}`;
  const landed = `Its change can be on the target already, and a host has to look: ${look}`;
  const isUnclear = command === 'retry' && task.may_have_landed === true;
  return new DroverError('illegal_transition', {
    detail: isUnclear
      ? landed
      : `The task ${standOf(task)}, and can't be ${DONE[command]}. ${others}`,
    members: { current, requested, legal: legalTaskTransitions(current), commands },
  });
}

function standOf({
  status,
  retry_at: retryAt,
  waits_for_answer: asks,
  waits_for_review: submitted,
}: LockedTask): string {
  if (asks) return 'waits for an answer to its question';
  if (submitted) return 'waits for the review of its change';
  return retryAt === null ? `is ${status}` : `is ${status} and waits for its retry`;
}
