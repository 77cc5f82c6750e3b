import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { SessionAssigner } from '#lib/runs';
import { StateRecovery } from '../patterns/state-recovery.js';
import { TaskRecovery } from '../patterns/task-recovery.js';
import { TaskParking } from '#lib/task-manager';
import { StaleAgents } from '../stale-agents.js';
import { stepsOf } from './index.js';
import type { Step } from './step.js';

/** The steps of this process, with the pace that each has kept so far. */
@Injectable()
export class Steps {
  readonly inOrder: readonly Step[];

  constructor(
    tasks: TaskRecovery,
    states: StateRecovery,
    agents: StaleAgents,
    parking: TaskParking,
    sessions: SessionAssigner,
    @Inject(CONFIG) config: Pick<Config, 'coordinator'>,
  ) {
    const slowMs = config.coordinator.reconcileIntervalSeconds * 1_000;
    this.inOrder = stepsOf({ tasks, states, agents, parking, sessions, slowMs });
  }
}
