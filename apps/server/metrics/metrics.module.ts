import { Module } from '@nestjs/common';
import { TaskManagerModule } from '#lib/task-manager';
import { Gauges } from './gauges.js';
import { MetricsController } from './metrics.controller.js';
import { Metrics } from './metrics.js';

@Module({
  imports: [TaskManagerModule],
  controllers: [MetricsController],
  providers: [Gauges, Metrics],
})
export class MetricsModule {}
