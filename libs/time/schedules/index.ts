export { SchedulesModule } from './schedules.module.js';
export { ScheduleStarter } from './starting/schedule-starter.js';
export { pruneScheduleOccurrences } from './starting/prune.js';
export { NEXT_START } from './store/schedules.sql.js';
