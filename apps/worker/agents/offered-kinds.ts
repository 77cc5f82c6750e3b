import { findKinds, KINDS } from '#lib/agent-kinds';
import type { OfferedKind } from '#lib/agent-sessions';
import type { Log } from '#lib/agent-host';
import { kindCapability } from '#lib/kernel';

export interface KindFolders {
  searchPath: string;
  /** The folders of DROVER_AGENTS. */
  folders: readonly string[];
}

/** The kinds of coding agents that this machine can start. */
export class OfferedKinds {
  /** The names that the server knows. */
  private announced = '';
  private offered: ReadonlyMap<string, OfferedKind> = new Map();

  constructor(
    private readonly where: KindFolders,
    private readonly log: Log,
  ) {}

  /** The capabilities of this worker for tasks with a coding agent. */
  get capabilities(): string[] {
    return [...this.offered.keys()].map(kindCapability);
  }

  find(name: string): OfferedKind | undefined {
    return this.offered.get(name);
  }

  /**
   * Looks again, and announces the kinds if they have changed.
   *
   * @throws the error of `announce`, which the next call repeats
   */
  async renew(announce: () => Promise<unknown>): Promise<void> {
    await this.look();
    const names = this.names();
    if (names === this.announced) return;
    await announce();
    this.announced = names;
  }

  /** The server got the kinds with the registration. */
  noteAnnounced(): void {
    this.announced = this.names();
  }

  /** Looks again for programs, which can be installed or removed at any time. Never rejects. */
  async look(): Promise<void> {
    const found = await findKinds(this.where).catch(() => []);
    const offered = new Map<string, OfferedKind>();
    for (const one of found) {
      const kind = KINDS.find(({ name }) => name === one.name);
      if (!one.installed || kind === undefined) continue;
      offered.set(one.name, { kind, program: one.command, folders: one.folders });
    }
    const before = this.names();
    this.offered = offered;
    const kinds = this.names();
    if (kinds !== before) this.log.info('Coding agents on this machine', { kinds });
  }

  private names(): string {
    return [...this.offered.keys()].join(', ');
  }
}
