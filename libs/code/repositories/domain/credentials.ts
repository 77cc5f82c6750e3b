import type { Credentials, RepositorySecretValues } from './repository.js';
import type { FieldError } from './repository-change.js';

export interface CredentialsRequest {
  kind: Credentials['kind'];
  username?: string;
  token?: string;
  privateKey?: string;
  knownHosts?: string;
}

/** The user name that forges ignore beside a token. */
const ANY_USER = 'x-access-token';

/** One line without colon, because `user:token` is sent. */
const USERNAME = /^[^:\s]+$/;
const TOKEN = /^[\x21-\x7e]+$/;
const PRIVATE_KEY = /^-----BEGIN [A-Z ]*PRIVATE KEY-----\n/;

/** Takes the members of one kind, all of which that kind needs. */
export function readCredentials(
  { kind, username = ANY_USER, token, privateKey, knownHosts }: CredentialsRequest,
  field: string,
): Credentials | { errors: FieldError[] } {
  const wrong = (member: string, message: string) => ({
    errors: [{ field: `${field}.${member}`, message }],
  });
  if (kind === 'token') {
    if (!USERNAME.test(username)) return wrong('username', 'must have no colon and no space');
    if (token === undefined || !TOKEN.test(token)) {
      return wrong('token', 'must be printable ASCII without spaces, for kind `token`');
    }
    return { kind, username, token };
  }
  if (privateKey === undefined || !isPrivateKey(privateKey)) {
    return wrong('privateKey', 'must be a private key of OpenSSH in PEM, for kind `ssh`');
  }
  if (knownHosts === undefined) {
    return wrong('knownHosts', 'must have the keys of the server, as `ssh-keyscan` prints them');
  }
  return { kind, privateKey, knownHosts };
}

/** The secrets of a repository as texts. */
export function secretTextsOf({
  credentials,
  signingKey,
  secrets,
}: RepositorySecretValues): string[] {
  const token = credentials?.kind === 'token' ? [credentials.token] : [];
  const key = credentials?.kind === 'ssh' ? [credentials.privateKey] : [];
  const signing = signingKey === null ? [] : [signingKey];
  return [...token, ...key, ...signing, ...Object.values(secrets)];
}

export function isPrivateKey(text: string): boolean {
  return PRIVATE_KEY.test(text);
}
