import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '#lib/database';
import { type IdempotencyRecord, storeAnswer } from '#lib/http';
import { type Caller, DroverError, type FieldError } from '#lib/kernel';
import { TaskCreation } from '#lib/task-manager';
import type { TaskRequest } from '#lib/task-manager/domain';
import type { Verdict } from '../domain/change-state.js';
import { type ChangeCost, type ChangeView, toChangeView, toCost } from '../reading/change-view.js';
import { type AttemptRow, attemptsAtChange, groupAttempts } from './attempts.sql.js';

export interface AttemptsRequest {
  task: TaskRequest;
  /** The number of attempts, or of attempts of each agent. */
  attempts?: number;
  /** Their agents, in place of the one of the task. */
  agents?: NonNullable<TaskRequest['agent']>[];
}

/** The last proof of an attempt. */
export interface ProofView {
  verdict: Verdict;
  exitCode: number | null;
  durationMs: number | null;
}

/** An attempt at a change, as it is compared with others. AttemptDto describes its fields. */
export interface Attempt extends ChangeView {
  model: string | null;
  proof: ProofView | null;
  cost: ChangeCost;
}

/** The limit of attempts at one change. */
export const MAX_ATTEMPTS = 10;

/** Sibling tasks that make the same change. One is approved, and the others are closed. */
@Injectable()
export class Attempts {
  constructor(
    private readonly database: Database,
    private readonly creation: TaskCreation,
  ) {}

  /**
   * Creates the tasks of all attempts, or none. A repetition gets the same answer.
   *
   * @throws DroverError `validation_failed`, and as the creation of a batch
   */
  async create(
    caller: Caller,
    request: AttemptsRequest,
    record?: IdempotencyRecord,
  ): Promise<{ items: Attempt[] }> {
    const { workspaceId } = caller;
    const tasks = tasksOf(request);
    let items: Attempt[] = [];
    const group = async (tx: Transaction, ids: string[]) => {
      await tx.rows(groupAttempts, [workspaceId, ids, ids[0]]);
      items = (await tx.rows(attemptsAtChange, [workspaceId, ids[0]])).map(toAttempt);
      await storeAnswer(tx, workspaceId, record, { status: 201, body: { items } });
    };
    const creating = this.creation.createTogether(caller, tasks, group, () => 'task.');
    await creating.catch(nameErrorsOnce);
    return { items };
  }

  /** All attempts at a change, itself included. @throws DroverError `change_not_found` */
  async get({ workspaceId }: Caller, id: string): Promise<{ items: Attempt[] }> {
    const rows = await this.database.tenant(workspaceId).rows(attemptsAtChange, [workspaceId, id]);
    if (rows.length === 0) throw new DroverError('change_not_found');
    return { items: rows.map(toAttempt) };
  }
}

/** @throws DroverError `validation_failed` */
function tasksOf({ task, attempts = 1, agents }: AttemptsRequest): TaskRequest[] {
  const kinds = agents ?? [undefined];
  const errors: FieldError[] = [];
  if (task.repositoryId === undefined) {
    errors.push({ field: 'task.repositoryId', message: 'must name the repository to change' });
  }
  if (task.debounceKey !== undefined) {
    errors.push({ field: 'task.debounceKey', message: 'does not go with attempts' });
  }
  const count = kinds.length * attempts;
  if (count < 2 || count > MAX_ATTEMPTS) {
    const message = `must make 2 to ${MAX_ATTEMPTS} attempts together with \`agents\``;
    errors.push({ field: 'attempts', message });
  }
  if (errors.length > 0) throw new DroverError('validation_failed', { errors });
  return kinds.flatMap((agent) =>
    Array.from({ length: attempts }, () => ({ ...task, ...(agent && { agent }) })),
  );
}

/** Each attempt has the same errors. */
function nameErrorsOnce(error: unknown): never {
  if (!(error instanceof DroverError) || error.extras.errors === undefined) throw error;
  const byName = new Map(error.extras.errors.map((one) => [`${one.field} ${one.message}`, one]));
  throw new DroverError(error.code, { ...error.extras, errors: [...byName.values()] });
}

function toAttempt(row: AttemptRow): Attempt {
  const { proof_verdict: verdict, proof_exit_code: exitCode, proof_ms: durationMs } = row;
  return {
    ...toChangeView(row),
    model: row.model,
    proof: verdict === null ? null : { verdict, exitCode, durationMs },
    cost: toCost(row),
  };
}
