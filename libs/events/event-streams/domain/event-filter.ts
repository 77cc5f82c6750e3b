import { type Message, wants } from '#lib/journal/domain';

/** The filter of a stream. All given conditions must hold. */
export interface EventFilter {
  /** `EVENT_FILTERS` of libs/events/journal. */
  types?: readonly string[];
  taskId?: string;
  agentId?: string;
  /** Subjects that the client cannot read. */
  without?: readonly Message['subject'][];
}

/** Whether the event passes the filter. */
export function has(filter: EventFilter, { subject, body, taskId, agentId }: Message): boolean {
  const { types, without } = filter;
  if (without?.includes(subject)) return false;
  if (types && !wants(types, body['event'] as string, body['newStatus'])) return false;
  if (filter.taskId !== undefined && taskId !== filter.taskId) return false;
  return filter.agentId === undefined || agentId === filter.agentId;
}

/**
 * A row of the journal has two ids: one of the event, one of the run's event that moved with it.
 */
const IDS_A_ROW = 2n;
const MAX_ID = 2n ** 63n - 1n;

/** The position of a client. It has all rows up to `from`, and of the rest the ids up to `id`. */
export interface Place {
  from: bigint;
  id: bigint;
}

/**
 * The position of a client that has received the event with this id. Undefined if it is no event's
 * id.
 */
export function placeAfter(id: string): Place | undefined {
  if (!/^\d{1,19}$/.test(id)) return undefined;
  const number = BigInt(id);
  if (number > MAX_ID) return undefined;
  return { from: number === 0n ? 0n : (number - 1n) / IDS_A_ROW, id: number };
}

/** The position after all events of a row. */
export function placeAtEndOf(row: bigint): Place {
  return { from: row, id: row * IDS_A_ROW + 1n };
}
