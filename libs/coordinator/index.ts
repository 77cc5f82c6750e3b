export { Coordinator } from './coordinator.js';
export { CoordinatorModule } from './coordinator.module.js';
export { CoordinatorService } from './coordinator.service.js';
export { Cycle } from './cycle.js';
export type { CycleReport, StepReport } from './domain/cycle-report.js';
export { fenceFor, LeadershipLost } from './leadership/fence.js';
export { Leadership } from './leadership/leadership.js';
