/**
 * The tables of sealed values, with the column of their owner. Everything that reseals, counts or
 * removes keys reads this list.
 */
export const SEALED_TABLES = {
  task_secrets: 'task_id',
  agent_secrets: 'agent_id',
  project_secrets: 'project_id',
  schedule_secrets: 'schedule_id',
  task_template_secrets: 'template_id',
  webhook_secrets: 'webhook_id',
  inbound_hook_secrets: 'hook_id',
  model_provider_secrets: 'provider_id',
  host_credential_secrets: 'credential_id',
  repository_secrets: 'repository_id',
} as const;

export type SealedTable = keyof typeof SEALED_TABLES;

export const SEALED_TABLE_NAMES = Object.keys(SEALED_TABLES) as SealedTable[];
