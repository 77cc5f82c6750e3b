export {
  CHANGE_STATES,
  type ChangeState,
  REVIEW_KINDS,
  type ReviewKind,
  type Step,
  VERDICTS,
  type Verdict,
} from './change-state.js';
export type { ChangeComment, ReviewView } from './review.js';
