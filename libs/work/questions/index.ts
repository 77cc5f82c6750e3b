export * from './domain/index.js';
export { Questions } from './answering/questions.js';
export { QuestionsModule } from './questions.module.js';
export { dueQuestions, NEXT_DEADLINE } from './answering/close.sql.js';
export { waitsOrHasWaited } from './store/questions.sql.js';
