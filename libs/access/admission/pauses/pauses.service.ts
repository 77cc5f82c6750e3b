import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { Memberships } from '#lib/identity';
import { type Caller, DroverError, newId, type Page, redactText, toPage } from '#lib/kernel';
import { WakeUps } from '#lib/valkey';
import {
  endInstallationPause,
  endPause,
  findPause,
  insertInstallationPause,
  insertPause,
  listPauses,
  otherPauses,
  type PauseRow,
  waitingWorkspaces,
} from '../store/pauses.sql.js';
import { type EndedPauseView, type PauseView, toPauseView } from './pause-view.js';

export interface PauseRequest {
  scope: PauseRow['scope'];
  taskType?: string;
  reason: string;
  until?: string;
}

const NOT_IN_THE_FUTURE = { field: 'until', message: 'must be in the future' };

/** As many waiting agents are asked; they ask each other while there is something. */
const WOKEN = 100;

/** Switches that keep tasks from being handed out, and say who turned them and why. */
@Injectable()
export class Pauses {
  constructor(
    private readonly database: Database,
    private readonly memberships: Memberships,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * From the answer on no task that the pause covers is handed out; claims that are under way may still
   * give some.
   *
   * @throws DroverError `validation_failed`, `forbidden` (everything, by somebody who is no operator)
   */
  async pause(caller: Caller, request: PauseRequest): Promise<PauseView> {
    refuseNonsense(request);
    const { userId, apiKeyId } = authorOf(caller);
    const { until = null } = request;
    const reason = redactText(request.reason);
    if (request.scope === 'everything') {
      await this.requireOperator(caller);
      const params = [newId(), reason, userId, until];
      return this.made(await firstRow(this.database.service, insertInstallationPause, params));
    }
    const { workspaceId } = caller;
    const what = [workspaceId, newId(), request.taskType ?? null];
    const params = [...what, reason, userId, until, apiKeyId];
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
   * Lets it go on, as far as no other pause holds; ending it again is answered with what it is.
   *
   * @throws DroverError `pause_not_found`, `forbidden` (one of the operators’)
   */
  async end(caller: Caller, id: string): Promise<EndedPauseView> {
    const { workspaceId } = caller;
    const tenant = this.database.tenant(workspaceId);
    const known = await firstRow(tenant, findPause, [workspaceId, id]);
    if (!known) throw new DroverError('pause_not_found');
    const ended = await this.endKnown(caller, known);
    const others = await tenant.rows(otherPauses, [workspaceId, id, known.task_type]);
    return { ...toPauseView(ended), remaining: others.map((other) => other.id) };
  }

  private async endKnown(caller: Caller, known: PauseRow): Promise<PauseRow> {
    const { userId, apiKeyId } = authorOf(caller);
    if (known.scope === 'everything') {
      await this.requireOperator(caller);
      const params = [known.id, userId];
      const ended = await firstRow(this.database.service, endInstallationPause, params);
      await this.wakeEverybody();
      return ended ?? known;
    }
    const { workspaceId } = caller;
    const params = [workspaceId, known.id, userId, apiKeyId];
    const ended = await firstRow(this.database.tenant(workspaceId), endPause, params);
    this.wakeUps.claims(workspaceId, WOKEN);
    this.wakeUps.coordinator();
    return ended ?? known;
  }

  /** Everything goes on: wakes the claims of all workspaces where something waits. */
  async wakeEverybody(): Promise<void> {
    for (const row of await this.database.service.rows(waitingWorkspaces)) {
      this.wakeUps.claims(row.workspace_id, WOKEN);
    }
    this.wakeUps.coordinator();
  }

  private made(row: PauseRow | undefined): PauseView {
    if (!row) throw new DroverError('validation_failed', { errors: [NOT_IN_THE_FUTURE] });
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

/** The user, and the API key of theirs that was used. */
function authorOf(caller: Caller): { userId: string; apiKeyId: string | null } {
  if (caller.kind === 'user') return { userId: caller.userId, apiKeyId: null };
  if (caller.kind === 'api_key') return { userId: caller.userId, apiKeyId: caller.apiKeyId };
  throw new DroverError('forbidden');
}

function refuseNonsense({ scope, taskType }: PauseRequest): void {
  const errors = [];
  if (scope === 'task_type' && taskType === undefined) {
    errors.push({ field: 'taskType', message: 'must say which type is paused' });
  }
  if (scope !== 'task_type' && taskType !== undefined) {
    errors.push({ field: 'taskType', message: `does not go with the scope ${scope}` });
  }
  if (errors.length > 0) throw new DroverError('validation_failed', { errors });
}
