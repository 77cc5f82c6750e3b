import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import type { Consumer, Message } from '#lib/journal';
import { Tracing } from '#lib/observability';
import { overParts, spanOf } from '../domain/spans.js';
import { readParts } from './traced.sql.js';

/**
 * Creates spans from the journal for traced tasks: the whole life, the waits for an agent, and the
 * runs.
 */
@Injectable()
export class TraceConsumer implements Consumer {
  readonly name = 'traces';
  readonly begins = 'next';

  constructor(
    private readonly database: Database,
    private readonly tracing: Tracing,
  ) {}

  async consume(messages: readonly Message[]): Promise<void> {
    const over = messages.flatMap(({ workspaceId, body }) => overParts(workspaceId, body));
    if (over.length === 0) return;
    const rows = await this.database.service.rows(readParts, [JSON.stringify(over)]);
    for (const row of rows) {
      const span = spanOf(row);
      if (span) this.tracing.write(span);
    }
  }
}
