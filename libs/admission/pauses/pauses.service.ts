import { Inject, Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { Memberships } from '#lib/identity';
import { type Caller, DroverError, newId, type Page, toPage } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import {
  endInstallationPause,
  endPause,
  findPause,
  insertInstallationPause,
  insertPause,
  listPauses,
  type PauseRow,
  waitingWorkspaces,
} from '../store/pauses.sql.js';
import { type PauseView, toPauseView } from './pause-view.js';

export interface WantedPause {
  scope: PauseRow['scope'];
  taskType?: string;
  reason: string;
  until?: string;
}

/** As many waiting agents are asked; they ask each other while there is something. */
const WOKEN = 100;

/** Switches that keep tasks from being handed out, and say who turned them and why. */
@Injectable()
export class Pauses {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(Memberships) private readonly memberships: Memberships,
    @Inject(WakeUps) private readonly wakeUps: WakeUps,
  ) {}

  /**
   * From the answer on no task that the pause covers is handed out; claims that are under way may still
   * give some.
   *
   * @throws DroverError `validation_failed`, `forbidden` (everything, by somebody who is no operator)
   */
  async pause(caller: Caller, wanted: WantedPause): Promise<PauseView> {
    refuseNonsense(wanted);
    const userId = userOf(caller);
    const { reason, until = null } = wanted;
    if (wanted.scope === 'everything') {
      await this.requireOperator(caller);
      const params = [newId(), reason, userId, until];
      return this.made(await firstRow(this.database.service, insertInstallationPause, params));
    }
    const { workspaceId } = caller;
    const params = [workspaceId, newId(), wanted.taskType ?? null, reason, userId, until];
    return this.made(await firstRow(this.database.tenant(workspaceId), insertPause, params));
  }

  /** The newest first. */
  async list(
    { workspaceId }: Caller,
    { ended, after, limit }: { ended: boolean; after: string | null; limit: number },
  ): Promise<Page<PauseView>> {
    const params = [workspaceId, ended, after, limit + 1];
    const rows = await this.database.tenant(workspaceId).rows(listPauses, params);
    return toPage(rows, limit, ({ id }) => [id], toPauseView);
  }

  /**
   * Lets it go on; ending it again is answered with what it is.
   *
   * @throws DroverError `pause_not_found`, `forbidden` (one of the operators’)
   */
  async end(caller: Caller, id: string): Promise<PauseView> {
    const { workspaceId } = caller;
    const tenant = this.database.tenant(workspaceId);
    const known = await firstRow(tenant, findPause, [workspaceId, id]);
    if (!known) throw new DroverError('pause_not_found');
    const userId = userOf(caller);
    if (known.scope === 'everything') {
      await this.requireOperator(caller);
      const ended = await firstRow(this.database.service, endInstallationPause, [id, userId]);
      await this.wakeEverybody();
      return toPauseView(ended ?? known);
    }
    const ended = await firstRow(tenant, endPause, [workspaceId, id, userId]);
    this.wakeUps.claims(workspaceId, WOKEN);
    this.wakeUps.coordinator();
    return toPauseView(ended ?? known);
  }

  /** Everything goes on: wakes the claims of all workspaces where something waits. */
  async wakeEverybody(): Promise<void> {
    for (const row of await this.database.service.rows(waitingWorkspaces)) {
      this.wakeUps.claims(row.workspace_id, WOKEN);
    }
    this.wakeUps.coordinator();
  }

  private made(row: PauseRow | undefined): PauseView {
    if (!row) throw new Error('An INSERT answered no row');
    // The coordinator clears the way of what the pause does not cover.
    this.wakeUps.coordinator();
    return toPauseView(row);
  }

  private async requireOperator(caller: Caller): Promise<void> {
    const isOperator =
      caller.kind === 'user' && (await this.memberships.isOperator(caller.userId)) === true;
    if (isOperator) return;
    throw new DroverError('forbidden', { detail: 'Only operators of this installation may.' });
  }
}

function userOf(caller: Caller): string {
  if (caller.kind === 'user' || caller.kind === 'api_key') return caller.userId;
  throw new DroverError('forbidden');
}

function refuseNonsense({ scope, taskType, until }: WantedPause): void {
  const errors = [];
  if (scope === 'task_type' && taskType === undefined) {
    errors.push({ field: 'taskType', message: 'must say which type is paused' });
  }
  if (scope !== 'task_type' && taskType !== undefined) {
    errors.push({ field: 'taskType', message: `does not go with the scope ${scope}` });
  }
  if (until !== undefined && Date.parse(until) <= Date.now()) {
    errors.push({ field: 'until', message: 'must be in the future' });
  }
  if (errors.length > 0) throw new DroverError('validation_failed', { errors });
}
