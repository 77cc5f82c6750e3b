import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '#lib/database';
import { type HookListener, HookListeners, textAt } from '#lib/inbound-hooks';
import { Repositories } from '#lib/repositories';
import { ChangeMoves } from '../moves/change-moves.js';
import { hurryChanges } from './pull-requests.sql.js';

/** The kinds of hooks whose events can be about pull requests. */
const KINDS = ['github', 'gitea'];
const ADDRESSES = ['clone_url', 'html_url', 'ssh_url'];
const COMMITS = ['sha', 'check_run.head_sha', 'check_suite.head_sha', 'workflow_run.head_sha'];
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
const NUMBER = /^\d{1,9}$/;

/**
 * Makes changes due for their hosts when something happens at the forge. Nothing else of an event
 * counts: the host reads the forge itself.
 */
@Injectable()
export class ForgeEvents implements HookListener, OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly repositories: Repositories,
    private readonly moves: ChangeMoves,
    private readonly listeners: HookListeners,
  ) {}

  onModuleInit(): void {
    this.listeners.add(this);
  }

  async hear(workspaceId: string, kind: string, payload: unknown): Promise<string | undefined> {
    if (!KINDS.includes(kind)) return undefined;
    const number = textAt(payload, 'pull_request.number') || textAt(payload, 'issue.number');
    const commit = COMMITS.map((path) => textAt(payload, path)).find((text) => COMMIT.test(text));
    const isNumber = NUMBER.test(number);
    if (!isNumber && commit === undefined) return undefined;
    const urls = ADDRESSES.map((name) => textAt(payload, `repository.${name}`)).filter(Boolean);
    const repositories = await this.repositories.atForge(workspaceId, kind, urls);
    if (repositories.length === 0) return undefined;
    const params = [workspaceId, repositories, isNumber ? Number(number) : null, commit ?? null];
    const rows = await this.database.tenant(workspaceId).rows(hurryChanges, params);
    if (rows.length > 0) this.moves.wake(workspaceId);
    return rows[0]?.task_id;
  }
}
