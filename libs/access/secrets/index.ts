export * from './domain/index.js';
export { AgentSecrets, type SessionColumns } from './holders/agent-secrets.js';
export { HeldSecrets } from './holders/held-secrets.js';
export { SecretHeaders, Secrets } from './http/secrets-field.js';
export { KeyRing } from './keys/key-ring.js';
export { SEALED_COLUMNS } from './keys/data-keys.sql.js';
export { SEALED_TABLE_NAMES } from './keys/sealed-tables.js';
export { Resealing } from './keys/resealing.js';
export { SecretsModule } from './secrets.module.js';
export {
  type SecretsInput,
  type SecretsOfRun,
  secretsOfHolders,
  secretsOfRuns,
  writeSecrets,
} from './holders/task-secrets.sql.js';
export { ValuesAtHand } from './holders/values-at-hand.js';
export { originalsOf, type Sealed, TaskSecrets } from './holders/task-secrets.js';
export { HostCredentialSecrets } from './holders/host-credential-secrets.js';
export { ProjectSecrets, type SealedServers } from './holders/project-secrets.js';
export { TemplateSecrets } from './holders/template-secrets.js';
export { RepositorySecrets } from './holders/repository-secrets.js';
export { ModelProviderSecrets } from './holders/model-provider-secrets.js';
export { InboundHookSecrets } from './holders/inbound-hook-secrets.js';
export type { SignerPlace } from './holders/signing-secrets.js';
export { WebhookSecrets } from './holders/webhook-secrets.js';
