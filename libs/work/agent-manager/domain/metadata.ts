import { DroverError } from '#lib/kernel';

/**
 * Maximum size of an agent's or heartbeat's metadata as JSON, in bytes. Lists of agents carry it,
 * and each heartbeat rewrites it.
 */
const MAX_METADATA = 16_384;

/** @throws DroverError `validation_failed` */
export function refuseTooMuch(metadata: Record<string, unknown> | undefined): void {
  if (metadata === undefined || Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA) return;
  const message = `must be at most ${MAX_METADATA} bytes of JSON`;
  throw new DroverError('validation_failed', { errors: [{ field: 'metadata', message }] });
}
