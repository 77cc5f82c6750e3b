import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Database } from '#lib/database';
import { Calibrations } from '../domain/estimates.js';
import { readCalibrations } from './read-calibrations.sql.js';

const REMEMBERED_MS = 60_000;
/** The maximum for all workspaces together. */
const REMEMBERED_KINDS = 200_000;

/**
 * Gives the calibrations of a workspace, at most a minute old. One query for each workspace and
 * minute is enough, so creating a task costs no query.
 */
@Injectable()
export class Estimates {
  private readonly known = new LRUCache<string, Calibrations>({
    maxSize: REMEMBERED_KINDS,
    sizeCalculation: ({ size }) => size + 1,
    ttl: REMEMBERED_MS,
    // Callers use a result that was evicted while it was read.
    ignoreFetchAbort: true,
    fetchMethod: (workspaceId) => this.read(workspaceId),
  });

  constructor(private readonly database: Database) {}

  /** Concurrent callers share one query. */
  async of(workspaceId: string): Promise<Calibrations> {
    return this.known.get(workspaceId) ?? (await this.known.forceFetch(workspaceId));
  }

  private async read(workspaceId: string): Promise<Calibrations> {
    const rows = await this.database.tenant(workspaceId).rows(readCalibrations, [workspaceId]);
    return new Calibrations(
      rows.map(({ project_id: projectId, task_type: taskType, factor, median_used: used }) => ({
        taskType,
        projectId,
        medianUsed: BigInt(used),
        factor: factor === null ? null : Number(factor),
      })),
    );
  }
}
