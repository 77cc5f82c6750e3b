import { type Message, wants } from '#lib/journal/domain';

/** Which events a stream has: all that is given must hold. */
export interface EventFilter {
  /** `EVENT_FILTERS` of libs/events/journal. */
  types?: readonly string[];
  taskId?: string;
  agentId?: string;
  /** Of what the client may not read. */
  without?: readonly Message['subject'][];
}

/** Whether a stream with the filter has the event. */
export function has(filter: EventFilter, { subject, body, taskId, agentId }: Message): boolean {
  const { types, without } = filter;
  if (without?.includes(subject)) return false;
  if (types && !wants(types, body['event'] as string)) return false;
  if (filter.taskId !== undefined && taskId !== filter.taskId) return false;
  return filter.agentId === undefined || agentId === filter.agentId;
}

/** A row of the journal has two ids: one of the event, one of the run's that moved with it. */
const IDS_A_ROW = 2n;
const MAX_ID = 2n ** 63n - 1n;

/** Where a client resumes: the rows up to `from` it has whole, and of what follows it has the ids up to `id`. */
export interface Place {
  from: bigint;
  id: bigint;
}

/** The place of a client that has had the event with the id; undefined for what no event's id is. */
export function placeAfter(id: string): Place | undefined {
  if (!/^\d{1,19}$/.test(id)) return undefined;
  const number = BigInt(id);
  if (number > MAX_ID) return undefined;
  return { from: number === 0n ? 0n : (number - 1n) / IDS_A_ROW, id: number };
}

/** The place behind all events of a row. */
export function placeAtEndOf(row: bigint): Place {
  return { from: row, id: row * IDS_A_ROW + 1n };
}
