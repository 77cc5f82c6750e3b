import { Module } from '@nestjs/common';
import { AdmissionModule } from '#lib/admission';
import { AgentManagerModule } from '#lib/agent-manager';
import { TaskAssignment } from './assignment/task-assignment.js';
import { BulkCommands } from './commands/bulk-commands.js';
import { TaskCommands } from './commands/task-commands.js';
import { SingleCreations } from './creation/single-creations.js';
import { TaskCreation } from './creation/task-creation.js';
import { TaskDependencies } from './dependencies/task-dependencies.js';
import { AgentTasksController } from './http/agent-tasks.controller.js';
import { AgentWorkController } from './http/agent-work.controller.js';
import { BulkCommandsController } from './http/bulk-commands.controller.js';
import { RunTokensController } from './http/run-tokens.controller.js';
import { RunsController } from './http/runs.controller.js';
import { TaskCommandsController } from './http/task-commands.controller.js';
import { TaskCreationController } from './http/task-creation.controller.js';
import { TaskDependenciesController } from './http/task-dependencies.controller.js';
import { TaskQueriesController } from './http/task-queries.controller.js';
import { TaskReportsController } from './http/task-reports.controller.js';
import { TaskUpdateController } from './http/task-update.controller.js';
import { TaskParking } from './parking/task-parking.js';
import { ExplainFactsReader } from './queries/explain-facts-reader.js';
import { SpawnOutlook } from './queries/spawn-outlook.js';
import { TaskExplainer } from './queries/task-explainer.js';
import { TaskForecaster } from './queries/task-forecaster.js';
import { TaskHistory } from './queries/task-history.js';
import { TaskQueries } from './queries/task-queries.js';
import { TasksOfAgent } from './queries/tasks-of-agent.js';
import { CycleFailure } from './recovery/cycle-failure.js';
import { DependentSettlement } from './recovery/dependent-settlement.js';
import { HungRuns } from './recovery/hung-runs.js';
import { LostSessions } from './recovery/lost-sessions.js';
import { Orphans } from './recovery/orphans.js';
import { SplitBrain } from './recovery/split-brain.js';
import { StateReconciliation } from './recovery/state-reconciliation.js';
import { StateRecovery } from './recovery/state-recovery.js';
import { TaskRecovery } from './recovery/task-recovery.js';
import { AgentDeparture } from './runs/agent-departure.js';
import { AgentWork } from './runs/agent-work.js';
import { Claiming } from './runs/claiming.js';
import { Claims } from './runs/claims.js';
import { Completions } from './runs/completions.js';
import { RunCompletion } from './runs/run-completion.js';
import { ReportSecrets } from './runs/report-secrets.js';
import { RunReports } from './runs/run-reports.js';
import { RunSecrets } from './runs/run-secrets.js';
import { RunTokens } from './runs/run-tokens.js';
import { Signals } from './runs/signals.js';
import { TaskReporter } from './runs/task-reporter.js';
import { HeldSecrets } from './sealing/held-secrets.js';
import { Resealing } from './sealing/resealing.js';
import { TaskSealer } from './sealing/task-sealer.js';
import { TaskUpdates } from './updates/task-updates.js';

/** Tasks, their dependencies and their runs. */
@Module({
  imports: [AdmissionModule, AgentManagerModule],
  controllers: [
    TaskCreationController,
    BulkCommandsController,
    TaskCommandsController,
    TaskQueriesController,
    TaskDependenciesController,
    TaskUpdateController,
    TaskReportsController,
    RunsController,
    RunTokensController,
    AgentWorkController,
    AgentTasksController,
  ],
  providers: [
    TaskSealer,
    HeldSecrets,
    RunSecrets,
    ReportSecrets,
    Resealing,
    SingleCreations,
    TaskCreation,
    TaskCommands,
    BulkCommands,
    TaskQueries,
    TaskHistory,
    TaskExplainer,
    ExplainFactsReader,
    TaskForecaster,
    SpawnOutlook,
    TaskDependencies,
    TaskUpdates,
    TaskReporter,
    AgentWork,
    AgentDeparture,
    TasksOfAgent,
    Claims,
    Completions,
    Claiming,
    RunReports,
    RunCompletion,
    RunTokens,
    Signals,
    DependentSettlement,
    TaskRecovery,
    CycleFailure,
    HungRuns,
    SplitBrain,
    Orphans,
    StateReconciliation,
    StateRecovery,
    TaskAssignment,
    TaskParking,
    LostSessions,
  ],
  exports: [
    Claiming,
    HeldSecrets,
    Resealing,
    TaskAssignment,
    LostSessions,
    RunReports,
    SpawnOutlook,
    StateRecovery,
    TaskParking,
    TaskRecovery,
  ],
})
export class TaskManagerModule {}
