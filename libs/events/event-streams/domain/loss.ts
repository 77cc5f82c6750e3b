import { DroverError } from '#lib/kernel';

/** Why a client cannot resume after its last event, and where it resumes instead. */
export interface Loss {
  resumesAt: 'oldest' | 'next';
  problem: DroverError;
}

/**
 * @param what the stream's content: `events`
 * @param place `expired`: the following events are no longer stored; `ahead`: the position does not
 *   exist yet
 */
export function lossOf(
  what: string,
  place: { expired: boolean; ahead: boolean },
): Loss | undefined {
  if (place.expired) {
    const detail = `Some ${what} since then are no longer kept. The stream begins with the oldest.`;
    return { resumesAt: 'oldest', problem: new DroverError('events_expired', { detail }) };
  }
  if (!place.ahead) return undefined;
  const detail = `The id is ahead of all ${what}. The stream begins with the next one.`;
  return { resumesAt: 'next', problem: new DroverError('events_expired', { detail }) };
}
