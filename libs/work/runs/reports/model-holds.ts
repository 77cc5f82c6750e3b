import { Injectable } from '@nestjs/common';
import { type BudgetStanding, type HoldAnswer, RequestHolds } from '#lib/budgets';
import { Database, firstRow } from '#lib/database';
import { describeRefusal, ModelRouting } from '#lib/models';
import { pauseRequest, TaskCommands } from '#lib/task-manager';
import { replacementOf } from '../domain/routed-request.js';
import { routedModelOfRun } from './routed-model-of-run.sql.js';
import type { Reporter } from './reporter.js';

/** A request to a model that its host asks for before it sends it. */
export interface ModelRequestWish {
  /** The upper bound of its tokens. */
  tokens: string;
  /** The model that it asks. */
  model?: string;
  /** The default is true. */
  final?: boolean;
}

/**
 * `unpriced` also stands for a model that is not allowed: workers of the version before know no
 * further outcome, and take an unknown one for a lack of tokens.
 */
export const HOLD_OUTCOMES = ['granted', 'wait', 'refused', 'unpriced'] as const;
export const HOLD_REASONS = ['budget_exceeded', 'model_unpriced', 'model_not_allowed'] as const;

export interface ModelHoldView {
  outcome: (typeof HOLD_OUTCOMES)[number];
  /** The reason of a refusal, or null. */
  reason: (typeof HOLD_REASONS)[number] | null;
  /** One sentence for the agent and its user. */
  message: string | null;
  /** The budget that has too little. */
  budget: BudgetStanding | null;
  /** The model that routing gives the request instead, or null. */
  model: string | null;
  /** The models to ask, in this order, if the provider refuses that one. */
  fallbacks: readonly string[];
}

const NOTHING = { reason: null, message: null, budget: null, model: null, fallbacks: [] } as const;
const REASON = 'budget_used_up';

/**
 * Requests of runs to models, which hold tokens before they are sent. The policy of the budget that
 * refuses one decides about the task, before the answer.
 */
@Injectable()
export class ModelHolds {
  constructor(
    private readonly database: Database,
    private readonly holds: RequestHolds,
    private readonly commands: TaskCommands,
    private readonly routing: ModelRouting,
  ) {}

  /** @throws DroverError `run_not_found`, `stale_run`, `validation_failed` */
  async ask(
    { workspaceId, runId, agentId }: Reporter,
    requestId: string,
    { tokens, model: asked, final: isFinal = true }: ModelRequestWish,
  ): Promise<ModelHoldView> {
    const routed = asked === undefined ? null : await this.route(workspaceId, runId, asked);
    const model = routed ?? asked;
    const isPriced = model === undefined || (await this.routing.tierOf(model)) !== null;
    const fallbacks = model === undefined ? [] : await this.routing.fallbacksOf(workspaceId, model);
    const wish = { requestId, tokens: BigInt(tokens), isFinal, isPriced, model, fallbacks };
    const answer = await this.holds.ask(workspaceId, { runId, agentId, ...wish });
    if (answer.kind === 'refused' && isFinal) await this.applyPolicy(workspaceId, answer);
    switch (answer.kind) {
      case 'granted':
        return { ...NOTHING, outcome: 'granted', model: routed, fallbacks: answer.fallbacks };
      case 'not_allowed':
        return {
          ...NOTHING,
          outcome: 'unpriced',
          reason: 'model_not_allowed',
          message: describeRefusal(model, answer.refusal) + becauseOf(routed, asked),
        };
      case 'unpriced':
        return {
          ...NOTHING,
          outcome: 'unpriced',
          reason: 'model_unpriced',
          message: lackOfPrice(model),
        };
      case 'wait':
      case 'refused': {
        const { kind, budget } = answer;
        const reason = kind === 'refused' ? 'budget_exceeded' : null;
        return { ...NOTHING, outcome: kind, reason, message: describe(budget, tokens), budget };
      }
    }
  }

  /** @throws DroverError `run_not_found` */
  release({ workspaceId, runId, agentId }: Reporter, requestId: string): Promise<void> {
    return this.holds.release(workspaceId, { runId, agentId, requestId });
  }

  private async route(workspaceId: string, runId: string, asked: string): Promise<string | null> {
    if ((await this.routing.chooserOf(workspaceId)) === undefined) return null;
    const tenant = this.database.tenant(workspaceId);
    const routed = await firstRow(tenant, routedModelOfRun, [workspaceId, runId]);
    if (!routed) return null;
    const [from, to] = await Promise.all(
      [asked, routed.model].map(async (model) => ({
        model,
        tier: await this.routing.tierOf(model),
      })),
    );
    return from && to ? replacementOf(from, to) : null;
  }

  /** The coordinator resumes the task when its budgets have the tokens. */
  private async applyPolicy(
    workspaceId: string,
    { taskId, budget }: Extract<HoldAnswer, { kind: 'refused' }>,
  ): Promise<void> {
    const command = budget.policy === 'abort' ? 'cancel' : 'pause';
    const request = pauseRequest('budget', budget.budgetId, REASON);
    const { wake } = await this.database
      .tenant(workspaceId)
      .transaction((tx) =>
        this.commands.obey(tx, workspaceId, command, { ids: [taskId], request }),
      );
    wake();
  }
}

function becauseOf(routed: string | null, asked = ''): string {
  return routed === null ? '' : ` Routing chose it instead of "${asked}".`;
}

function lackOfPrice(model = ''): string {
  return (
    `The model "${model}" has no price, so the budgets of its run cannot count it. ` +
    'An operator adds a price with POST /api/v1/model-prices.'
  );
}

function describe({ scope, available, allocated }: BudgetStanding, tokens: string): string {
  const whose = scope === 'global' ? 'workspace' : scope;
  return (
    `The budget of its ${whose} has ${available} of ${allocated} tokens available, ` +
    `and this request can use ${tokens}.`
  );
}
