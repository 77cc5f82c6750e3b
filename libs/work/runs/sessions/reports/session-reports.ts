import { Injectable } from '@nestjs/common';
import { startCooldown, endCooldown } from '#lib/agent-manager';
import { Database, firstRow } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { type Reporter } from '../../reports/reporter.js';
import { RunReports } from '../../reports/run-reports.js';
import { WakeUps } from '#lib/valkey';
import { failureOf, releaseReasonOf, type SessionReport } from '../domain/session-report.js';
import { type SessionPlace, sessionPlaces } from './gateways.sql.js';

export interface ReportResult {
  runId: string;
  applied: boolean;
  reason?: string;
}

/** A conflict that is no error: the run has ended in another way. */
const SETTLED = new Set(['stale_run', 'illegal_transition', 'run_not_found']);

/** Accepts gateways' reports about sessions. A repeated report changes nothing. */
@Injectable()
export class SessionReports {
  constructor(
    private readonly database: Database,
    private readonly runs: RunReports,
    private readonly wakeUps: WakeUps,
    private readonly logger: Logger,
  ) {}

  async take(
    gatewayId: string,
    reports: readonly SessionReport[],
  ): Promise<{ results: ReportResult[] }> {
    const ids = reports.map((report) => report.runId);
    const rows = await this.database.service.rows(sessionPlaces, [ids]);
    const places = new Map(rows.map((row) => [row.run_id, row]));
    const results: ReportResult[] = [];
    // In the order of the reports: a session starts before it exits.
    for (const report of reports) {
      const place = places.get(report.runId.toLowerCase());
      results.push(await this.takeOne(report, gatewayId, place));
    }
    // A session that has ended makes room for another one.
    this.wakeUps.coordinator();
    return { results };
  }

  private async takeOne(
    report: SessionReport,
    gatewayId: string,
    place: SessionPlace | undefined,
  ): Promise<ReportResult> {
    const { runId } = report;
    if (!place) return { runId, applied: false, reason: 'run_not_found' };
    if (place.gateway_id !== null && place.gateway_id !== gatewayId) {
      return { runId, applied: false, reason: 'spawned_elsewhere' };
    }
    try {
      await this.apply(report, reporterOf(place, gatewayId));
      return { runId, applied: true };
    } catch (error) {
      if (!(error instanceof DroverError) || !SETTLED.has(error.code)) throw error;
      return { runId, applied: false, reason: error.code };
    }
  }

  private async apply(report: SessionReport, by: Reporter): Promise<void> {
    if (report.event === 'started') {
      await this.database.service.rows(endCooldown, [by.workspaceId, by.agentId]);
      await this.runs.start(by, { sessionKey: report.sessionKey });
      return;
    }
    if (report.output) await this.runs.lastWords(by, { message: report.output, at: report.at });
    const released = releaseReasonOf(report);
    if (released) {
      await this.runs.release(by, { reason: released });
      return;
    }
    const error = failureOf(report);
    // Before the run ends and makes room: otherwise the agent gets the next task meanwhile.
    if (report.event === 'failed' && error.class === 'setup')
      await this.startCooldown(by, error.message);
    await this.runs.fail(by, { error });
  }

  /** A command that cannot start now would fail for the next task too. */
  private async startCooldown(
    { workspaceId, agentId, runId }: Reporter,
    why: string,
  ): Promise<void> {
    const params = [workspaceId, agentId, runId];
    const cooldown = await firstRow(this.database.service, startCooldown, params);
    if (!cooldown) return;
    const until = cooldown.resting_until.toISOString();
    this.logger.warn('Cooldown started: the command of an agent cannot be started', {
      agentId,
      until,
      why,
    });
  }
}

function reporterOf(place: SessionPlace, gatewayId: string): Reporter {
  return {
    workspaceId: place.workspace_id,
    agentId: place.agent_id,
    runId: place.run_id,
    actor: { kind: 'system', id: `gateway:${gatewayId}` },
  };
}
