import { Module } from '@nestjs/common';
import { LimitsController } from './http/limits.controller.js';
import { PausesController } from './http/pauses.controller.js';
import { Limits } from './limits/limits.js';
import { QueueDepths } from './limits/queue-depths.js';
import { SpawnRates } from './limits/spawn-rates.js';
import { Pauses } from './pauses/pauses.js';

/** Limits on queued tasks, spawned sessions and claims. */
@Module({
  controllers: [PausesController, LimitsController],
  providers: [Pauses, Limits, QueueDepths, SpawnRates],
  exports: [Pauses, QueueDepths, SpawnRates],
})
export class AdmissionModule {}
