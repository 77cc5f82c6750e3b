import { Module } from '@nestjs/common';
import { AdmissionModule } from '#lib/admission';
import { AgentManagerModule } from '#lib/agent-manager';
import { TaskManagerModule } from '#lib/task-manager';
import { UsageBudgetModule } from '#lib/usage-budget';
import { AgentDeparture } from './leases/agent-departure.js';
import { AgentWork } from './claims/agent-work.js';
import { TaskAssignment } from './assignment/task-assignment.js';
import { ClaimService } from './claims/claim.service.js';
import { HeldWorkspaces } from './claims/held-workspaces.js';
import { ClaimBatcher } from './claims/claim-batcher.js';
import { CompletionBatcher } from './reports/completion-batcher.js';
import { CompletionClaimBatcher } from './reports/completion-claim-batcher.js';
import { AgentTasksController } from './http/agent-tasks.controller.js';
import { AgentWorkController } from './http/agent-work.controller.js';
import { ModelHoldsController } from './http/model-holds.controller.js';
import { ProviderLimitReportsController } from './http/provider-limit-reports.controller.js';
import { RunBatchesController } from './http/run-batches.controller.js';
import { RunUsageController } from './http/run-usage.controller.js';
import { RunMessagesController } from './http/run-messages.controller.js';
import { RunTokensController } from './http/run-tokens.controller.js';
import { RunsController } from './http/runs.controller.js';
import { TaskReportsController } from './http/task-reports.controller.js';
import { LostSessions } from './leases/lost-sessions.js';
import { ModelHolds } from './reports/model-holds.js';
import { ProviderLimitReports } from './reports/provider-limit-reports.js';
import { RunCompletion } from './reports/run-completion.js';
import { RunModels } from './claims/run-models.js';
import { RunMessages } from './messages/run-messages.js';
import { RunReports } from './reports/run-reports.js';
import { RunSecrets } from './reports/run-secrets.js';
import { RunTokens } from './reports/run-tokens.js';
import { RunUsage } from './reports/run-usage.js';
import { SessionLeases } from './leases/session-leases.js';
import { Signals } from './signals/signals.js';
import { TaskReporter } from './reports/task-reporter.js';
import { TasksOfAgent } from './leases/tasks-of-agent.js';

/** Runs: claims, assignments, reports, signals, leases and releases. */
@Module({
  imports: [AdmissionModule, AgentManagerModule, TaskManagerModule, UsageBudgetModule],
  controllers: [
    TaskReportsController,
    RunBatchesController,
    RunsController,
    RunUsageController,
    ModelHoldsController,
    ProviderLimitReportsController,
    RunMessagesController,
    RunTokensController,
    AgentWorkController,
    AgentTasksController,
  ],
  providers: [
    RunSecrets,
    TaskReporter,
    AgentWork,
    AgentDeparture,
    TasksOfAgent,
    HeldWorkspaces,
    ClaimBatcher,
    CompletionBatcher,
    CompletionClaimBatcher,
    ClaimService,
    RunMessages,
    RunModels,
    RunReports,
    RunCompletion,
    RunTokens,
    RunUsage,
    ModelHolds,
    ProviderLimitReports,
    Signals,
    TaskAssignment,
    LostSessions,
    SessionLeases,
  ],
  exports: [
    ClaimService,
    TaskAssignment,
    LostSessions,
    RunMessages,
    RunModels,
    RunReports,
    RunSecrets,
  ],
})
export class RunsModule {}
