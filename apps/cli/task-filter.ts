import type { OptionSpec } from './command.js';
import { type Flags, omitUndefined } from './flags.js';
import type { ListedStatus } from './task-view.js';

/** Options that select tasks. A task must match all that are given. */
export const TASK_FILTERS: readonly OptionSpec[] = [
  [
    '--status <status...>',
    'statuses: PENDING, ASSIGNED, RUNNING, PAUSED, ABORTED, RETRYING, CANCELLED, FAILED, COMPLETED, ARCHIVED',
  ],
  ['--type <name>', 'task type'],
  ['--tag <name...>', 'tags that the task must have'],
  ['--agent <agent>', 'name or ID of the agent'],
  ['--kind <kind>', 'kind of the coding agent, such as codex'],
  ['--project <project>', 'name or ID of the project'],
  ['--milestone <id>', 'ID of the milestone'],
  ['--parent <task>', 'ID of the parent task'],
  ['--schedule <schedule>', 'name or ID of the schedule that created the task'],
  ['--text <words>', 'words in the title or description'],
  ['--id <digits>', 'first digits of the ID, at least 4'],
  ['--asking', 'select only tasks with an open question'],
  ['--dead-letter', 'select only tasks of the dead letter'],
  ['--group <group>', 'group of the dead letter'],
  ['--created-after <time>', 'earliest creation, such as 2026-12-24T18:00:00Z'],
  ['--created-before <time>', 'end of the creations'],
  ['--updated-after <time>', 'earliest last change'],
  ['--updated-before <time>', 'end of the last changes'],
];

/** The filter of the API. Empty if no option is given. */
export function toTaskFilter(flags: Flags) {
  return omitUndefined({
    status: flags.list('status')?.map((word) => word.toUpperCase()) as ListedStatus[] | undefined,
    taskType: flags.text('type'),
    tags: flags.list('tag'),
    agentId: flags.text('agent'),
    agentKind: flags.text('kind'),
    projectId: flags.text('project'),
    milestoneId: flags.text('milestone'),
    parentTaskId: flags.text('parent'),
    scheduleId: flags.text('schedule'),
    text: flags.text('text'),
    idPrefix: flags.text('id'),
    waitsForAnswer: flags.has('asking') || undefined,
    deadLetter: flags.has('dead-letter') || undefined,
    failureFingerprint: flags.text('group'),
    createdAfter: flags.text('created-after'),
    createdBefore: flags.text('created-before'),
    updatedAfter: flags.text('updated-after'),
    updatedBefore: flags.text('updated-before'),
  });
}
