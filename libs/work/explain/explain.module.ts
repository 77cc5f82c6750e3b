import { Module } from '@nestjs/common';
import { SessionsModule } from '#lib/runs';
import { ExplainFactsReader } from './explaining/explain-facts-reader.js';
import { ExplainController } from './http/explain.controller.js';
import { TaskExplainer } from './explaining/task-explainer.js';
import { TaskForecaster } from './forecasting/task-forecaster.js';

/** Explains why a task waits, and until when. Reads everything. Nothing reads it. */
@Module({
  imports: [SessionsModule],
  controllers: [ExplainController],
  providers: [TaskExplainer, ExplainFactsReader, TaskForecaster],
})
export class ExplainModule {}
