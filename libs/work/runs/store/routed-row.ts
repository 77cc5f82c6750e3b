import type { EstimateSource, ModelTier } from '#lib/models';

/** The columns of a task that choose its model. */
export const ROUTED_BY = [
  'task_type',
  'priority',
  'project_id',
  'estimated_complexity',
  'estimated_tokens',
  'estimate_source',
] as const;

/** A run that was just handed out, with the columns that choose its model. */
export interface RoutedRow {
  run_id: string;
  /** The agent's model, or the chosen one; NULL: none. */
  model: string | null;
  /** Present only if it was requested. */
  model_tier?: ModelTier | null;
  task_type: string;
  priority: number;
  project_id: string | null;
  estimated_complexity: number | null;
  estimated_tokens: string;
  estimate_source: EstimateSource;
}
