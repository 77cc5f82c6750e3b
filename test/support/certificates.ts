import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The identity of an https server. */
export interface Identity {
  key: Buffer;
  cert: Buffer;
  /** The certificate, for NODE_EXTRA_CA_CERTS. */
  file: string;
}

/**
 * A key with a certificate that nobody else trusts. Undefined: there is no OpenSSL here.
 *
 * @param names as OpenSSL writes them: `DNS:localhost`, `IP:127.0.0.1`
 */
export function selfSigned(folder: string, ...names: string[]): Identity | undefined {
  const [keyFile, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
  const subject = ['-subj', '/CN=drover', '-addext', `subjectAltName=${names.join()}`];
  const files = ['-keyout', keyFile, '-out', file];
  const made = spawnSync('openssl', [...words.split(' '), ...subject, ...files]);
  if (made.status === 0) return { key: readFileSync(keyFile), cert: readFileSync(file), file };
  process.stderr.write('Skipped: no OpenSSL for an https server\n');
  return undefined;
}
