/** The protocols in which a host of sessions can ask another host. */
export const CREDENTIAL_SCHEMES = ['https', 'http'] as const;

/** The name of a header, in lower case. */
export const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** Printable ASCII without a space at either end, so that nothing can end the header. */
export const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** A header that the host of a session adds to the session's requests to one other host. */
export interface HostCredential {
  /** A name or an IPv4 address in lower case, with its port unless it is the scheme's own. */
  host: string;
  /** The protocol between the two hosts. The session always speaks http:// to its proxy. */
  scheme: (typeof CREDENTIAL_SCHEMES)[number];
  /** The name of the header in lower case. */
  header: string;
  /** The value of the header. It never reaches the session. */
  value: string;
}

/** The values that must not appear in the output of a session: a host can repeat the header in its answer. */
export function valuesOfCredentials(all: readonly HostCredential[]): string[] {
  // With and without the word before the token.
  return all.flatMap(({ value }) => [value, value.slice(value.lastIndexOf(' ') + 1)]);
}
