import { DroverError } from '#lib/kernel';

/** Why a client cannot go on behind what it had last, and where it goes on instead. */
export interface Loss {
  resumesAt: 'oldest' | 'next';
  problem: DroverError;
}

/**
 * @param what of which the stream is: `events`
 * @param place `expired`: what followed it is not kept any more; `ahead`: there is no such place yet
 */
export function lossOf(
  what: string,
  place: { expired: boolean; ahead: boolean },
): Loss | undefined {
  if (place.expired) {
    const detail = `Some ${what} since then are not kept any more: the stream begins with the oldest.`;
    return { resumesAt: 'oldest', problem: new DroverError('events_expired', { detail }) };
  }
  if (!place.ahead) return undefined;
  const detail = `The id is of none of the ${what} yet: the stream begins with what happens next.`;
  return { resumesAt: 'next', problem: new DroverError('events_expired', { detail }) };
}
