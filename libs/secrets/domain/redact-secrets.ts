import type { SecretValues } from './secret-values.js';
import { mapSecrets } from './secret-walk.js';

/** A copy of a JSON value for people: secrets are replaced, at every depth. See `mapSecrets`. */
export function redactSecrets(value: unknown, values?: SecretValues): unknown {
  return mapSecrets(value, (_, shown) => shown, values);
}
