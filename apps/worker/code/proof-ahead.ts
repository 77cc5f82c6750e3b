import { commitOf, integrate, type LandingChange } from '#lib/git';
import type { CodeHost, HostRepository } from './code-host.js';
import { prove } from './prove.js';
import type { StepWork } from './types.js';

/** The change that lands after another one. */
export type NextChange = NonNullable<StepWork['next']>;

export interface Ahead {
  next: NextChange;
  /** The commit that the change before it becomes. */
  onto: string;
  gitDir: string;
  /** Keeps the git folder until the promise has settled. */
  keep: (until: Promise<unknown>) => void;
  landing: Pick<LandingChange, 'target' | 'method' | 'words'>;
}

/** The time within which a host gets the next change. Under a pause it gets none. In ms. */
const UNCLAIMED_MS = 10_000;

/**
 * A proof of the change that lands next, on top of the one that lands now. A queue takes less time
 * than its acceptances one after the other.
 *
 * Only a green result counts, and only for the same files and settings. Anything else is proven
 * again when it is the change's turn.
 */
export class ProofAhead {
  private readonly stopped = new AbortController();
  private readonly files: Promise<string | undefined>;
  private readonly isProven: Promise<boolean>;

  constructor(
    private readonly host: CodeHost,
    private readonly repository: HostRepository,
    ahead: Ahead,
  ) {
    const integrated = this.integrate(ahead).catch(() => undefined);
    this.files = integrated.then((result) => result?.tree);
    this.isProven = integrated
      .then((result) => result !== undefined && this.prove(ahead, result.commit))
      .catch(() => false);
    ahead.keep(this.isProven);
  }

  /** Waits for the proof if it is of these files. @param signal ends it */
  async hasProven(tree: string, repository: HostRepository, signal: AbortSignal): Promise<boolean> {
    const isOfThem = (await this.files) === tree && this.hasSettingsOf(repository);
    if (!isOfThem || signal.aborted) return false;
    const end = (): void => this.stopped.abort();
    signal.addEventListener('abort', end, { once: true });
    return this.isProven.finally(() => signal.removeEventListener('abort', end));
  }

  async end(): Promise<void> {
    this.stopped.abort();
    await this.isProven;
  }

  private hasSettingsOf({ access }: HostRepository): boolean {
    return JSON.stringify(access) === JSON.stringify(this.repository.access);
  }

  private async integrate({ next, onto, gitDir, landing }: Ahead) {
    const call = { gitDir };
    const head = await commitOf(next.headCommit, call);
    if (head === undefined) return undefined;
    const result = await integrate({ ...landing, head, onto }, call);
    return result.kind === 'ready' ? result : undefined;
  }

  private async prove({ gitDir, landing }: Ahead, commit: string): Promise<boolean> {
    const proof = await prove(this.host, this.repository, {
      commit,
      gitDir,
      target: landing.target,
      indexName: 'ahead.index',
      signal: this.stopped.signal,
    });
    return proof?.exitCode === 0;
  }
}

/** The proofs ahead of this host, by their changes. */
export class ProofsAhead {
  private readonly proofs = new Map<string, ProofAhead>();

  constructor(private readonly host: CodeHost) {}

  begin(repository: HostRepository, ahead: Ahead): void {
    const { changeId } = ahead.next;
    void this.take(changeId)?.end();
    this.proofs.set(changeId, new ProofAhead(this.host, repository, ahead));
  }

  /** The proof of a change that lands now. Whoever takes it ends it. */
  take(changeId: string): ProofAhead | undefined {
    const proof = this.proofs.get(changeId);
    this.proofs.delete(changeId);
    return proof;
  }

  /** The change before it has landed, so its turn comes at once or not at all. */
  expectClaim(changeId: string): void {
    const proof = this.proofs.get(changeId);
    const endUnclaimed = (): void => {
      if (this.proofs.get(changeId) === proof) void this.take(changeId)?.end();
    };
    setTimeout(endUnclaimed, UNCLAIMED_MS).unref();
  }

  async end(): Promise<void> {
    const proofs = [...this.proofs.values()];
    this.proofs.clear();
    await Promise.all(proofs.map((proof) => proof.end()));
  }
}
