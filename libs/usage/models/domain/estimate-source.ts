/** The source of an estimate: the client, the complexity, similar tasks, or the default. */
export const ESTIMATE_SOURCES = ['given', 'complexity', 'history', 'default'] as const;
export type EstimateSource = (typeof ESTIMATE_SOURCES)[number];
