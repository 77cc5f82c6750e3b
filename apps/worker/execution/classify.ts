import { classOfExit, programFault, signalOf } from '#lib/kernel';
import {
  describeExit,
  MAX_MESSAGE,
  reportsFullHeap,
  type SessionExit,
  wasRefusedSpace,
} from '#lib/session-runtime';
import type { RunFailure } from '../api/types.js';

/** The end of a process, with other known facts. */
export interface ExitEvidence extends Pick<
  SessionExit,
  'lost' | 'exitCode' | 'signal' | 'oomKilled' | 'exceeded' | 'folderFull'
> {
  /** The process's own classification of its failure, in the line protocol. */
  ownReport?: { message?: string; retryable?: boolean };
  /** The last lines of its standard error, redacted. */
  lastWords: string[];
}

const EX_TEMPFAIL = 75;
const MAX_STACK = 8_000;

/**
 * The reason of a failure, and whether another attempt makes sense. docs/task-lifecycle.md has the
 * table.
 */
export function classifyExit(evidence: ExitEvidence): RunFailure {
  const failure = { ...decide(evidence), ...words(evidence) };
  const { message, retryable } = evidence.ownReport ?? {};
  return {
    ...failure,
    ...(message !== undefined && { message: message.slice(0, MAX_MESSAGE).toWellFormed() }),
    ...(retryable !== undefined && { retryable }),
  };
}

type Verdict = Pick<RunFailure, 'class' | 'exitCode' | 'signal' | 'retryable'>;

function decide(evidence: ExitEvidence): Verdict {
  const { exitCode, lastWords } = evidence;
  const heapIsFull = lastWords.some(reportsFullHeap);
  const quotaIsFull = wasRefusedSpace(evidence, lastWords.join('\n'));
  // A process that was asked to end has not failed: see final-report.ts.
  const failure = classOfExit({ ...evidence, heapIsFull, quotaIsFull, asked: false });
  return {
    class: failure,
    exitCode: exitCode ?? undefined,
    signal: evidence.signal ?? signalOf(exitCode),
    retryable: failure !== 'setup' && !(failure === 'exit_code' && isHopeless(evidence)),
  };
}

function isHopeless({ exitCode, lastWords }: ExitEvidence): boolean {
  return exitCode !== EX_TEMPFAIL && programFault(lastWords.join('\n')) !== undefined;
}

function words(evidence: ExitEvidence): Pick<RunFailure, 'message' | 'stackTrace'> {
  const { lastWords } = evidence;
  const stackTrace = lastWords.join('\n').slice(-MAX_STACK).toWellFormed();
  const message = describeExit(evidence, lastWords);
  return { message, ...(stackTrace !== '' && { stackTrace }) };
}
