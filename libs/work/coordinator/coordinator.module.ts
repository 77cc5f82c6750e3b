import { Global, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { AgentManagerModule } from '#lib/agent-manager';
import { COORDINATOR_HEALTH } from '#lib/observability';
import { QuestionsModule } from '#lib/questions';
import { RunsModule, SessionsModule } from '#lib/runs';
import { TaskManagerModule } from '#lib/task-manager';
import { UsageBudgetModule } from '#lib/usage-budget';
import { Coordinator } from './coordinator.js';
import { CoordinatorService } from './coordinator.service.js';
import { Cycle } from './cycle.js';
import { CycleScheduler } from './cycle-scheduler.js';
import { EventLog } from './event-log.js';
import { ForcedRecovery } from './forced-recovery.js';
import { Housekeeping } from './housekeeping.js';
import { CoordinatorController } from './http/coordinator.controller.js';
import { KeyRotation } from './key-rotation.js';
import { Leadership } from './leadership/leadership.js';
import { LivenessObserver } from './liveness-observer.js';
import { LostRuns } from './lost-runs.js';
import { RECONCILERS } from './patterns/index.js';
import { stepsProvider } from './steps.js';
import { Triggers } from './triggers.js';
import { Visibility } from './visibility.js';

/** The coordinator: its loop in processes with the role, its endpoints in all. Global for health checks. */
@Global()
@Module({
  imports: [
    ScheduleModule.forRoot(),
    AgentManagerModule,
    TaskManagerModule,
    QuestionsModule,
    RunsModule,
    SessionsModule,
    UsageBudgetModule,
  ],
  controllers: [CoordinatorController],
  providers: [
    Leadership,
    EventLog,
    LivenessObserver,
    LostRuns,
    ...RECONCILERS,
    stepsProvider,
    Cycle,
    Housekeeping,
    KeyRotation,
    CycleScheduler,
    Triggers,
    Coordinator,
    ForcedRecovery,
    Visibility,
    CoordinatorService,
    { provide: COORDINATOR_HEALTH, useExisting: CoordinatorService },
  ],
  exports: [Leadership, Coordinator, CoordinatorService, COORDINATOR_HEALTH],
})
export class CoordinatorModule {}
