export { TaskSuspension } from './suspension/task-suspension.js';
export { TaskManagerModule } from './task-manager.module.js';
export { TaskCreation } from './creation/task-creation.js';
export { CreateTaskDto, TaskPageDto } from './http/dto/task.dto.js';
export { TaskCommands } from './commands/task-commands.js';
export { type TaskCommand } from './domain/commands.js';
export { MAX_ANSWERS, type TaskAnswer } from './domain/task-answer.js';
export { visibilityOf } from './domain/access.js';
export { idAfter } from './domain/cursor.js';
export { type Edge, findWay } from './domain/dependencies.js';
export { type DependencyPolicy, DEPENDENCY_POLICIES, type TaskView } from './domain/task-view.js';
export {
  ShownFlag,
  ShownId,
  ShownIdOrNull,
  ShownInt,
  ShownIntOrNull,
  ShownOneOf,
  ShownTime,
  ShownTimeOrNull,
  ShownJson,
  ShownText,
  ShownTextOrNull,
  ShownTexts,
} from './http/dto/shown.js';
export { TaskHistory } from './queries/task-history.js';
export { requireNamed } from './queries/require-named.js';
export { requireReadable } from './queries/require-readable.js';
export {
  atLeast,
  LOG_LEVELS,
  type LogFilter,
  type LogLevel,
  type LogView,
} from './domain/log-view.js';
export { TaskQueries } from './queries/task-queries.js';
export { bytesOf, cutPage, TASK_BYTES } from './store/page-bytes.js';
export { LEASE_END } from './store/run-columns.js';
export { reconsiderPrerequisites } from './store/reconsider-prerequisites.sql.js';
export { taskState } from './store/task-state.sql.js';
