/** Maximum number of answers that a run receives, the latest. */
export const MAX_ANSWERS = 20;

/** The answer to a question of a task, as its next run receives it. */
export interface TaskAnswer {
  questionId: string;
  prompt: string;
  answer: string;
  /** For example `user:<id>`. Null means that nobody answered, and this is the default. */
  answeredBy: string | null;
  byDefault: boolean;
  answeredAt: string;
}
