export type { ColumnOfTask, Original } from './domain/originals.js';
export { hasRoomForSecret, SecretValues } from './domain/secret-values.js';
export { redactSecrets } from './domain/secret-walk.js';
export { HeldSecrets } from './held-secrets.js';
export { KeyRing } from './key-ring.js';
export { Resealing } from './resealing.js';
export { SecretsModule } from './secrets.module.js';
export {
  type SecretsInput,
  type SecretsOfRun,
  secretsOfRuns,
  writeSecrets,
} from './store/task-secrets.sql.js';
export { TaskSecrets } from './task-secrets.js';
