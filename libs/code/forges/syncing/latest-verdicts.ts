import type { ForgeEvent } from '../kinds/forge.js';

/**
 * The events in which only the last verdict of each person is one. The earlier ones, which that
 * person has replaced, are comments.
 */
export function latestVerdicts(events: readonly ForgeEvent[]): ForgeEvent[] {
  const last = new Map(
    events.filter(({ verdict }) => verdict !== 'commented').map(({ login, id }) => [login, id]),
  );
  return events.map((event) =>
    event.verdict === 'commented' || last.get(event.login) === event.id
      ? event
      : { ...event, verdict: 'commented' },
  );
}
