/**
 * The owner of each table. The owner writes it. A library above the owner can read it, one below
 * cannot name it. The layers are those of .dependency-cruiser.cjs. Every other writer is listed
 * here with the reason.
 */
export interface Ownership {
  owner: string;
  others?: Readonly<Record<string, string>>;
}

export const TABLES: Readonly<Record<string, Ownership>> = {
  users: { owner: 'identity' },
  user_identities: { owner: 'identity' },
  user_sessions: { owner: 'identity' },
  user_factors: { owner: 'identity' },
  user_recovery_codes: { owner: 'identity' },
  workspaces: { owner: 'identity' },
  workspace_members: { owner: 'identity' },
  workspace_invitations: { owner: 'identity' },
  api_keys: { owner: 'identity' },
  token_revocations: { owner: 'identity' },
  agent_tokens: { owner: 'identity' },

  idempotency_keys: { owner: 'http' },

  audit_log: { owner: 'audit' },
  installation_audit_log: { owner: 'audit' },

  projects: { owner: 'projects' },
  milestones: { owner: 'projects' },

  // One file writes the states of each; see one-writer.spec.ts.
  agents: {
    owner: 'transitions',
    others: { 'agent-manager': 'registers agents, and keeps what they say of themselves' },
  },
  agent_tasks: {
    owner: 'transitions',
    others: {
      secrets: 'hides in a task what a new version of redaction recognises',
      'task-manager': 'creates tasks, changes what people may change, counts dependencies',
      runs: 'writes the progress of a run into its task',
      coordinator: 'releases dependents, and sets lost references and wrong counts right',
    },
  },
  task_runs: {
    owner: 'transitions',
    others: {
      'task-manager': 'marks that a running task is to be paused',
      runs: 'renews leases, writes progress, marks conflicts, notes the model that was chosen',
      coordinator: 'marks that a run was warned',
      budgets: 'adds what a run has used, and takes it from what it holds',
    },
  },
  journal: {
    owner: 'transitions',
    others: { budgets: 'appends alerts, which move nothing' },
  },
  usage_budgets: {
    owner: 'transitions',
    others: { budgets: 'makes budgets, and charges what was used' },
  },
  /** A view of the journal and the log lines, for readers. */
  agent_task_logs: { owner: 'transitions' },

  event_consumers: { owner: 'journal' },
  event_numbers: { owner: 'journal' },

  data_keys: { owner: 'secrets' },
  task_secrets: { owner: 'secrets' },
  agent_secrets: { owner: 'secrets' },
  project_secrets: { owner: 'secrets' },
  schedule_secrets: { owner: 'secrets' },
  task_template_secrets: { owner: 'secrets' },
  webhook_secrets: { owner: 'secrets' },
  inbound_hook_secrets: { owner: 'secrets' },
  model_provider_secrets: { owner: 'secrets' },
  host_credential_secrets: { owner: 'secrets' },
  repository_secrets: { owner: 'secrets' },

  webhooks: { owner: 'webhooks' },
  webhook_deliveries: { owner: 'webhooks' },
  webhook_attempts: { owner: 'webhooks' },

  artifacts: { owner: 'artifacts' },
  artifact_usage: { owner: 'artifacts' },

  inbound_hooks: { owner: 'inbound-hooks' },
  inbound_hook_deliveries: { owner: 'inbound-hooks' },

  task_templates: { owner: 'task-manager' },
  schedules: { owner: 'schedules' },
  schedule_occurrences: { owner: 'schedules' },

  model_providers: { owner: 'model-providers' },
  host_credentials: { owner: 'host-credentials' },
  repositories: { owner: 'repositories' },
  changes: { owner: 'changes' },
  change_reviews: { owner: 'changes' },

  prompt_templates: { owner: 'prompts' },
  run_prompts: { owner: 'prompts' },

  questions: { owner: 'questions' },

  workspace_limits: { owner: 'admission' },
  pauses: { owner: 'admission' },
  installation_pauses: { owner: 'admission' },
  spawn_allowances: { owner: 'admission' },
  installation_spawn_allowance: { owner: 'admission' },

  agent_usage_logs: { owner: 'ledger' },
  model_prices: { owner: 'models' },
  model_routing: { owner: 'models' },
  usage_rollups: { owner: 'ledger' },
  usage_rollup_progress: { owner: 'ledger' },
  usage_logs_kept: { owner: 'ledger' },
  estimate_calibrations: { owner: 'models' },
  workspace_throttles: { owner: 'budgets' },
  provider_limits: { owner: 'provider-limits' },

  agent_heartbeats: {
    owner: 'agent-manager',
    others: { runs: 'hears of an agent by a claim, an assignment or its gateway' },
  },

  agent_heartbeat_history: { owner: 'agent-manager' },

  agent_task_tags: { owner: 'task-manager' },
  capability_sets: {
    owner: 'task-manager',
    others: { coordinator: 'removes unused sets, and brings back one that a task needs' },
  },
  task_dependencies: {
    owner: 'task-manager',
    others: { coordinator: 'settles what waited for a task that has ended' },
  },

  gateways: { owner: 'runs' },
  session_spawns: { owner: 'runs' },
  run_messages: { owner: 'runs' },
  task_log_lines: { owner: 'transitions' },

  coordinator_leadership: { owner: 'coordinator' },
  coordinator_searches: { owner: 'coordinator' },
  coordinator_logs: { owner: 'coordinator' },
};
