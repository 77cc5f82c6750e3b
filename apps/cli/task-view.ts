import {
  type components,
  describeEntry,
  describeError,
  describeTime,
  splitMessage,
  timeOfEntry,
  WHY_NO_ESTIMATE,
} from '#lib/api-client';
import type { TaskNames } from './task-names.js';
import type { Output, Colour } from './output/output.js';
import { clean } from './output/clean.js';
import { formatAge, formatDuration } from './output/output.js';
import type { Column } from './output/table.js';

export type Task = components['schemas']['Task'];
export type TaskStatus = Task['status'];
/** Kinds of ABORTED are listed apart. */
export type ListedStatus = TaskStatus | 'RETRYING' | 'CANCELLED';
type Log = components['schemas']['TaskLogEntry'];
export type Explanation = components['schemas']['Explanation'];
type TimeRange = components['schemas']['TimeRange'];

export const FINISHED: readonly TaskStatus[] = ['COMPLETED', 'FAILED', 'ABORTED', 'ARCHIVED'];

/** Whether the task is finished. A task that waits for a retry is not. */
export function isFinished({ status, retryAt }: Task): boolean {
  return FINISHED.includes(status) && retryAt === null;
}

/** The reasons of an abort that somebody wanted. */
const CANCELLATIONS = ['cancelled', 'dependency_cancelled'];

/** Formats the status. A task that waits for people or for its retry says so. */
export function formatStatus({ status, pausedFor, retryAt, abortReason }: Task): string {
  if (retryAt !== null) return `RETRYING in ${formatUntil(retryAt)}`;
  if (status === 'ABORTED' && CANCELLATIONS.includes(abortReason ?? '')) return 'CANCELLED';
  if (status !== 'PAUSED') return status;
  if (pausedFor === 'question') return 'PAUSED, needs answer';
  return pausedFor === 'review' ? 'PAUSED for review' : status;
}

export const TASK_COLUMNS: readonly Column<Task>[] = [
  { title: 'id', isId: true, of: ({ id }) => id },
  { title: 'status', of: formatStatus },
  { title: 'priority', of: ({ priority }) => priority },
  { title: 'progress', of: ({ progressPercent }) => `${progressPercent}%` },
  { title: 'type', of: ({ taskType }) => taskType, wide: true },
  { title: 'title', of: ({ title }) => title, wide: true },
  { title: 'age', of: ({ createdAt }) => formatAge(createdAt) },
];

export function showTask(out: Output, task: Task, names: TaskNames): void {
  const { concurrencyKey, concurrencyLimit } = task;
  out.record(task, [
    ['id', task.id],
    ['title', task.title],
    ['status', formatStatus(task)],
    ['type', task.taskType],
    ['description', task.description],
    ['progress', `${task.progressPercent}%${task.currentStep ? `, ${task.currentStep}` : ''}`],
    ['priority', task.priority],
    ['agent', names.agent],
    ['run', task.runId],
    ['project', names.project],
    ['milestone', names.milestone],
    ['schedule', names.schedule],
    ['scheduled for', task.scheduledFor],
    ['start at', task.startAt],
    ['expires at', task.queueExpiresAt],
    ['concurrency key', concurrencyKey && `${concurrencyKey}, limit ${concurrencyLimit ?? 1}`],
    ['debounce key', task.debounceKey],
    ['replays', task.replaysId],
    ['replayed by', task.replayedById],
    ['dead letter', task.failureFingerprint],
    ['retries', `${task.retryCount} of ${task.maxRetries}`],
    ['retry at', task.retryAt],
    ['depends on', task.dependsOn.join(', ')],
    ['blocks', task.blocks.join(', ')],
    ['capabilities', task.requiredCapabilities.join(', ')],
    ['tags', task.tags.join(', ')],
    ['last error', task.lastError && describeError(task.lastError)],
    ['abort reason', [task.abortReason, task.abortMessage].filter(Boolean).join(': ')],
    ['input', task.inputContext],
    ['output', task.outputResult],
    ['checkpoint', task.checkpointData],
    ['created', task.createdAt],
    ['started', task.startedAt],
    ['completed', task.completedAt],
  ]);
}

/** Prints the explanation. A task that a run holds has started, so its start is omitted. */
export function showExplanation(out: Output, explanation: Explanation): void {
  const { status, live, reasons, estimate } = explanation;
  out.record(explanation, [
    ['status', status],
    ...reasons.map((reason) => ['reason', describeReason(reason)] as const),
    ['starts', live ? null : formatRange(estimate.start)],
    ['ends', formatRange(estimate.end)],
    ['no estimate', whyNoEstimate(estimate)],
  ]);
}

function whyNoEstimate({ unknownBecause }: Explanation['estimate']): string | null {
  if (unknownBecause === null || unknownBecause === 'ended') return null;
  return WHY_NO_ESTIMATE[unknownBecause];
}

/** The message with relative times, and without the ids of people. */
export function describeReason({ message, params }: Explanation['reasons'][number]): string {
  const parts = splitMessage(message, params).map((part) => {
    if (typeof part === 'string') return part;
    if (part.kind === 'time') return describeTime(part, Date.now(), formatDuration);
    return part.kind === 'user' ? part.name : part.text;
  });
  return parts.join('');
}

function formatRange(range: TimeRange | null): string | null {
  return range && `in ${formatUntil(range.p50)} (50%), in ${formatUntil(range.p90)} (90%)`;
}

const formatUntil = (time: string) => formatDuration((Date.parse(time) - Date.now()) / 1000);

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

/** @param text the text in the colour of the word */
export function colourWord(out: Output, word: string, text = word): string {
  const colour = COLOURS[word];
  return colour ? out.paint(colour, text) : text;
}

/** Formats a log entry for a terminal. A message of several lines keeps its lines. */
export function formatLogEntry(out: Output, entry: Log): string {
  const { level } = entry;
  const text = clean(describeEntry(entry));
  return `${out.paint('dim', out.logTime(timeOfEntry(entry)))} ${colourWord(out, level)} ${text}`;
}
