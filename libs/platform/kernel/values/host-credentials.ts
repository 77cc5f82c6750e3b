/** The protocols in which a host of sessions can ask another host. */
export const CREDENTIAL_SCHEMES = ['https', 'http'] as const;

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
