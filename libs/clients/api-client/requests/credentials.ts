/** Headers that authenticate requests at the server. */
export interface Credentials {
  /** Returns the headers of the next request. */
  headers(): Promise<Record<string, string>> | Record<string, string>;
  /**
   * Called after the server refused these headers with 401. @returns whether other credentials
   * exist, with which the request is repeated once
   */
  renew?(refused: Record<string, string>): Promise<boolean>;
}

/** An API key, an agent's or a run's token, or a user's access token that nobody refreshes. */
export function bearer(token: string): Credentials {
  const headers = { authorization: `Bearer ${token}` };
  return { headers: () => headers };
}

/** Credentials for requests that need none: signing in, health. */
export const anonymous: Credentials = { headers: () => ({}) };
