import { Module } from '@nestjs/common';
import { ArtifactsModule } from '#lib/artifacts';
import { IdentityModule } from '#lib/identity';
import { InboundHooksModule } from '#lib/inbound-hooks';
import { RepositoriesModule } from '#lib/repositories';
import { RunsModule } from '#lib/runs';
import { TaskManagerModule } from '#lib/task-manager';
import { Attempts } from './attempts/attempts.js';
import { ChangeCosts } from './costs/change-costs.js';
import { ForgeEvents } from './forge/forge-events.js';
import { PullRequests } from './forge/pull-requests.js';
import { ChangeSteps } from './hosts/change-steps.js';
import { StepClaims } from './hosts/step-claims.js';
import { StepWorks } from './hosts/step-works.js';
import { Submissions } from './hosts/submissions.js';
import { AttemptsController } from './http/attempts.controller.js';
import { ChangeCostsController } from './http/change-costs.controller.js';
import { ChangeStepsController } from './http/change-steps.controller.js';
import { ChangesController } from './http/changes.controller.js';
import { MergeQueueController } from './http/merge-queue.controller.js';
import { RunChangesController } from './http/run-changes.controller.js';
import { ChangeMoves } from './moves/change-moves.js';
import { MergeQueue } from './queue/merge-queue.js';
import { Changes } from './reading/changes.js';
import { AgentReviews } from './reviewing/agent-reviews.js';
import { Reviews } from './reviewing/reviews.js';

/** What tasks change in repositories: submissions, proofs, reviews and merges. */
@Module({
  imports: [
    ArtifactsModule,
    IdentityModule,
    InboundHooksModule,
    RepositoriesModule,
    RunsModule,
    TaskManagerModule,
  ],
  controllers: [
    AttemptsController,
    ChangeCostsController,
    ChangesController,
    ChangeStepsController,
    MergeQueueController,
    RunChangesController,
  ],
  exports: [AgentReviews],
  providers: [
    AgentReviews,
    Attempts,
    ChangeCosts,
    Changes,
    ChangeMoves,
    ChangeSteps,
    ForgeEvents,
    MergeQueue,
    PullRequests,
    Reviews,
    StepClaims,
    StepWorks,
    Submissions,
  ],
})
export class ChangesModule {}
