import type { FastifyReply } from 'fastify';
import { dispositionOf } from '../domain/artifact-file.js';
import type { ArtifactDownload } from '../reading/artifacts.js';

/** A run chose the content: browsers store it, and run nothing of it on the server's origin. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'accept-ranges': 'bytes',
};

/** Answers with the file, or with the part that the client asked for. */
export function sendArtifact(
  reply: FastifyReply,
  { artifact, part, content }: ArtifactDownload,
): void {
  const { size_bytes: size, media_type: type, sha256, name } = artifact;
  void reply.headers({
    ...HEADERS,
    'content-type': type,
    'content-disposition': dispositionOf(name),
    etag: `"${sha256}"`,
  });
  if (part === 'none') {
    void reply.code(416).header('content-range', `bytes */${size}`).send('');
    return;
  }
  if (part) {
    void reply.code(206).header('content-range', `bytes ${part.start}-${part.end}/${size}`);
  }
  const length = part ? part.end - part.start + 1 : size;
  void reply.header('content-length', length).send(content);
}
