import { Module } from '@nestjs/common';
import { RunsModule } from '#lib/runs';
import { TaskManagerModule } from '#lib/task-manager';
import { QuestionsController } from './http/questions.controller.js';
import { QuestionAsking } from './asking/question-asking.js';
import { Questions } from './answering/questions.js';

/** Questions of runs to people. */
@Module({
  imports: [RunsModule, TaskManagerModule],
  controllers: [QuestionsController],
  providers: [Questions, QuestionAsking],
  exports: [Questions],
})
export class QuestionsModule {}
