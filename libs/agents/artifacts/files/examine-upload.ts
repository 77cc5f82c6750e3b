import { createHash } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import { DroverError, hideKeys } from '#lib/kernel';
import type { SecretValues } from '#lib/secrets';

/** Number of characters that are searched at once. */
const PIECE = 65_536;
/** Number of characters that are searched again with the next piece, for a secret on the border. */
const OVERLAP = 8_192;

/** The facts about a file that has arrived. */
export interface Arrived {
  size: number;
  /** SHA-256 in hexadecimal digits. */
  sha256: string;
}

/** Passes the bytes of an upload on, and refuses those that no artifact can have. */
export class UploadExamination {
  private readonly hash = createHash('sha256');
  private readonly decoder = new StringDecoder('utf8');
  private size = 0;
  private waiting = '';
  private before = '';

  /**
   * @param limit maximum number of bytes
   * @param secrets values that the file cannot contain
   */
  constructor(
    private readonly limit: number,
    private readonly secrets: SecretValues,
  ) {}

  /** @throws DroverError `artifact_too_large`, `artifact_has_secret` */
  async *examine(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of content) {
      this.size += chunk.length;
      requireSize(this.size, this.limit);
      this.hash.update(chunk);
      this.search(this.decoder.write(chunk), PIECE);
      yield chunk;
    }
    this.search(this.decoder.end(), 0);
  }

  /** After the last byte. */
  arrived(): Arrived {
    return { size: this.size, sha256: this.hash.digest('hex') };
  }

  private search(text: string, least: number): void {
    this.waiting += text;
    if (this.waiting.length < least) return;
    requireNoSecret(this.before + this.waiting, this.secrets);
    this.before = (this.before + this.waiting).slice(-OVERLAP);
    this.waiting = '';
  }
}

/** @throws DroverError `artifact_too_large` */
export function requireSize(size: number, limit: number): void {
  if (size <= limit) return;
  const detail = `The file has more than ${limit} bytes.`;
  throw new DroverError('artifact_too_large', { detail, members: { limit } });
}

/** @throws DroverError `artifact_has_secret` */
export function requireNoSecret(text: string, secrets: SecretValues): void {
  if (secrets.hide(text) !== text || hideKeys(text) !== text) {
    throw new DroverError('artifact_has_secret');
  }
}
