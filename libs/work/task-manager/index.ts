export * from './domain/index.js';
export { TaskSuspension } from './suspension/task-suspension.js';
export { TaskManagerModule } from './task-manager.module.js';
export { TaskCreation } from './creation/task-creation.js';
export { BatchTaskDto, CreateTaskDto, CreateTasksDto } from './http/dto/task-requests.dto.js';
export { TaskPageDto } from './http/dto/task.dto.js';
export { TaskAgentDto } from './http/dto/task-agent.dto.js';
export { TaskCommands } from './commands/task-commands.js';
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
export { TaskQueries } from './queries/task-queries.js';
export { bytesOf, cutPage, REQUESTED_COLUMNS, TASK_BYTES } from './store/page-bytes.sql.js';
export { LEASE_END } from './queries/run-columns.sql.js';
export { reconsiderPrerequisites } from './commands/reconsider-prerequisites.sql.js';
export { leaveDeadLetter } from './dead-letter/dead-letter.sql.js';
export { taskState } from './store/task-state.sql.js';
