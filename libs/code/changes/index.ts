export * from './domain/index.js';
export { NEXT_OVERDUE_REVIEW, noteOverdueReviews } from './reviewing/overdue.sql.js';
export { ChangesModule } from './changes.module.js';
