/** A row of the journal, as consumers read it. */
export interface JournalRow {
  id: string;
  workspace_id: string;
  event: string;
  log_event: string | null;
  task_id: string | null;
  version: number | null;
  previous_status: string | null;
  new_status: string | null;
  run_id: string | null;
  run_version: number | null;
  previous_state: string | null;
  new_state: string | null;
  end_reason: string | null;
  generation: number | null;
  agent_id: string | null;
  actor_kind: string;
  reason: string | null;
  message: string | null;
  details: Record<string, unknown> | null;
  /** Milliseconds since 1970. */
  retry_at: number | null;
  created_at: number;
}
