import type { WakeUps } from '#lib/valkey';

/**
 * Calls back at every wake-up. Each transition of a task wakes somebody, so each also indicates an
 * event.
 */
export function onEveryWakeUp(wakeUps: WakeUps, listener: () => void): () => void {
  const undo = [
    wakeUps.onClaims(listener),
    wakeUps.onCoordinator(listener),
    wakeUps.onSignals(listener),
  ];
  return () => undo.forEach((each) => each());
}
