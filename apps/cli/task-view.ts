import type { components } from '#lib/api-client';
import type { Output, Colour } from './output/output.js';
import { clean } from './output/clean.js';
import { ago, lasting } from './output/output.js';
import type { Column } from './output/table.js';

export type Task = components['schemas']['Task'];
export type TaskStatus = Task['status'];
type Log = components['schemas']['TaskLogEntry'];
type Explanation = components['schemas']['Explanation'];
type TimeRange = components['schemas']['TimeRange'];

export const OVER: readonly TaskStatus[] = ['COMPLETED', 'FAILED', 'ABORTED', 'ARCHIVED'];

/** Whether nothing will happen to it any more: one that is retried is not over. */
export function isOver({ status, retryAt }: Task): boolean {
  return OVER.includes(status) && retryAt === null;
}

/** A task that rests because it has asked a person says so. */
function standing({ status, pausedFor }: Task): string {
  return status === 'PAUSED' && pausedFor === 'question' ? 'PAUSED, asks' : status;
}

export const TASK_COLUMNS: readonly Column<Task>[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'status', of: standing },
  { title: 'prio', of: ({ priority }) => priority },
  { title: 'progress', of: ({ progressPercent }) => `${progressPercent} %` },
  { title: 'type', of: ({ taskType }) => taskType, wide: true },
  { title: 'title', of: ({ title }) => title, wide: true },
  { title: 'age', of: ({ createdAt }) => ago(createdAt) },
];

export function showTask(out: Output, task: Task): void {
  out.record(task, [
    ['id', task.id],
    ['title', task.title],
    ['status', standing(task)],
    ['type', task.taskType],
    ['description', task.description],
    ['progress', `${task.progressPercent} %${task.currentStep ? `, ${task.currentStep}` : ''}`],
    ['priority', task.priority],
    ['agent', task.agentId],
    ['run', task.runId],
    ['project', task.projectId],
    ['retries', `${task.retryCount} of ${task.maxRetries}`],
    ['retry at', task.retryAt],
    ['depends on', task.dependsOn.join(', ')],
    ['blocks', task.blocks.join(', ')],
    ['capabilities', task.requiredCapabilities.join(', ')],
    ['tags', task.tags.join(', ')],
    ['last error', task.lastError],
    ['abort reason', [task.abortReason, task.abortMessage].filter(Boolean).join(': ')],
    ['input', task.inputContext],
    ['output', task.outputResult],
    ['checkpoint', task.checkpointData],
    ['created', task.createdAt],
    ['started', task.startedAt],
    ['completed', task.completedAt],
  ]);
}

/** Of one that a run holds nothing is said of its start: it is over. */
export function showExplanation(out: Output, explanation: Explanation): void {
  const { status, live, reasons, estimate } = explanation;
  out.record(explanation, [
    ['status', status],
    ...reasons.map((reason) => ['reason', sentenceOf(reason)] as const),
    ['starts', live ? null : timeOf(estimate.start)],
    ['ends', timeOf(estimate.end)],
    ['no estimate', estimate.unknownBecause],
  ]);
}

function sentenceOf(reason: object): string {
  const { message, code } = reason as { message?: string; code?: string };
  return message ?? code ?? JSON.stringify(reason);
}

function timeOf(range: TimeRange | null): string | null {
  const until = (time: string): string => lasting((Date.parse(time) - Date.now()) / 1000);
  return range && `in ${until(range.p50)}, at the latest in ${until(range.p90)} (9 of 10)`;
}

const COLOURS: Partial<Record<string, Colour>> = {
  COMPLETED: 'green',
  RUNNING: 'blue',
  ASSIGNED: 'cyan',
  FAILED: 'red',
  ABORTED: 'yellow',
  ERROR: 'red',
  CRITICAL: 'red',
  WARN: 'yellow',
};

export function painted(out: Output, word: string): string {
  const colour = COLOURS[word];
  return colour ? out.paint(colour, word) : word;
}

/** One entry of a task's log, fit for a terminal; in several lines where its message has them. */
export function logLine(out: Output, { createdAt, level, action, message }: Log): string {
  const text = clean(message ?? action);
  return `${out.paint('dim', createdAt)} ${painted(out, level)} ${text}`;
}
