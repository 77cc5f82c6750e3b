export { ON_DEADLINE, type OnDeadline } from './question.js';
