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

  /** Looks again for programs, which can be installed or removed at any time. Never rejects. */
  async look(): Promise<void> {
    const found = await findKinds(this.where).catch(() => []);
    const offered = new Map<string, OfferedKind>();
    for (const one of found) {
      const kind = KINDS.find(({ name }) => name === one.name);
      if (!one.installed || kind === undefined) continue;
      offered.set(one.name, { kind, program: one.command, folders: one.folders });
    }
    const names = [...offered.keys()].join(', ');
    if (names !== [...this.offered.keys()].join(', ')) {
      this.log.info('Coding agents on this machine', { kinds: names });
    }
    this.offered = offered;
  }
}
