import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Database } from '#lib/database';
import { Calibrations } from '../domain/estimates.js';
import { readCalibrations } from './calibrations.sql.js';

const REMEMBERED_MS = 60_000;
/** Of all workspaces together. */
const REMEMBERED_KINDS = 200_000;

/**
 * What is known of the kinds of tasks of a workspace, up to a minute old: one query a workspace and minute, so that
 * creating a task costs none.
 */
@Injectable()
export class Estimates {
  private readonly known = new LRUCache<string, Calibrations>({
    max: REMEMBERED_KINDS,
    maxSize: REMEMBERED_KINDS,
    sizeCalculation: ({ size }) => size + 1,
    ttl: REMEMBERED_MS,
    // One that is crowded out meanwhile is good for those who asked.
    ignoreFetchAbort: true,
    fetchMethod: (workspaceId) => this.read(workspaceId),
  });

  constructor(private readonly database: Database) {}

  /** Those who ask at the same time share one query. */
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
