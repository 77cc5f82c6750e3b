import { Global, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { AgentManagerModule } from '#lib/agent-manager';
import { COORDINATOR_HEALTH } from '#lib/observability';
import { ChangesModule } from '#lib/changes';
import { QuestionsModule } from '#lib/questions';
import { RunsModule, SessionsModule } from '#lib/runs';
import { SchedulesModule } from '#lib/schedules';
import { TaskManagerModule } from '#lib/task-manager';
import { UsageBudgetModule } from '#lib/usage-budget';
import { Coordinator } from './cycle/coordinator.js';
import { CoordinatorService } from './status/coordinator.service.js';
import { Cycle } from './cycle/cycle.js';
import { CycleScheduler } from './cycle/cycle-scheduler.js';
import { EventLog } from './status/event-log.js';
import { ForcedRecovery } from './recovery/forced-recovery.js';
import { Housekeeping } from './upkeep/housekeeping.js';
import { CoordinatorController } from './http/coordinator.controller.js';
import { KeyRotation } from './upkeep/key-rotation.js';
import { Leadership } from './leadership/leadership.js';
import { LivenessObserver } from './liveness/liveness-observer.js';
import { LostRuns } from './recovery/lost-runs.js';
import { RECONCILERS } from './patterns/index.js';
import { stepsProvider } from './cycle/steps.js';
import { Triggers } from './cycle/triggers.js';
import { Visibility } from './status/visibility.js';

/**
 * The coordinator: its loop runs in processes with the role, its endpoints in all. The module is
 * global for health checks.
 */
@Global()
@Module({
  imports: [
    ScheduleModule.forRoot(),
    AgentManagerModule,
    TaskManagerModule,
    ChangesModule,
    QuestionsModule,
    RunsModule,
    SessionsModule,
    UsageBudgetModule,
    SchedulesModule,
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
