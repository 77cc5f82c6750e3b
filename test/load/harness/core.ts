import 'reflect-metadata';
import type { INestApplicationContext, Type } from '@nestjs/common';
import { loadConfig } from '#lib/config';
import { Logger } from '#lib/observability';
import { ClaimService, RunReports } from '#lib/runs';
import { createApp } from '../../../apps/server/create-app.js';
import type { Site } from './site.js';

type ClaimedTask = Awaited<ReturnType<ClaimService['claimNow']>>[number];

/** The server's own services, called without HTTP. */
export class Core {
  private readonly claiming: ClaimService;
  private readonly reports: RunReports;
  private stopping: Promise<void> | undefined;

  private constructor(private readonly app: INestApplicationContext) {
    this.claiming = this.get(ClaimService);
    this.reports = this.get(RunReports);
  }

  static async start(site: Site, env: Record<string, string>): Promise<Core> {
    const config = loadConfig({ ...site.env, ...env, ROLES: 'api' });
    const app = await createApp(config, Logger.create({ level: 'error' }));
    await app.init();
    return new Core(app);
  }

  get<T>(type: Type<T>): T {
    return this.app.get(type, { strict: false });
  }

  claim(workspaceId: string, agentId: string, maxTasks: number): Promise<ClaimedTask[]> {
    return this.claiming.claimNow({ agent: { kind: 'agent', workspaceId, agentId }, maxTasks });
  }

  async complete(
    workspaceId: string,
    agentId: string,
    claimed: readonly ClaimedTask[],
  ): Promise<void> {
    const actor = { kind: 'agent' as const, id: agentId };
    await Promise.all(
      claimed.map(({ run }) =>
        this.reports.complete({ workspaceId, agentId, runId: run.id, actor }, {}),
      ),
    );
  }

  /** Closes it once. Later calls do nothing. */
  stop(): Promise<void> {
    this.stopping ??= this.app.close();
    return this.stopping;
  }
}
