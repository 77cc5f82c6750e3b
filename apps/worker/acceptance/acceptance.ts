import { join } from 'node:path';
import { reachOf, strictestReach } from '#lib/kernel';
import { copyFileBelow, keepLine, listFilesBelow, type Redactor } from '#lib/session-runtime';
import { runScript, type ScriptEnd, type ScriptHost } from '../code/run-script.js';
import { readReach } from '../execution/command.js';
import { type Job, type Outcome, reachOfRun, type RunningJob } from '../execution/job.js';
import { isOfPrograms, MAX_BYTES, MAX_FILES } from '../runs/kept-files.js';

export interface AcceptanceParts extends ScriptHost {
  workspaceId?: string;
  redactor: () => Redactor;
}

/** The most time of the commands; that of the run ends them too. */
const TIMEOUT_SECONDS = 1_800;
/** The end of the output that the failure keeps, in characters. */
const MAX_OUTPUT = 30_000;
const EVENT = 'acceptance';

/**
 * The job, whose success counts only after the acceptance commands of its task. They run on the files
 * that the job left, in a clean sandbox, where no process of the job is.
 */
export function withAcceptance(job: Job, running: RunningJob, parts: AcceptanceParts): RunningJob {
  const { acceptanceScript } = job.task;
  if (acceptanceScript === null || acceptanceScript === undefined) return running;
  const stopping = new AbortController();
  const accept = async (outcome: Outcome): Promise<Outcome> => {
    if (outcome.kind !== 'succeeded') return outcome;
    return accepted(job, outcome, { ...parts, text: acceptanceScript, signal: stopping.signal });
  };
  return {
    exit: running.exit.then(accept),
    stop: (graceMs) => {
      stopping.abort(new Error('The run was stopped during its acceptance'));
      running.stop(graceMs);
    },
    notify: (signal) => running.notify(signal),
    hear: running.hear && ((message) => running.hear?.(message)),
    pauseAfterTurn: running.pauseAfterTurn && ((isWanted) => running.pauseAfterTurn?.(isWanted)),
  };
}

/** @throws SpawnError, and the error of the signal when it aborts */
async function accepted(
  job: Job,
  outcome: Outcome,
  { text, signal, driver, scripts, workspaceId, redactor }: AcceptanceParts & Signalled,
): Promise<Outcome> {
  const { task, run, report, folder } = job;
  const asked = readReach(task.inputContext) ?? reachOf('none', []);
  report.progress({ currentStep: 'Running acceptance' });
  const prepare = async (work: string): Promise<void> => {
    const left = await copyFilesLeft(folder, work, signal);
    for (const why of left) report.log('WARN', `Acceptance does not see ${why}`, EVENT);
  };
  const end = await runScript(
    { driver, scripts },
    {
      text,
      timeoutSeconds: TIMEOUT_SECONDS,
      access: { variables: {}, secrets: task.secrets ?? {} },
      reach: strictestReach(reachOfRun(run), asked),
      workspaceId,
      prepare,
      signal,
    },
  );
  const output = redactor().redactFile(end.output);
  return judged(job, outcome, { ...end, output });
}

interface Signalled {
  text: string;
  signal: AbortSignal;
}

function judged({ report }: Job, outcome: Outcome, end: ScriptEnd): Outcome {
  const { exitCode, how, durationMs, output } = end;
  const isGreen = exitCode === 0;
  const failure = exitCode === -1 ? how : `failed (${exitCode})`;
  const message = `Its acceptance ${isGreen ? 'succeeded' : failure}`;
  report.log(isGreen ? 'INFO' : 'WARN', message, EVENT, { exitCode, durationMs });
  for (const line of output.trimEnd().split('\n')) {
    // The output has no secrets any more.
    if (line !== '')
      report.log(
        'INFO',
        keepLine(line, 0, (text) => text),
        'acceptance_output',
      );
  }
  if (isGreen) return outcome;
  const stackTrace = output.slice(-MAX_OUTPUT);
  const error = { message, exitCode, stackTrace, retryable: true };
  return { kind: 'failed', error: { ...error, class: 'acceptance_failed' } };
}

/**
 * Copies the files that Drover keeps of a run into a working folder, one at a time. Those of
 * `$DROVER_ARTIFACTS` come first.
 *
 * @returns the files that are left out, with the reason
 */
async function copyFilesLeft(
  { artifacts, work }: Pick<Job['folder'], 'artifacts' | 'work'>,
  to: string,
  signal: AbortSignal,
): Promise<string[]> {
  const copied = new Set<string>();
  const left: string[] = [];
  let room = MAX_BYTES;
  for (const [folder, leaveOut] of [[artifacts], [work, isOfPrograms]] as const) {
    const search = { most: MAX_FILES - copied.size, ...(leaveOut && { leaveOut }) };
    const { names, isCut } = await listFilesBelow(folder, search);
    if (isCut) left.push(`further files: there are more than ${MAX_FILES}`);
    for (const name of names.filter((one) => !copied.has(one))) {
      if (signal.aborted) return left;
      const copy = await copyFileBelow(folder, name, { to: join(to, name), maxBytes: room });
      if (copy.kind === 'unusable') left.push(`${name}, which ${copy.why}`);
      else {
        room -= copy.size;
        copied.add(name);
      }
    }
  }
  return left;
}
