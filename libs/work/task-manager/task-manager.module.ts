import { Module } from '@nestjs/common';
import { AdmissionModule } from '#lib/admission';
import { UsageBudgetModule } from '#lib/usage-budget';
import { BulkCommands } from './commands/bulk-commands.js';
import { TaskCommands } from './commands/task-commands.js';
import { TaskContinuation } from './creation/task-continuation.js';
import { TaskCreation } from './creation/task-creation.js';
import { Subtasks } from './creation/subtasks.js';
import { TaskDrafts } from './creation/task-drafts.js';
import { TaskInserts } from './creation/task-inserts.js';
import { DeadLetter } from './dead-letter/dead-letter.js';
import { TaskDependencies } from './dependencies/task-dependencies.js';
import { BulkCommandsController } from './http/bulk-commands.controller.js';
import { DeadLetterController } from './http/dead-letter.controller.js';
import { TaskContinuationController } from './http/task-continuation.controller.js';
import { TaskCommandsController } from './http/task-commands.controller.js';
import { TaskCreationController } from './http/task-creation.controller.js';
import { TaskDependenciesController } from './http/task-dependencies.controller.js';
import { TaskQueriesController } from './http/task-queries.controller.js';
import { TaskTemplatesController } from './http/task-templates.controller.js';
import { TaskUpdateController } from './http/task-update.controller.js';
import { TaskSuspension } from './suspension/task-suspension.js';
import { TaskHistory } from './queries/task-history.js';
import { TaskQueries } from './queries/task-queries.js';
import { TaskThroughput } from './queries/task-throughput.js';
import { TaskTemplates } from './templates/task-templates.js';
import { BulkUpdates } from './updates/bulk-updates.js';
import { TaskUpdates } from './updates/task-updates.js';
import { UpdateSecrets } from './updates/update-secrets.js';

/** Tasks and their dependencies: created, changed, commanded, read. */
@Module({
  imports: [AdmissionModule, UsageBudgetModule],
  controllers: [
    TaskCreationController,
    TaskContinuationController,
    DeadLetterController,
    BulkCommandsController,
    TaskCommandsController,
    TaskQueriesController,
    TaskDependenciesController,
    TaskUpdateController,
    TaskTemplatesController,
  ],
  providers: [
    TaskDrafts,
    TaskInserts,
    Subtasks,
    TaskCreation,
    TaskContinuation,
    DeadLetter,
    TaskCommands,
    BulkCommands,
    TaskQueries,
    TaskHistory,
    TaskThroughput,
    TaskDependencies,
    UpdateSecrets,
    TaskUpdates,
    BulkUpdates,
    TaskSuspension,
    TaskTemplates,
  ],
  exports: [TaskCreation, TaskCommands, TaskHistory, TaskSuspension, TaskQueries],
})
export class TaskManagerModule {}
