import type { StopCause } from './live-session.js';

const CODE = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * The cause of the server's order, for the session. For a pause the server sends the words of the user who
 * paused, and for a run that its own side had released, that side's words; all else are codes.
 */
export function causeOf({
  action,
  reason,
}: {
  action: 'stop' | 'pause';
  reason: string;
}): StopCause {
  if (action === 'pause') {
    return { kind: 'pause', reason: 'pause', ...(reason !== 'paused' && { message: reason }) };
  }
  if (CODE.test(reason)) return { kind: 'asked', reason };
  return { kind: 'asked', reason: 'stale_run', message: reason };
}
