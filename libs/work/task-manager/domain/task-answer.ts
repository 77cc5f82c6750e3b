/** As many answers to its questions a run receives at most, the latest. */
export const MAX_ANSWERS = 20;

/** The answer to a question of a task, as its next run receives it. */
export interface TaskAnswer {
  questionId: string;
  prompt: string;
  answer: string;
  /** Such as `user:<id>`; null: nobody answered, and this is the default. */
  answeredBy: string | null;
  byDefault: boolean;
  answeredAt: string;
}
