import { Injectable } from '@nestjs/common';
import type { Fence } from '#lib/database';
import type { StateSweeps, Swept, SweepScope } from '#lib/transitions';
import { CycleFailure } from './cycle-failure.js';
import { HungRuns } from './hung-runs.js';
import { Orphans } from './orphans.js';
import { SplitBrain } from './split-brain.js';
import { StateReconciliation } from './state-reconciliation.js';

/** The sweeps that set right what should not be, as the coordinator knows them. */
@Injectable()
export class StateRecovery implements StateSweeps {
  constructor(
    private readonly cycles: CycleFailure,
    private readonly hung: HungRuns,
    private readonly splitBrain: SplitBrain,
    private readonly orphans: Orphans,
    private readonly reconciliation: StateReconciliation,
  ) {}

  failCycles(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept> {
    return this.cycles.sweep(fence, limit, scope);
  }

  warnHung(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept> {
    return this.hung.warn(fence, limit, scope);
  }

  timeOutHung(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept> {
    return this.hung.timeOut(fence, limit, scope);
  }

  detectSplitBrain(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept> {
    return this.splitBrain.sweep(fence, limit, scope);
  }

  recoverOrphans(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept> {
    return this.orphans.sweep(fence, limit, scope);
  }

  reconcileStates(fence: Fence, limit: number, scope?: SweepScope): Promise<Swept> {
    return this.reconciliation.sweep(fence, limit, scope);
  }
}
