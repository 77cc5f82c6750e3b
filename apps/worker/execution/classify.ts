import {
  describeExit,
  MAX_MESSAGE,
  type SessionExit,
  signalOf,
  tellsOfFullHeap,
} from '#lib/runtime';
import type { RunFailure } from '../api/types.js';

/** How a process ended, and what else is known about it. */
export interface ExitEvidence extends Pick<SessionExit, 'exitCode' | 'signal' | 'oomKilled'> {
  /** The process' own class of its failure, in the line protocol. */
  said?: { message?: string; retryable?: boolean };
  /** The last lines of its standard error, redacted. */
  lastWords: string[];
}

/** Failures that are written into the program: the same command fails the same way again. */
const IN_THE_PROGRAM =
  /ERR_MODULE_NOT_FOUND|Cannot find module|ModuleNotFoundError|SyntaxError|ERR_PARSE_ARGS/;

const EX_CONFIG = 78;
const EX_TEMPFAIL = 75;
const MAX_STACK = 8_000;

/**
 * The reason of a failure and whether another attempt makes sense; apps/worker/README.md has the
 * table. Nothing but the evidence decides, so the same end always reads the same.
 */
export function classifyExit(evidence: ExitEvidence): RunFailure {
  const failure = { ...decide(evidence), ...words(evidence) };
  const { message, retryable } = evidence.said ?? {};
  return {
    ...failure,
    ...(message !== undefined && { message: message.slice(0, MAX_MESSAGE).toWellFormed() }),
    ...(retryable !== undefined && { retryable }),
  };
}

type Verdict = Pick<RunFailure, 'class' | 'exitCode' | 'signal' | 'retryable'>;

function decide(evidence: ExitEvidence): Verdict {
  const signal = evidence.signal ?? signalOf(evidence.exitCode);
  const exitCode = evidence.exitCode ?? undefined;
  if (ranOutOfMemory(evidence, signal)) return { class: 'oom', exitCode, signal, retryable: true };
  if (signal !== undefined) return { class: 'signal', exitCode, signal, retryable: true };
  return decideByCode(exitCode ?? 0, evidence.lastWords);
}

function decideByCode(exitCode: number, lastWords: string[]): Verdict {
  if (exitCode === 126 || exitCode === 127 || exitCode === EX_CONFIG) {
    return { class: 'setup', exitCode, retryable: false };
  }
  if (exitCode === EX_TEMPFAIL) return { class: 'exit_code', exitCode, retryable: true };
  const hopeless = lastWords.some((line) => IN_THE_PROGRAM.test(line));
  return { class: 'exit_code', exitCode, retryable: !hopeless };
}

function ranOutOfMemory(evidence: ExitEvidence, signal: string | undefined): boolean {
  if (signal === 'SIGKILL' && evidence.oomKilled === true) return true;
  return evidence.lastWords.some(tellsOfFullHeap);
}

function words(evidence: ExitEvidence): Pick<RunFailure, 'message' | 'stackTrace'> {
  const { lastWords } = evidence;
  const stackTrace = lastWords.join('\n').slice(-MAX_STACK).toWellFormed();
  const message = describeExit(evidence, lastWords);
  return { message, ...(stackTrace !== '' && { stackTrace }) };
}
