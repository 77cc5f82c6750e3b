import type { WorkerConfig } from '../config.js';

type Limits = Pick<WorkerConfig, 'sessionSeconds' | 'maxSessionSeconds'>;

/** @returns the seconds that a run can take, null without a limit */
export function sessionTime(
  timeoutSeconds: number | null | undefined,
  { sessionSeconds, maxSessionSeconds }: Limits,
): number | null {
  const seconds = timeoutSeconds || sessionSeconds || maxSessionSeconds;
  if (seconds === 0) return null;
  return maxSessionSeconds === 0 ? seconds : Math.min(seconds, maxSessionSeconds);
}
