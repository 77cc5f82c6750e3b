import type { Streamed } from '#lib/http';
import { DroverError, newId } from '#lib/kernel';
import type { SecretValues } from '#lib/secrets';
import { digestOf, requireMediaType, requireName } from '../domain/artifact-file.js';
import type { ArtifactStore } from '../files/artifact-store.js';
import { type Arrived, requireNoSecret, UploadExamination } from '../files/examine-upload.js';
import { discardRest, wholeBody } from './whole-body.js';

export interface Upload extends Streamed {
  name: string;
  /** The value of Content-Digest. */
  digest?: string;
}

/** A file in the store whose row is to be written. */
export interface StoredUpload extends Arrived {
  id: string;
  name: string;
  mediaType: string;
}

/** The checked facts about a file before its first byte. */
export type Announced = Pick<StoredUpload, 'name' | 'mediaType'> & { digest?: string };

/** @throws DroverError `validation_failed`, `malformed_header` */
export function announced({ name, type, digest }: Upload): Announced {
  return { name: requireName(name), mediaType: requireMediaType(type), digest: digestOf(digest) };
}

/**
 * Writes an upload into the store. Without its row, the pruner removes it later.
 *
 * @param values secrets that neither the name nor the content can have
 * @throws DroverError `artifact_too_large`, `artifact_has_secret`, `digest_mismatch`,
 *   `malformed_request`
 */
export async function receiveFile(
  store: ArtifactStore,
  { content }: Streamed,
  { digest, ...file }: Announced,
  { maxBytes, values }: { maxBytes: number; values: SecretValues },
): Promise<StoredUpload> {
  requireNoSecret(file.name, values);
  const examination = new UploadExamination(maxBytes, values);
  const id = newId();
  await store.write(id, examination.examine(wholeBody(content))).catch((error: unknown) => {
    discardRest(content);
    throw error;
  });
  const stored = { id, ...file, ...examination.arrived() };
  if (digest === undefined || digest === stored.sha256) return stored;
  await store.remove(id);
  throw new DroverError('digest_mismatch');
}
