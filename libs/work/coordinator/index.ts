export { Coordinator } from './cycle/coordinator.js';
export { CoordinatorModule } from './coordinator.module.js';
export { Cycle } from './cycle/cycle.js';
export type { CycleReport } from './domain/cycle-report.js';
export { Leadership } from './leadership/leadership.js';
