export {
  type ColumnOfSchedule,
  type ColumnOfTaskTemplate,
  type ColumnOfTask,
  holdsSecrets,
  mapColumn,
  type Original,
} from './originals.js';
export { HIDES_NOTHING, hiddenPlaces } from './hidden-places.js';
export { hasRoomForSecret, secretsIn, secretsInSentence, SecretValues } from './secret-values.js';
export {
  asObject,
  keepHidden,
  type KnownValues,
  REDACTED,
  redactSecrets,
  showsSecret,
} from './secret-walk.js';
export { newSigningSecret } from './signing-secret.js';
export { openStream, sealStream } from './sealed-stream.js';
