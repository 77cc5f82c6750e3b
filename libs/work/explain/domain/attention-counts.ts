/** The number from which a count only says "at least". */
export const MAX_COUNT = 100;

/** Counts of what people have to look at, each at most MAX_COUNT. */
export interface AttentionCounts {
  failedTasks: number;
  unclaimableTasks: number;
  openQuestions: number;
  changesInReview: number;
  obstructedChanges: number;
  usedUpBudgets: number;
  endingBudgets: number;
  failedSchedules: number;
  silentAgents: number;
  refusingProviders: number;
  failingWebhooks: number;
  failingNotices: number;
}
