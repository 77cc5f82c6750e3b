import { Global, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { COORDINATOR_HEALTH } from '#lib/observability';
import { RunsModule, SessionsModule } from '#lib/runs';
import { TaskManagerModule } from '#lib/task-manager';
import { Coordinator } from './coordinator.js';
import { CoordinatorService } from './coordinator.service.js';
import { Cycle } from './cycle.js';
import { ForcedRecovery } from './forced-recovery.js';
import { Hearing } from './hearing.js';
import { Housekeeping } from './housekeeping.js';
import { CoordinatorController } from './http/coordinator.controller.js';
import { Journal } from './journal.js';
import { KeyRotation } from './key-rotation.js';
import { Leadership } from './leadership/leadership.js';
import { LedCycles } from './led-cycles.js';
import { CycleFailure } from './patterns/cycle-failure.js';
import { DependentSettlement } from './patterns/dependent-settlement.js';
import { HungRuns } from './patterns/hung-runs.js';
import { Orphans } from './patterns/orphans.js';
import { SplitBrain } from './patterns/split-brain.js';
import { StateReconciliation } from './patterns/state-reconciliation.js';
import { StateRecovery } from './patterns/state-recovery.js';
import { TaskRecovery } from './patterns/task-recovery.js';
import { Sight } from './sight.js';
import { StaleAgents } from './stale-agents.js';
import { Steps } from './steps/steps.js';
import { Triggers } from './triggers.js';

/** The coordinator: its loop in processes with the role, its endpoints in all. Global for health checks. */
@Global()
@Module({
  imports: [ScheduleModule.forRoot(), TaskManagerModule, RunsModule, SessionsModule],
  controllers: [CoordinatorController],
  providers: [
    Leadership,
    Journal,
    Hearing,
    StaleAgents,
    DependentSettlement,
    TaskRecovery,
    CycleFailure,
    HungRuns,
    SplitBrain,
    Orphans,
    StateReconciliation,
    StateRecovery,
    Steps,
    Cycle,
    Housekeeping,
    KeyRotation,
    LedCycles,
    Triggers,
    Coordinator,
    ForcedRecovery,
    Sight,
    CoordinatorService,
    { provide: COORDINATOR_HEALTH, useExisting: CoordinatorService },
  ],
  exports: [Leadership, Coordinator, CoordinatorService, COORDINATOR_HEALTH],
})
export class CoordinatorModule {}
