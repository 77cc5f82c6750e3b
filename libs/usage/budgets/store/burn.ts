import type { Burn } from '../domain/burn.js';
import { HOURS_WEIGHTED } from '../domain/projection.js';

/** A budget with the usage of its scope in the last hours, also before its period. */
export interface BurningBudget extends Burn {
  workspace_id: string;
  id: string;
  project_id: string | null;
  version: number;
}

/** The columns of `BurningBudget` that `usage_budgets b` has. */
export const BURNING_COLUMNS = `b.workspace_id, b.id, b.project_id, b.version, now() AS now, b.period_start,
  b.period_end, b.consumed, b.remaining, b.available`;

/** The hours back from now. Each is a range of the index, so nothing is sorted. */
export const HOURS = `generate_series(0, ${HOURS_WEIGHTED - 1}) AS h (ago)`;

/** SQL: the log `l` lies in the hour `h`. */
export const IN_HOUR = `l.logged_at > now() - (h.ago + 1) * interval '1 hour'
      AND l.logged_at <= now() - h.ago * interval '1 hour'`;
