export { type CommandRequest, type TaskCommand } from './commands.js';
export { pauseRequest } from './pause-request.js';
export type { TaskRequest } from './new-task.js';
export { MAX_ANSWERS, type TaskAnswer } from './task-answer.js';
export {
  hiddenPlaces,
  secretsInTexts,
  type TaskTemplate,
  toTemplate,
  unknownSecrets,
} from './template.js';
export { secretValuesOf } from './task-secrets.js';
export { visibilityOf } from './access.js';
export { type Edge, findWay } from './dependencies.js';
export { type DependencyPolicy, DEPENDENCY_POLICIES, type TaskView } from './task-view.js';
export { atLeast, LOG_LEVELS, type LogFilter, type LogLevel, type LogView } from './log-view.js';
