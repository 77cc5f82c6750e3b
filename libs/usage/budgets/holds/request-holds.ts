import { Injectable } from '@nestjs/common';
import { Coalescer, Database, type Transaction } from '#lib/database';
import { DroverError } from '#lib/kernel';
import { knownReports } from '#lib/ledger';
import { type ModelRefusal, refusalOf } from '#lib/models';
import { type BudgetStanding, type Standing, standingOf } from '../domain/compliance.js';
import {
  type Bounds,
  decideHold,
  heldAfter,
  type HoldDecision,
  type RequestWish,
  sumOf,
} from '../domain/request-holds.js';
import { boundsIn, columnOf } from '../store/bounds.js';
import { lockBudgets, toJson } from '../store/lock-budgets.js';
import {
  type AskingRunRow,
  lockAskingRuns,
  lockUsedRuns,
  type UsedRunRow,
} from '../store/lock-charged.sql.js';
import { writeRequestHolds } from './hold-requests.sql.js';

/** A request to a model, before it is sent. */
export interface AskedRequest extends RequestWish {
  runId: string;
  agentId: string;
  /** The model that is asked, or undefined if its name is not valid. */
  model?: string;
  /** The models to ask instead if the provider refuses it. */
  fallbacks?: readonly string[];
}

export type HoldAnswer =
  /** Its fallbacks are those that are allowed. */
  | { kind: 'granted'; fallbacks: readonly string[] }
  /** The workspace or the project of the run does not allow the model. */
  | { kind: 'not_allowed'; refusal: ModelRefusal }
  /** A budget covers the run, and the model has no price. */
  | { kind: 'unpriced' }
  /** The budget has tokens, but other requests or runs hold them. */
  | { kind: 'wait'; budget: BudgetStanding }
  | { kind: 'refused'; taskId: string; budget: BudgetStanding };

/** The most requests of one run that are held at once: more than a host has connections. */
const MAX_REQUESTS = 1_000;

/**
 * Holds the upper bounds of requests to models, before they are sent. A report of usage with the id
 * of a request ends its hold in the same transaction, and so does the end of the run.
 */
@Injectable()
export class RequestHolds {
  private readonly coalescer: Coalescer<AskedRequest, HoldAnswer | DroverError>;

  constructor(private readonly database: Database) {
    this.coalescer = new Coalescer({
      // Batches would wait for each other's budgets.
      maxInFlight: 1,
      identityOf: ({ runId }) => runId,
      run: (workspaceId, asked) =>
        this.database.tenant(workspaceId).transaction((tx) => askAll(tx, workspaceId, asked)),
    });
  }

  /**
   * Holds a request. The same request again changes nothing. Concurrent calls share one transaction.
   *
   * @throws DroverError `run_not_found` (also for a run of another agent), `stale_run`,
   *   `validation_failed`
   */
  async ask(workspaceId: string, asked: AskedRequest): Promise<HoldAnswer> {
    const answer = await this.coalescer.submit(workspaceId, asked);
    if (answer instanceof DroverError) throw answer;
    return answer;
  }

  /**
   * Ends the hold of a request that used nothing. A request without a hold changes nothing.
   *
   * @throws DroverError `run_not_found`
   */
  async release(
    workspaceId: string,
    { runId, agentId, requestId }: Pick<AskedRequest, 'runId' | 'agentId' | 'requestId'>,
  ): Promise<void> {
    await this.database.tenant(workspaceId).transaction(async (tx) => {
      const [row] = await tx.rows(lockUsedRuns, [workspaceId, [runId]]);
      if (!row || row.agent_id !== agentId) throw new DroverError('run_not_found');
      const run = toHoldingRun(workspaceId, row);
      const left = new Map(run.requests);
      if (!left.delete(requestId) || !row.is_live) return;
      const budgets = await lockBudgets(tx, workspaceId, [run]);
      const held = heldAfter({
        held: run.held,
        used: 0n,
        usedBefore: BigInt(row.used_tokens),
        firstHeld: BigInt(row.first_held),
        left: sumOf(left),
      });
      const reserved = budgets
        .filter(({ id }) => run.heldOf.includes(id))
        .map(({ id }) => ({ id, reserved: held - run.held }));
      const written = toRow(row, { requests: left, held, heldOf: run.heldOf }, row.wanted_tokens);
      await tx.rows(writeRequestHolds, [workspaceId, toJson([written]), toJson(reserved)]);
    });
  }
}

/** Decides about the requests in their order, each after those before it. */
async function askAll(
  tx: Transaction,
  workspaceId: string,
  asked: readonly AskedRequest[],
): Promise<(HoldAnswer | DroverError)[]> {
  const runIds = asked.map(({ runId }) => runId);
  const [rows, reported] = await tx.pipeline([
    [lockAskingRuns, [workspaceId, runIds]],
    [knownReports, [workspaceId, runIds, asked.map(({ requestId }) => requestId)]],
  ]);
  const runs = new Map(rows.map((row) => [row.run_id, row]));
  const ended = new Set(reported.map(({ run_id: runId, id }) => `${runId} ${id}`));
  const holding = rows.map((row) => toHoldingRun(workspaceId, row));
  let budgets = await lockBudgets(tx, workspaceId, holding);
  const written: object[] = [];
  const growths = new Map<string, bigint>();
  const answers = asked.map((one): HoldAnswer | DroverError => {
    const row = runs.get(one.runId);
    if (!row || row.agent_id !== one.agentId) return new DroverError('run_not_found');
    if (!row.is_current) return new DroverError('stale_run');
    // A copy of the question arrived after the report.
    if (ended.has(`${one.runId} ${one.requestId}`)) return { kind: 'granted', fallbacks: [] };
    const lists = { workspace: row.workspace_models, project: row.project_models };
    const refusal = refusalOf(one.model, lists);
    if (refusal) return { kind: 'not_allowed', refusal };
    const run = toHoldingRun(workspaceId, row);
    if (isFull(run.requests, one.requestId)) return tooMany();
    const decision = decideHold(run, one, budgets);
    if (decision.kind === 'granted') {
      written.push(toRow(row, decision, null));
      for (const [id, growth] of decision.reserved)
        growths.set(id, growth + (growths.get(id) ?? 0n));
      budgets = budgets.map((budget) => grow(budget, decision.reserved));
    } else if (decision.kind === 'refused' && one.isFinal) {
      written.push(toRow(row, run, decision.wanted));
    }
    const fallbacks = one.fallbacks?.filter((model) => !refusalOf(model, lists)) ?? [];
    return toAnswer(row, decision, fallbacks);
  });
  if (written.length === 0) return answers;
  const reserved = [...growths].map(([id, growth]) => ({ id, reserved: growth }));
  await tx.rows(writeRequestHolds, [workspaceId, toJson(written), toJson(reserved)]);
  return answers;
}

function toHoldingRun(workspaceId: string, row: UsedRunRow) {
  return {
    held: BigInt(row.held_tokens),
    heldOf: row.budget_ids,
    requests: boundsIn(row),
    scopes: [workspaceId, row.project_id, row.milestone_id, row.task_id],
  };
}

function toRow(
  { run_id: runId }: UsedRunRow,
  { requests, held, heldOf }: { requests: Bounds; held: bigint; heldOf: readonly string[] },
  wanted: bigint | string | null,
): object {
  return { runId, requests: columnOf(requests), held, heldOf, wanted };
}

function grow(budget: Standing, growths: ReadonlyMap<string, bigint>): Standing {
  return { ...budget, reserved: budget.reserved + (growths.get(budget.id) ?? 0n) };
}

function toAnswer(
  { task_id: taskId }: AskingRunRow,
  decision: HoldDecision,
  fallbacks: readonly string[],
): HoldAnswer {
  switch (decision.kind) {
    case 'granted':
    case 'unlimited':
      return { kind: 'granted', fallbacks };
    case 'unpriced':
      return { kind: 'unpriced' };
    case 'wait':
      return { kind: 'wait', budget: standingOf(decision.budget) };
    case 'refused':
      return { kind: 'refused', taskId, budget: standingOf(decision.budget) };
  }
}

function isFull(requests: Bounds, requestId: string): boolean {
  return requests.size >= MAX_REQUESTS && !requests.has(requestId);
}

function tooMany(): DroverError {
  const message = `is one of more than ${MAX_REQUESTS} requests under way`;
  return new DroverError('validation_failed', { errors: [{ field: 'id', message }] });
}
