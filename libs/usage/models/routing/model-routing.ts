import { Injectable } from '@nestjs/common';
import { Database, firstRow } from '#lib/database';
import { ShortMemory } from '#lib/identity';
import { type Caller, DroverError, type FieldError } from '#lib/kernel';
import { errorsInFallbacks, fallbacksOf, type ModelFallbacks } from '../domain/fallbacks.js';
import {
  type Choice,
  type RoutingRule,
  selectModel,
  type TaskFacts,
} from '../domain/select-model.js';
import { MODEL_TIERS, type ModelTier, TIER_MODELS, type TierModels } from '../domain/tiers.js';
import { ModelPrices } from '../prices/model-prices.js';
import {
  knownProjects,
  readModelRouting,
  type RoutingRow,
  writeModelRouting,
} from './model-routing.sql.js';

export interface RoutingRequest {
  enabled: boolean;
  rules: RoutingRule[];
  /** The tiers that stand for another model than the server's. */
  tiers: Partial<TierModels>;
  /** They apply whether routing is enabled or not. None by default. */
  fallbacks?: ModelFallbacks[];
}

/** The routing of a workspace. */
export interface RoutingView extends Omit<RoutingRequest, 'tiers'> {
  /** The model of every tier. */
  tiers: TierModels;
  fallbacks: ModelFallbacks[];
  /** It is 0 until somebody sets the routing. */
  version: number;
}

/** A model and its tier. A model without a price has no tier. */
export interface RunModel {
  model: string;
  tier: ModelTier | null;
}

const UNSET: RoutingRow = { enabled: false, rules: [], tiers: {}, fallbacks: [], version: 0 };
/** Other servers use changed rules after at most this time. */
const REMEMBERED = { seconds: 30, max: 10_000 };

/** Chooses the models of tasks: by the rules of the workspace, else by the rules of the server. */
@Injectable()
export class ModelRouting {
  private readonly memory: ShortMemory<RoutingView>;

  constructor(
    private readonly database: Database,
    private readonly prices: ModelPrices,
  ) {
    this.memory = new ShortMemory((workspaceId) => this.read(workspaceId), REMEMBERED);
  }

  get({ workspaceId }: Pick<Caller, 'workspaceId'>): Promise<RoutingView> {
    return this.read(workspaceId);
  }

  /**
   * Applies to the tasks that this server hands out from now on. Other servers follow within 30 s.
   *
   * @param version the version that the client expects, if it does
   * @throws DroverError `validation_failed`, `project_not_found`, `version_mismatch`
   */
  async set(
    { workspaceId }: Pick<Caller, 'workspaceId'>,
    request: RoutingRequest,
    version?: number,
  ): Promise<RoutingView> {
    const { enabled, rules, tiers, fallbacks = [] } = request;
    validate(rules, fallbacks);
    await this.requireProjects(workspaceId, rules);
    const json = [rules, pickOwnTiers(tiers), fallbacks].map((part) => JSON.stringify(part));
    const tenant = this.database.tenant(workspaceId);
    const params = [workspaceId, enabled, ...json, version ?? null];
    const row = await firstRow(tenant, writeModelRouting, params);
    this.memory.forget(workspaceId);
    if (row) return toView(row);
    const { version: currentVersion } = await this.read(workspaceId);
    throw new DroverError('version_mismatch', { members: { currentVersion } });
  }

  /**
   * Returns the model that such a task would get, and the rule, whether routing is enabled or not.
   *
   * @throws DroverError `project_not_found`
   */
  async preview(
    { workspaceId }: Pick<Caller, 'workspaceId'>,
    task: TaskFacts,
  ): Promise<Choice & { enabled: boolean }> {
    const { projectId } = task;
    if (projectId !== null) await this.requireProjects(workspaceId, [{ projectId }], 'projectId');
    const { enabled, rules, tiers } = await this.read(workspaceId);
    const choice = selectModel(task, rules, tiers);
    return { ...choice, tier: choice.tier ?? (await this.tierOf(choice.model)), enabled };
  }

  /**
   * Gives the function that chooses models, by rules that are at most 30 s old. It is undefined if
   * the workspace leaves the choice to agents.
   */
  async chooserOf(
    workspaceId: string,
  ): Promise<((task: TaskFacts) => Promise<RunModel>) | undefined> {
    const { enabled, rules, tiers } = await this.memory.get(workspaceId);
    if (!enabled) return undefined;
    return async (task) => {
      const { model, tier } = selectModel(task, rules, tiers);
      return { model, tier: tier ?? (await this.tierOf(model)) };
    };
  }

  /**
   * Lists the models that can answer instead, if the provider refuses this one. The list is at most
   * 30 s old. Models without a price are left out.
   */
  async fallbacksOf(workspaceId: string, model: string): Promise<string[]> {
    const all = fallbacksOf((await this.memory.get(workspaceId)).fallbacks, model);
    const tiers = await Promise.all(all.map((one) => this.tierOf(one)));
    return all.filter((_, index) => tiers[index] !== null);
  }

  /** The tier comes from memory, as the prices do. */
  async tierOf(model: string): Promise<ModelTier | null> {
    return (await this.prices.priceOf(model, new Date()))?.tier ?? null;
  }

  private async read(workspaceId: string): Promise<RoutingView> {
    const row = await firstRow(this.database.tenant(workspaceId), readModelRouting, [workspaceId]);
    return toView(row ?? UNSET);
  }

  private async requireProjects(
    workspaceId: string,
    rules: readonly Pick<RoutingRule, 'projectId'>[],
    field?: string,
  ): Promise<void> {
    const ids = rules.flatMap(({ projectId }) => projectId ?? []);
    if (ids.length === 0) return;
    const tenant = this.database.tenant(workspaceId);
    const known = new Set(
      (await tenant.rows(knownProjects, [workspaceId, ids])).map(({ id }) => id),
    );
    const errors = rules.flatMap(({ projectId }, index) =>
      projectId === undefined || known.has(projectId)
        ? []
        : [{ field: field ?? `rules[${index}].projectId`, message: 'is not there' }],
    );
    if (errors.length > 0) throw new DroverError('project_not_found', { errors });
  }
}

/** @throws DroverError `validation_failed` */
function validate(rules: readonly RoutingRule[], fallbacks: readonly ModelFallbacks[]): void {
  const ofRules: FieldError[] = rules.flatMap(({ tier, model }, index) =>
    (tier === undefined) === (model === undefined)
      ? [{ field: `rules[${index}]`, message: 'must have a tier or a model, and not both' }]
      : [],
  );
  const errors = [...ofRules, ...errorsInFallbacks(fallbacks)];
  if (errors.length > 0) throw new DroverError('validation_failed', { errors });
}

/** Drops the models that equal the server's, so that they follow the server. */
function pickOwnTiers(tiers: Partial<TierModels>): Partial<TierModels> {
  const own = MODEL_TIERS.filter((tier) => tiers[tier] !== TIER_MODELS[tier]);
  return Object.fromEntries(own.map((tier) => [tier, tiers[tier]]));
}

function toView({ tiers, ...row }: RoutingRow): RoutingView {
  return { ...row, tiers: { ...TIER_MODELS, ...tiers } };
}
