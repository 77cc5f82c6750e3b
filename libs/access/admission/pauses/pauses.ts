import { Injectable } from '@nestjs/common';
import { Database, describeChange, firstRow, type Sql, type SqlRunner } from '#lib/database';
import { type IdempotencyRecord, storeAnswer } from '#lib/http';
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
} from './pauses.sql.js';
import { type EndedPauseView, type PauseView, toPauseView } from './pause-view.js';

export interface PauseRequest {
  scope: PauseRow['scope'];
  taskType?: string;
  reason: string;
  until?: string;
  /** Also end the live runs of its tasks: a kill switch. */
  endRuns?: boolean;
}

const NOT_IN_THE_FUTURE = { field: 'until', message: 'must be in the future' };

/** Pauses that stop the hand-out of tasks, with author and reason. */
@Injectable()
export class Pauses {
  constructor(
    private readonly database: Database,
    private readonly memberships: Memberships,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * After the answer no task under the pause is handed out. Claims in progress can still return
   * some. A repetition of the request gets the same answer.
   *
   * @throws DroverError `validation_failed`, `forbidden` (a pause of everything by somebody who is
   *   no operator)
   */
  async pause(
    caller: Caller,
    request: PauseRequest,
    record?: IdempotencyRecord,
  ): Promise<PauseView> {
    refuseNonsense(request);
    const { userId, apiKeyId } = authorOf(caller);
    const { until = null, endRuns = false } = request;
    const reason = redactText(request.reason);
    const { workspaceId } = caller;
    const make = async (tx: SqlRunner, sql: Sql<PauseRow>, params: unknown[]) => {
      const who = sql === insertPause ? { workspaceId, userId } : { userId };
      const row = await describe(tx, who, await firstRow(tx, sql, params));
      if (!row) throw new DroverError('validation_failed', { errors: [NOT_IN_THE_FUTURE] });
      const body = toPauseView(row);
      await storeAnswer(tx, workspaceId, record, { status: 201, body });
      return body;
    };
    let pause: PauseView;
    if (request.scope === 'everything') {
      await this.requireOperator(caller);
      const params = [newId(), reason, userId, until, endRuns];
      pause = await this.database.service.transaction((tx) =>
        make(tx, insertInstallationPause, params),
      );
    } else {
      const what = [workspaceId, newId(), request.taskType ?? null];
      const params = [...what, reason, userId, until, apiKeyId, endRuns];
      pause = await this.database
        .tenant(workspaceId)
        .transaction((tx) => make(tx, insertPause, params));
    }
    // The coordinator moves paused tasks out of the way of others.
    this.wakeUps.coordinator();
    return pause;
  }

  /** Newest first. */
  async list(
    { workspaceId }: Caller,
    { ended, after, limit }: { ended: boolean; after: string | null; limit: number },
  ): Promise<Page<PauseView>> {
    const params = [workspaceId, ended, after, limit + 1];
    const rows = await this.database.tenant(workspaceId).rows(listPauses, params);
    return toPage(rows, limit, ({ id }) => [id], toPauseView);
  }

  /**
   * Ends the pause. Tasks continue unless another pause applies. Ending it again returns it
   * unchanged.
   *
   * @throws DroverError `pause_not_found`, `forbidden` (an operator's pause)
   */
  async end(caller: Caller, id: string): Promise<EndedPauseView> {
    const { workspaceId } = caller;
    const tenant = this.database.tenant(workspaceId);
    const known = await firstRow(tenant, findPause, [workspaceId, id]);
    if (!known) throw new DroverError('pause_not_found');
    const params = [workspaceId, id];
    const ended =
      (await this.endKnown(caller, known)) ?? (await firstRow(tenant, findPause, params)) ?? known;
    const others = await tenant.rows(otherPauses, [workspaceId, id, known.task_type]);
    return { ...toPauseView(ended), remaining: others.map((other) => other.id) };
  }

  /** @returns undefined if the pause had ended, perhaps by another request meanwhile */
  private async endKnown(caller: Caller, known: PauseRow): Promise<PauseRow | undefined> {
    const { userId, apiKeyId } = authorOf(caller);
    if (known.scope === 'everything') {
      await this.requireOperator(caller);
      const params = [known.id, userId];
      const ended = await this.database.service.transaction(async (tx) =>
        describe(tx, { userId }, await firstRow(tx, endInstallationPause, params)),
      );
      await this.wakeEverybody();
      return ended;
    }
    const { workspaceId } = caller;
    const params = [workspaceId, known.id, userId, apiKeyId];
    const ended = await this.database
      .tenant(workspaceId)
      .transaction(async (tx) =>
        describe(tx, { workspaceId, userId }, await firstRow(tx, endPause, params)),
      );
    this.wakeUps.manyClaims(workspaceId);
    this.wakeUps.coordinator();
    return ended;
  }

  /** Wakes the claims of all workspaces with waiting tasks. */
  async wakeEverybody(): Promise<void> {
    for (const row of await this.database.service.rows(waitingWorkspaces)) {
      this.wakeUps.manyClaims(row.workspace_id);
    }
    this.wakeUps.coordinator();
  }

  private async requireOperator(caller: Caller): Promise<void> {
    const isOperator =
      caller.kind === 'user' && (await this.memberships.isOperator(caller.userId)) === true;
    if (isOperator) return;
    throw new DroverError('forbidden', {
      detail:
        caller.kind === 'user'
          ? 'Only operators of this installation may.'
          : 'Only operators of this installation may, signed in as users.',
    });
  }
}

/** Names the pause in the audit log, because its path and its status do not. */
async function describe(
  tx: SqlRunner,
  who: { workspaceId?: string; userId: string },
  pause: PauseRow | undefined,
): Promise<PauseRow | undefined> {
  if (pause === undefined) return undefined;
  const { id: pauseId, scope, task_type: taskType, ends_runs: endRuns, reason } = pause;
  const ofType = taskType === null ? {} : { taskType };
  await describeChange(tx, { ...who, details: { pauseId, scope, ...ofType, endRuns, reason } });
  return pause;
}

/** The user, and the API key of the user that was used. */
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
