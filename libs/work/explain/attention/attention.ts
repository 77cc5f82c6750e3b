import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import type { Caller } from '#lib/kernel';
import type { AttentionCounts } from '../domain/attention-counts.js';
import { attentionCounts } from './attention.sql.js';

/** What people have to look at in a workspace. */
@Injectable()
export class Attention {
  constructor(private readonly database: Database) {}

  /** Each count is at most 100. */
  async counts({ workspaceId }: Caller): Promise<AttentionCounts> {
    const row = await firstRow(this.database.tenant(workspaceId), attentionCounts, [workspaceId]);
    if (!row) throw new Error('A count was not answered.');
    return row;
  }
}
