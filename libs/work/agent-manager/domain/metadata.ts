import { DroverError } from '#lib/kernel';

/**
 * Bytes of an agent's or a heartbeat's metadata at most, as JSON: lists of agents carry it, each heartbeat
 * rewrites it.
 */
const MAX_METADATA = 16_384;

/** @throws DroverError `validation_failed` */
export function refuseTooMuch(metadata: Record<string, unknown> | undefined): void {
  if (metadata === undefined || Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA) return;
  const message = `must be at most ${MAX_METADATA} bytes of JSON`;
  throw new DroverError('validation_failed', { errors: [{ field: 'metadata', message }] });
}
