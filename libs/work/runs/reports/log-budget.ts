import type { Config } from '#lib/config';
import { LOG_ENTRY_COST } from '#lib/kernel';
import type { Reporter } from './reporter.js';

/** An entry of a run's log as it is stored. */
export interface StoredEntry {
  level: string;
  event: string;
  message: string | null;
  details: Record<string, unknown>;
}

/** The part of a report that the limits leave, and what to do when the report is stored or refused. */
export interface AllowedEntries {
  entries: StoredEntry[];
  refund: () => void;
}

interface Use {
  bytes: number;
  /** Whether the log says that the limit is reached. */
  isTold: boolean;
}

const MIB = 1_048_576;
/** Runs and workspaces whose bytes this server knows. Those without a report for longest are forgotten. */
const MAX_KNOWN = 100_000;

/**
 * Bounds what runs write to logs: each run, and all runs of a workspace in a day (UTC). Entries above a
 * limit are not stored, one entry says so, and the run continues. Each server counts what it stored since its
 * start: the limits protect the disk, and an exact count would lock a row for each report.
 */
export class LogBudget {
  private readonly known = new Map<string, Use>();

  constructor(private readonly config: Pick<Config, 'logs'>) {}

  take(by: Reporter, entries: readonly StoredEntry[], now = new Date()): AllowedEntries {
    const { mbPerRun, mbPerWorkspaceAndDay } = this.config.logs;
    // Another agent's report is refused, and must not use up the run's share.
    const ofRun = this.use(`${by.workspaceId}/${by.agentId}/${by.runId}`);
    const ofDay = this.use(`${by.workspaceId}/${now.toISOString().slice(0, 10)}`);
    const isFull = (cost: number): string | undefined => {
      if (exceeds(ofRun, cost, mbPerRun)) {
        return `${mbPerRun} MiB of this run. Further entries are not stored.`;
      }
      if (!exceeds(ofDay, cost, mbPerWorkspaceAndDay)) return undefined;
      const limit = `${mbPerWorkspaceAndDay} MiB of the workspace on this day`;
      return `${limit}. Further entries are not stored until 00:00 UTC.`;
    };
    const allowed: StoredEntry[] = [];
    let taken = 0;
    for (const entry of entries) {
      const cost = costOf(entry);
      const limit = isFull(cost);
      if (limit === undefined) {
        for (const use of [ofRun, ofDay]) use.bytes += cost;
        taken += cost;
        allowed.push(entry);
      } else if (!ofRun.isTold) {
        ofRun.isTold = true;
        allowed.push(noticeOf(limit));
      }
    }
    const refund = (): void => {
      for (const use of [ofRun, ofDay]) use.bytes -= taken;
      ofRun.isTold = false;
    };
    return { entries: allowed, refund };
  }

  private use(key: string): Use {
    const use = this.known.get(key) ?? { bytes: 0, isTold: false };
    this.known.delete(key);
    this.known.set(key, use);
    const [oldest = key] = this.known.keys();
    if (this.known.size > MAX_KNOWN) this.known.delete(oldest);
    return use;
  }
}

/** A limit of 0 is none. */
function exceeds({ bytes }: Use, cost: number, limitMb: number): boolean {
  return limitMb > 0 && bytes + cost > limitMb * MIB;
}

function costOf({ event, message, details }: StoredEntry): number {
  const texts = [event, message ?? '', JSON.stringify(details)];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), LOG_ENTRY_COST);
}

function noticeOf(limit: string): StoredEntry {
  const message = `Log limit reached: ${limit}`;
  return { level: 'WARN', event: 'log_limit_reached', message, details: {} };
}
