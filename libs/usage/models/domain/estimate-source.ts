/** Where a task's estimate comes from: its client, its complexity, what such tasks used, or nothing of them. */
export const ESTIMATE_SOURCES = ['given', 'complexity', 'history', 'default'] as const;
export type EstimateSource = (typeof ESTIMATE_SOURCES)[number];
