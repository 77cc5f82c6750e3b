import type { Bounds } from '../domain/request-holds.js';
import type { UsedRunRow } from './lock-charged.sql.js';

/** Returns the requests under way of a locked run. */
export function boundsIn({ request_holds: holds }: Pick<UsedRunRow, 'request_holds'>): Bounds {
  return new Map(Object.entries(holds).map(([id, tokens]) => [id, BigInt(tokens)]));
}

/** Returns the column of a run. Bounds are exact in JSON, because their limit is 10^12. */
export function columnOf(bounds: Bounds): Record<string, number> {
  return Object.fromEntries([...bounds].map(([id, tokens]) => [id, Number(tokens)]));
}
