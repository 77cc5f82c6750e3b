import {
  hasCode,
  type HostLog,
  isBodyRefused,
  isCurable,
  messageOf,
  statusOf,
} from '#lib/agent-host';
import type { FinalReport } from '../api/types.js';

/**
 * The report to send if the server refuses the report of a run's end, so that the run does not stay
 * open. A refused result or question becomes a failure with the reason. A refused limit becomes a
 * release, which counts no attempt. Other reports lose their large parts.
 *
 * @returns undefined if nothing can be left out, or if the refusal does not concern the report
 */
export function withoutDetails(report: FinalReport, refusal: unknown): FinalReport | undefined {
  if (report.kind === 'questions' && hasCode(refusal, 'illegal_transition')) {
    // The task was paused meanwhile. The agent asks when the task is resumed.
    const { checkpointData } = report;
    return { kind: 'release', reason: 'paused', ...(checkpointData && { checkpointData }) };
  }
  if (!isBodyRefused(refusal)) return undefined;
  switch (report.kind) {
    case 'complete':
    case 'submit': {
      const message = cut(`The server refused the result: ${messageOf(refusal)}`, 1_000);
      return {
        kind: 'fail',
        error: { message, class: 'exit_code', exitCode: 0, retryable: false },
      };
    }
    case 'fail': {
      const { message, class: failureClass, exitCode, retryable } = report.error;
      const error = { message: cut(message, 200), class: failureClass, exitCode, retryable };
      return { kind: 'fail', error };
    }
    case 'provider-limits': {
      const { checkpointData } = report;
      const { fallbacks, ...limit } = report.limit;
      const isTooLarge = statusOf(refusal) === 413;
      // A server of the version before knows no fallbacks.
      if (fallbacks !== undefined && !isTooLarge) return { ...report, limit };
      const checkpoint = isTooLarge || checkpointData === undefined ? {} : { checkpointData };
      return { kind: 'release', reason: 'provider_limited', ...checkpoint };
    }
    case 'questions': {
      const message = cut(`The server refused the question: ${messageOf(refusal)}`, 1_000);
      const error = { message, class: 'exit_code', retryable: false } as const;
      return { kind: 'fail', error };
    }
    case 'release':
      return report.checkpointData && { kind: 'release', reason: report.reason };
  }
}

/**
 * Sends the report of a run's end, and once more without its details if the server refuses these.
 *
 * @throws the errors of `send`
 */
export async function sendOrReduce<T>(
  report: FinalReport,
  send: (report: FinalReport) => Promise<T>,
  log: HostLog,
): Promise<T> {
  try {
    return await send(report);
  } catch (error) {
    const reduced = withoutDetails(report, error);
    if (reduced === undefined || isCurable(error)) throw error;
    log.warn('Run end report refused', { error: messageOf(error) });
    return send(reduced);
  }
}

/** Cuts a text without half a character at its end, which the server would refuse. */
function cut(text: string, maxLength: number): string {
  return text.slice(0, maxLength).toWellFormed();
}
