import { Injectable } from '@nestjs/common';
import type { SpawnFacts } from '../domain/explain-facts.js';

/** Knows what stands between a workspace's push agents and their sessions. */
export interface SpawnOutlookSource {
  spawnFacts(workspaceId: string): Promise<SpawnFacts>;
}

/** A port: whoever spawns sessions is above this library, and makes itself known here. */
@Injectable()
export class SpawnOutlook {
  private source: SpawnOutlookSource | null = null;

  provide(source: SpawnOutlookSource): void {
    this.source = source;
  }

  /** null when nobody spawns sessions in this process. */
  async read(workspaceId: string): Promise<SpawnFacts | null> {
    return (await this.source?.spawnFacts(workspaceId)) ?? null;
  }
}
