import type { Quantiles } from '#lib/ledger/domain';

export const COST_GROUPS = ['agentKind', 'model', 'repository', 'taskType'] as const;
/** What merged changes are compared by. */
export type CostGroup = (typeof COST_GROUPS)[number];

/** What a merged change cost. MergedChangeDto describes its fields. */
export interface MergedChange {
  id: string;
  title: string;
  taskType: string;
  repositoryId: string;
  repositoryName: string;
  agentKind: string | null;
  model: string | null;
  mergedAt: string;
  runs: number;
  tokens: string;
  costUsd: string;
  timeToMergeSeconds: number;
  workSeconds: number;
  reviewSeconds: number;
  revisions: number;
  reviewRounds: number;
}

/** The ranges of single merged changes. ChangeCostRangesDto describes its fields. */
export interface ChangeCostRanges {
  tokens: Quantiles;
  costUsd: Quantiles;
  timeToMergeSeconds: Quantiles<number>;
  workSeconds: Quantiles<number>;
  reviewSeconds: Quantiles<number>;
  revisions: Quantiles<number>;
  reviewRounds: Quantiles<number>;
}

/** What a group of changes cost. ChangeCostGroupDto describes its fields. */
export interface ChangeCostGroup {
  key: string | null;
  name: string | null;
  merged: number;
  unmerged: number;
  tokens: string;
  costUsd: string;
  unmergedTokens: string;
  unmergedCostUsd: string;
  /** Null without a merged change. */
  ranges: ChangeCostRanges | null;
}
