import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { Logger } from '#lib/observability';
import type { LogLevel } from '../domain/log-levels.js';
import { Leadership } from '../leadership/leadership.js';
import { appendCoordinatorLogs } from './append-logs.sql.js';

export interface EventLogEntry {
  /**
   * The workspace whose members can read the line. Without one, only operators of the installation
   * can.
   */
  workspaceId?: string;
  level: LogLevel;
  event: string;
  message: string;
  details?: Record<string, unknown>;
}

/** Maximum number of lines that wait while the database is away. The oldest lines are dropped. */
const KEPT_LINES = 1_000;

const WRITERS: Record<LogLevel, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> = {
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
  CRITICAL: 'fatal',
};

/**
 * The coordinator's event log. Each line goes to the process's log at once, and to coordinator_logs
 * in batches.
 */
@Injectable()
export class EventLog {
  private lines: (EventLogEntry & { at: string })[] = [];

  constructor(
    private readonly database: Database,
    private readonly logger: Logger,
    private readonly leadership: Leadership,
  ) {}

  write(line: EventLogEntry): void {
    const { level, message, workspaceId, event, details } = line;
    this.logger[WRITERS[level]](message, { event, workspaceId, ...details });
    this.lines.push({ ...line, at: new Date().toISOString() });
  }

  /**
   * Writes the gathered lines. Lines that cannot be written wait for the next call. Never throws.
   */
  async flush(): Promise<void> {
    if (this.lines.length === 0) return;
    const lines = this.lines.splice(0);
    const rows = lines.map(({ workspaceId, ...line }) => ({ ...line, workspace_id: workspaceId }));
    try {
      const params = [this.leadership.instanceId, JSON.stringify(rows)];
      await this.database.service.rows(appendCoordinatorLogs, params);
    } catch (error) {
      this.logger.warn('Coordinator log could not be written', { error });
      this.lines = [...lines, ...this.lines].slice(-KEPT_LINES);
    }
  }
}
