import type { StopCause } from './live-session.js';

const CODE = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * The cause of the server's order, for the session. For a pause the reason is text of the user who
 * paused. For a run that its own agent released, it is text of that agent. Every other reason is a
 * code.
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
