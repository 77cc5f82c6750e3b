import { type Database, firstRow } from '#lib/database';
import type { SweepResult } from '#lib/transitions';
import {
  drawHorizon,
  type Horizon,
  keepPosition,
  readOldestOpen,
  readPosition,
  readWindowEnd,
} from '../store/searches.sql.js';
import type { Pass } from './pass.js';

/** A key of (workspace, id). */
export type Key = readonly [workspaceId: string, id: string];

/** The rows of one round: those that a part of the journal names, and those of a range of keys. */
export interface Subjects {
  /** Entries after the first and up to the second, as decimal texts. */
  entries: readonly [string, string];
  /** Keys after the first and up to the second. */
  keys: readonly [Key, Key];
}

const NO_ENTRIES = ['0', '0'] as const;
const LOWEST = '00000000-0000-0000-0000-000000000000';
const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const START: Key = [LOWEST, LOWEST];
const END: Key = [HIGHEST, HIGHEST];

/** Tasks of the walk in one round. 1,000,000 tasks take 200 rounds. */
export const WINDOW = 5_000;
/** Tasks in one statement of a search over everything. */
const LARGE_WINDOW = 50_000;
/** Entries of the journal in one round. The next round follows at once if there are more. */
const ENTRIES = 10_000n;

/** Everything in the scope, in windows. */
export async function* windowsOf(
  database: Database,
  workspaceId: string | null,
): AsyncGenerator<Subjects> {
  const [first, last]: [Key, Key] =
    workspaceId === null
      ? [START, END]
      : [
          [workspaceId, LOWEST],
          [workspaceId, HIGHEST],
        ];
  let from = first;
  for (;;) {
    const to = await windowEnd(database, [from, last], LARGE_WINDOW);
    yield { entries: NO_ENTRIES, keys: [from, to ?? last] };
    if (!to) return;
    from = to;
  }
}

async function windowEnd(
  database: Database,
  [from, last]: readonly [Key, Key],
  tasks: number,
): Promise<Key | undefined> {
  const row = await firstRow(database.service, readWindowEnd, [...from, ...last, tasks]);
  return row && [row.workspace_id, row.id];
}

/**
 * The rounds of one slow search. A round looks at the tasks that the journal has named since the
 * last one, and at the next window of a walk over all tasks. The position is a row in Postgres that
 * only the leader moves, after the repairs. So a round that fails, finds locked rows or loses its
 * leadership comes again, on any server.
 */
export class SearchRounds {
  /** Drawn in an earlier round, while transactions below it were open. */
  private horizon: Horizon | undefined;

  constructor(
    private readonly database: Database,
    private readonly name: string,
    private readonly window = WINDOW,
  ) {}

  async run(pass: Pass, search: (pass: Pass) => Promise<SweepResult>): Promise<SweepResult> {
    const position = await firstRow(this.database.service, readPosition, [this.name]);
    const settled = await this.settled();
    // Everything before the first round is the walk's.
    const read = position?.journal_id ?? settled;
    const upTo = nextEntry(read, settled);
    const from: Key = position ? [position.workspace_id, position.task_id] : START;
    const to = await windowEnd(this.database, [from, END], this.window);
    const subjects: Subjects = {
      entries: read === null || upTo === null ? NO_ENTRIES : [read, upTo],
      keys: [from, to ?? END],
    };
    const result = await search(pass.thoroughly(subjects));
    if (result.more || result.skipped) return result;
    await pass.transaction((tx) =>
      tx.rows(keepPosition, [this.name, upTo, ...(to ?? START), to === undefined]),
    );
    return { ...result, more: upTo !== null && settled !== null && BigInt(upTo) < BigInt(settled) };
  }

  /** The last entry below which none can appear any more. Null: not known yet. */
  private async settled(): Promise<string | null> {
    const drawn = await firstRow(this.database.service, drawHorizon);
    const oldest = await firstRow(this.database.service, readOldestOpen);
    if (!drawn || !oldest) return null;
    const hasSettled = ({ xid }: Horizon) => BigInt(oldest.xid) >= BigInt(xid);
    const { horizon } = this;
    if (hasSettled(drawn)) {
      this.horizon = undefined;
      return drawn.last;
    }
    if (!horizon || hasSettled(horizon)) this.horizon = drawn;
    return horizon && hasSettled(horizon) ? horizon.last : null;
  }
}

function nextEntry(read: string | null, settled: string | null): string | null {
  if (read === null || settled === null || BigInt(settled) <= BigInt(read)) return read;
  const furthest = BigInt(read) + ENTRIES;
  return furthest < BigInt(settled) ? `${furthest}` : settled;
}
