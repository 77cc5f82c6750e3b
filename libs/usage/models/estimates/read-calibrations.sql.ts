import { query } from '#lib/database';

/** A server remembers so many kinds of a workspace. */
const REMEMBERED = 10_000;

export interface CalibrationRow {
  project_id: string | null;
  task_type: string;
  /** The factor has four decimals. */
  factor: string | null;
  /** A bigint as text. */
  median_used: string;
}

/** Reads the calibrated kinds, those with most samples first. Index: primary key. $1 workspace. */
export const readCalibrations = query<CalibrationRow>(
  'read_calibrations',
  `
SELECT project_id, task_type, factor, median_used FROM estimate_calibrations
WHERE workspace_id = $1
ORDER BY samples DESC, updated_at DESC
LIMIT ${REMEMBERED}`,
);
