import type { EstimateSource, ModelTier } from '#lib/models';

/** The columns of a task by which its model is chosen. */
export const ROUTED_BY = [
  'task_type',
  'priority',
  'project_id',
  'estimated_complexity',
  'estimated_tokens',
  'estimate_source',
] as const;

/** A run that was just handed out, with what its model is chosen by. */
export interface RoutedRow {
  run_id: string;
  /** Its agent's, or the one that was chosen; NULL: none. */
  model: string | null;
  /** Only known where it was asked for. */
  model_tier?: ModelTier | null;
  task_type: string;
  priority: number;
  project_id: string | null;
  estimated_complexity: number | null;
  estimated_tokens: string;
  estimate_source: EstimateSource;
}
