export * from './domain/index.js';
export { AgentSecrets, type SessionColumns } from './holders/agent-secrets.js';
export { HeldSecrets } from './holders/held-secrets.js';
export { Secrets } from './http/secrets-field.js';
export { KeyRing } from './keys/key-ring.js';
export { Resealing } from './keys/resealing.js';
export { SecretsModule } from './secrets.module.js';
export {
  type SecretsInput,
  type SecretsOfRun,
  secretsOfRuns,
  writeSecrets,
} from './store/task-secrets.sql.js';
export { ValuesAtHand } from './holders/values-at-hand.js';
export { TaskSecrets } from './holders/task-secrets.js';
export { InboundHookSecrets, type SignerPlace, WebhookSecrets } from './holders/signing-secrets.js';
