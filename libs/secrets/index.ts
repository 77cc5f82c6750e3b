export { AgentSecrets, type SessionColumns } from './agent-secrets.js';
export { type ColumnOfTask, mapColumn, type Original } from './domain/originals.js';
export {
  hasRoomForSecret,
  secretsIn,
  secretsInSentence,
  SecretValues,
} from './domain/secret-values.js';
export { asObject, keepHidden, redactSecrets, showsSecret } from './domain/secret-walk.js';
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
export {
  InboundHookSecrets,
  newSigningSecret,
  type SignerPlace,
  WebhookSecrets,
} from './signing-secrets.js';
