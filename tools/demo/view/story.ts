import type { Outcome } from '#lib/invariants';
import type { AgentStory } from '../agent/play.js';
import type { BudgetStory } from '../budget.js';
import type { Fleet } from '../fleet.js';
import type { Speed } from '../measure.js';
import type { Killed } from '../murder.js';
import type { ResumeProof } from '../proof.js';
import {
  ALLOCATED_TOKENS,
  HEARTBEAT_SECONDS,
  RAISED_TOKENS,
  SHIPPED,
  STALE_SECONDS,
  USED_TOKENS,
} from '../settings.js';
import type { Recovery } from '../timeline.js';
import type { LogEntry } from '#lib/api-client';
import { fit, milliseconds, type Paint } from './text.js';

const count = (value: number): string => value.toLocaleString('en-US');

export function timelineLines(
  log: readonly LogEntry[],
  { killed, fleet, paint }: { killed: Killed; fleet: Fleet; paint: Paint },
): string[] {
  const start = Date.parse(log[0]?.createdAt ?? '');
  const at = (time: number): string => `${((time - start) / 1000).toFixed(2).padStart(8)} s  `;
  const steps = foldCheckpoints(log).map(({ entry, more }) => ({
    time: Date.parse(entry.createdAt),
    text: `${sentenceOf(entry, fleet)}${more === 0 ? '' : ` (and ${more} before it)`}`,
  }));
  const kill = `SIGKILL for the worker ${killed.worker.name}, at ${killed.progressPercent} %`;
  steps.push({ time: killed.at.getTime(), text: paint('red', kill) });
  return steps.sort((a, b) => a.time - b.time).map(({ time, text }) => `${at(time)}${text}`);
}

/** Consecutive checkpoints become one line, the latest. */
function foldCheckpoints(log: readonly LogEntry[]): { entry: LogEntry; more: number }[] {
  const lines: { entry: LogEntry; more: number }[] = [];
  for (const entry of log) {
    const last = lines.at(-1);
    const repeats = entry.event === 'checkpoint' && last?.entry.event === 'checkpoint';
    if (repeats) lines[lines.length - 1] = { entry, more: last.more + 1 };
    else lines.push({ entry, more: 0 });
  }
  return lines;
}

function sentenceOf(entry: LogEntry, fleet: Fleet): string {
  const by = entry.actor.kind === 'coordinator' ? 'the coordinator' : fleet.nameOf(entry.agentId);
  const who = by === '' ? '' : ` by ${by}`;
  const why = entry.message === null ? '' : `: ${entry.message}`;
  if (entry.newStatus === null) return `${entry.event}${why}`;
  const from = entry.previousStatus === null ? '' : `${entry.previousStatus} -> `;
  return `${from}${entry.newStatus}${who}${why}`;
}

export function proofLines(proof: ResumeProof): string[] {
  return [
    `${count(proof.beforeKill)} files were hashed before the kill, ${count(proof.afterKill)} after it, of ${count(proof.files)}.`,
    `The retry went on after file ${count(proof.resumedAfter)}: ${count(proof.repeatedInVain)} files of the checkpoint were hashed`,
    `again, and the ${count(proof.repeatedRightly)} that were hashed between it and the kill.`,
  ];
}

export function budgetLines({ usedUp, waits, claimedMs, atEnd }: BudgetStory): string[] {
  const of = ({ consumed, reserved, available }: BudgetStory['atEnd']): string =>
    `${count(Number(consumed))} consumed, ${count(Number(reserved))} reserved, ${count(Number(available))} available`;
  const [first = '', ...rest] = waits.split(/(?<=[.:]) /);
  return [
    `A project has ${count(ALLOCATED_TOKENS)} tokens. Two tasks use ${count(USED_TOKENS)} each: ${of(usedUp)}.`,
    `A third waits: ${first}`,
    ...rest,
    `Raised to ${count(RAISED_TOKENS)}: the third is claimed after ${milliseconds(claimedMs)}. At the end ${of(atEnd)}.`,
  ];
}

const STEP_LENGTH = 100;

export function agentLines(story: AgentStory): string[] {
  const { agent, answers, isolation, steps, file, commit, usedTokens, servedTokens } = story;
  const proof =
    servedTokens === undefined
      ? 'as the provider counted them'
      : `and the stand-in served ${count(servedTokens)}`;
  return [
    `${agent} changed a repository. Its worker was ${story.wasKilled ? '' : 'not '}killed in the middle.`,
    `Isolation: ${isolation}.`,
    answers,
    ...steps.map((step) => `  > ${fit(step, STEP_LENGTH).trimEnd()}`),
    '',
    `The branch main has the commit ${commit}`,
    ...file
      .trimEnd()
      .split('\n')
      .map((line) => `  | ${line}`),
    '',
    `The ledger has ${count(usedTokens)} tokens of it, ${proof}.`,
  ];
}

export function measurementLines(
  recovery: Recovery,
  speed: Speed,
  job: { tasks: number; seconds: number },
): string[] {
  const { dispatchLatencyMs: latency } = speed;
  return [
    `job                ${job.tasks} tasks in ${job.seconds.toFixed(1)} s`,
    `dispatch latency   p50 ${milliseconds(latency.p50)}, p99 ${milliseconds(latency.p99)} (ready to claimed, idle fleet, ${latency.samples} tasks)`,
    `throughput         ${speed.tasksPerSecond} tasks/s (${speed.burst} tasks, each a process of its own, by the two workers left)`,
    `recovery           ${milliseconds(recovery.claimedMs)} from SIGKILL to another worker's claim: found dead after ${milliseconds(recovery.foundMs)},`,
    `                   back in the queue after ${milliseconds(recovery.requeuedMs)}, running after ${milliseconds(recovery.runningMs)}`,
    `                   (the demo's workers send heartbeats every ${HEARTBEAT_SECONDS} s and are dead after ${STALE_SECONDS} s; shipped: ${SHIPPED.heartbeatSeconds} s and ${SHIPPED.staleSeconds} s)`,
  ];
}

export function invariantLines(outcomes: readonly Outcome[], paint: Paint): string[] {
  return outcomes.flatMap(({ title, holds, violations }) => [
    `${holds ? paint('green', 'holds ') : paint('red', 'BROKEN')}  ${title}`,
    ...violations.map(({ subject, problem }) => `          ${subject} ${problem}`),
  ]);
}
