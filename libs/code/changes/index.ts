export * from './domain/index.js';
export { NEXT_OVERDUE_REVIEW, noteOverdueReviews } from './reviewing/overdue.sql.js';
export {
  AGENT_REVIEW_IS_DUE,
  type DueAgentReview,
  dueAgentReviews,
} from './reviewing/agent-reviews.sql.js';
export { AgentReviews } from './reviewing/agent-reviews.js';
export { ChangesModule } from './changes.module.js';
