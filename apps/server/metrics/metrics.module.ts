import { Module } from '@nestjs/common';
import { RunsModule } from '#lib/runs';
import { Gauges } from './gauges.js';
import { MetricsController } from './metrics.controller.js';
import { Metrics } from './metrics.js';

@Module({
  imports: [RunsModule],
  controllers: [MetricsController],
  providers: [Gauges, Metrics],
})
export class MetricsModule {}
