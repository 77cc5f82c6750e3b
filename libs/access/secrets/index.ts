export * from './domain/index.js';
export { AgentSecrets, type SessionColumns } from './agent-secrets.js';
export { HeldSecrets } from './held-secrets.js';
export { Secrets } from './http/secrets-field.js';
export { KeyRing } from './key-ring.js';
export { Resealing } from './resealing.js';
export { SecretsModule } from './secrets.module.js';
export {
  type SecretsInput,
  type SecretsOfRun,
  secretsOfRuns,
  writeSecrets,
} from './store/task-secrets.sql.js';
export { ValuesAtHand } from './values-at-hand.js';
export { TaskSecrets } from './task-secrets.js';
export { InboundHookSecrets, type SignerPlace, WebhookSecrets } from './signing-secrets.js';
