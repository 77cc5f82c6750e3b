import { Module } from '@nestjs/common';
import { SessionsModule } from '#lib/runs';
import { Attention } from './attention/attention.js';
import { ExplainFactsReader } from './explaining/explain-facts-reader.js';
import { AttentionController } from './http/attention.controller.js';
import { ExplainController } from './http/explain.controller.js';
import { TaskExplainer } from './explaining/task-explainer.js';
import { TaskForecaster } from './forecasting/task-forecaster.js';

/** Explains why a task waits, and what needs attention. Reads everything. Nothing reads it. */
@Module({
  imports: [SessionsModule],
  controllers: [ExplainController, AttentionController],
  providers: [Attention, TaskExplainer, ExplainFactsReader, TaskForecaster],
})
export class ExplainModule {}
