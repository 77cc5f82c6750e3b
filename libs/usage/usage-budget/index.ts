export { UsageBudgetModule } from './usage-budget.module.js';
