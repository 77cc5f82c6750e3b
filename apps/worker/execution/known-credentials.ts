import { type HostCredential, valuesOfCredentials } from '#lib/kernel';
import type { JobReports } from './job.js';

/** The time for which credentials are known. A changed or removed one counts after it. */
const KNOWN_MS = 60_000;

export interface KnownCredentialsParts {
  report: Pick<JobReports, 'credentials'>;
  /** Gets the values, which nothing that Drover keeps of the session must show. */
  learn: (values: readonly string[]) => void;
  now?: () => number;
}

/** The headers that the proxy of a session adds now. The server knows them. */
export class KnownCredentials {
  private known: { credentials: Promise<HostCredential[]>; until: number } | undefined;

  constructor(private readonly parts: KnownCredentialsParts) {}

  /**
   * Waits while the server is away.
   *
   * @throws the refusal of the server, or RunLostError
   */
  readonly current = (): Promise<HostCredential[]> => {
    const { now = () => performance.now() } = this.parts;
    if (this.known !== undefined && this.known.until > now()) return this.known.credentials;
    const asked = { credentials: this.ask(), until: now() + KNOWN_MS };
    this.known = asked;
    asked.credentials.catch(() => {
      if (this.known === asked) this.known = undefined;
    });
    return asked.credentials;
  };

  private async ask(): Promise<HostCredential[]> {
    const credentials = await this.parts.report.credentials();
    this.parts.learn(valuesOfCredentials(credentials));
    return credentials;
  }
}
