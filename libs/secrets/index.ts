export {
  type DataKey,
  isSealed,
  keyIdOf,
  openValue,
  type Place,
  sealValue,
  shownOf,
} from './domain/sealed-text.js';
export { redactSecrets } from './domain/redact-secrets.js';
export { type SealedColumn } from './domain/sealed-columns.js';
export { hasRoomForSecret, SecretValues } from './domain/secret-values.js';
export { holdsSecret } from './domain/secret-walk.js';
export { HeldSecrets } from './held-secrets.js';
export { KeyRing } from './key-ring.js';
export { Resealing } from './resealing.js';
export { SecretsModule } from './secrets.module.js';
export { sealed } from './store/task-seals.sql.js';
export { type SecretsRow, tasksWithSecrets } from './store/tasks-with-secrets.sql.js';
export { TaskSealer, type SealedValue } from './task-sealer.js';
