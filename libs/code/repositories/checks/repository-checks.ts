import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { type AgentCaller, type Caller, DroverError } from '#lib/kernel';
import { SecretValues } from '#lib/secrets';
import { WakeUps } from '#lib/valkey';
import { secretTextsOf } from '../domain/credentials.js';
import type { RepositoryAccess } from '../domain/repository.js';
import type { Finding, RepositoryCheckView } from '../domain/repository-check.js';
import { Repositories } from '../repositories/repositories.js';
import {
  checkOfRepository,
  type CheckRow,
  claimCheck,
  endCheck,
  releaseCheck,
  renewCheck,
  requestCheck,
} from './repository-checks.sql.js';

/** A check with everything that a host needs for it. */
export interface CheckWork {
  check: { repositoryId: string; generation: number; until: Date };
  repository: RepositoryAccess;
  /** The address of the server, at which the hooks of a forge reach it. */
  publicUrl: string | null;
}

interface HeldCheck {
  agent: AgentCaller;
  repositoryId: string;
  generation: number;
}

/** Checks of repositories by hosts: what would fail, before a task finds it out. */
@Injectable()
export class RepositoryChecks {
  constructor(
    private readonly database: Database,
    private readonly repositories: Repositories,
    private readonly wakeUps: WakeUps,
    @Inject(CONFIG) private readonly config: Pick<Config, 'http'>,
  ) {}

  /**
   * Asks a host for a check. One that is under way goes on.
   *
   * @throws DroverError `repository_not_found`, `repository_archived`
   */
  async request(caller: Caller, id: string): Promise<RepositoryCheckView> {
    const { workspaceId } = caller;
    const row = await firstRow(this.database.tenant(workspaceId), requestCheck, [workspaceId, id]);
    if (!row) {
      const { archivedAt } = await this.repositories.get(caller, id);
      if (archivedAt !== null) throw new DroverError('repository_archived');
      return this.get(caller, id);
    }
    this.wakeUps.steps(workspaceId);
    return toView(row);
  }

  /** The last check. @throws DroverError `repository_not_found` */
  async get({ workspaceId }: Caller, id: string): Promise<RepositoryCheckView> {
    const params = [workspaceId, id];
    const row = await firstRow(this.database.tenant(workspaceId), checkOfRepository, params);
    if (!row) throw new DroverError('repository_not_found');
    return toView(row);
  }

  /** Gives a host the next check, if one waits. */
  async claim(agent: AgentCaller): Promise<CheckWork | undefined> {
    const { workspaceId, agentId } = agent;
    const tenant = this.database.tenant(workspaceId);
    const row = await firstRow(tenant, claimCheck, [workspaceId, agentId]);
    if (!row) return undefined;
    const { id: repositoryId, check_generation: generation, check_until: until } = row;
    try {
      const repository = await this.repositories.access({ workspaceId, id: repositoryId });
      const publicUrl = this.config.http.publicUrl ?? null;
      return { check: { repositoryId, generation, until }, repository, publicUrl };
    } catch (error) {
      if (!(error instanceof DroverError)) throw error;
      const message = `The server cannot open its credentials: ${error.message}`;
      const findings: Finding[] = [{ name: 'credentials', outcome: 'failed', message }];
      await this.end({ agent, repositoryId, generation }, findings);
      return undefined;
    }
  }

  /** @throws DroverError `repository_not_found`, `stale_step` */
  async renew(held: HeldCheck): Promise<{ until: Date }> {
    const tenant = this.database.tenant(held.agent.workspaceId);
    const row = await firstRow(tenant, renewCheck, paramsOf(held));
    if (row) return { until: row.check_until };
    throw await this.stale(held);
  }

  /**
   * Gives a check back. Another host has it at once.
   *
   * @throws DroverError `repository_not_found`, `stale_step`
   */
  async release(held: HeldCheck): Promise<RepositoryCheckView> {
    const { workspaceId } = held.agent;
    const row = await firstRow(this.database.tenant(workspaceId), releaseCheck, paramsOf(held));
    if (!row) throw await this.stale(held);
    this.wakeUps.steps(workspaceId);
    return toView(row);
  }

  /**
   * Ends a check with what the host has found.
   *
   * @throws DroverError `repository_not_found`, `stale_step`
   */
  async report(held: HeldCheck, findings: readonly Finding[]): Promise<RepositoryCheckView> {
    const { workspaceId } = held.agent;
    const place = { workspaceId, id: held.repositoryId };
    const secrets = await this.repositories.secretsOf(place).catch(() => undefined);
    const values = SecretValues.ofTexts(secrets ? secretTextsOf(secrets) : []);
    const shown = findings.map(({ message, advice, ...finding }) => ({
      ...finding,
      message: values.redact(message),
      ...(advice !== undefined && { advice: values.redact(advice) }),
    }));
    return this.end(held, [...shown, ...(await this.findingsOfNetwork(place))]);
  }

  /** A host learns only what all levels allow together. */
  private async findingsOfNetwork(place: { workspaceId: string; id: string }): Promise<Finding[]> {
    const { own, allowed } = await this.repositories.networksOf(place);
    if (allowed === own) return [];
    const message =
      `The network of the repository is ${own}, but its project and the workspace allow ` +
      `${allowed} together`;
    const advice =
      'Run `drover workspace set --network`, and `drover project set ID --network` if the repository has a project.';
    return [{ name: 'network', outcome: 'warning', message, advice }];
  }

  private async end(held: HeldCheck, findings: readonly Finding[]): Promise<RepositoryCheckView> {
    const tenant = this.database.tenant(held.agent.workspaceId);
    const params = [...paramsOf(held), JSON.stringify(findings)];
    const row = await firstRow(tenant, endCheck, params);
    if (row) return toView(row);
    throw await this.stale(held);
  }

  private async stale({ agent, repositoryId }: HeldCheck): Promise<DroverError> {
    const { state } = await this.get(agent, repositoryId);
    const detail = `Another host has the check of the repository, or it has ended: ${state}.`;
    return new DroverError('stale_step', { detail });
  }
}

function paramsOf({ agent, repositoryId, generation }: HeldCheck) {
  return [agent.workspaceId, repositoryId, agent.agentId, generation];
}

function toView(row: CheckRow): RepositoryCheckView {
  return {
    repositoryId: row.id,
    state: row.check_state,
    requestedAt: row.check_requested_at?.toISOString() ?? null,
    checkedAt: row.checked_at?.toISOString() ?? null,
    findings: row.check_findings,
  };
}
