import { Module } from '@nestjs/common';
import { TaskManagerModule } from '#lib/task-manager';
import { SchedulesController } from './http/schedules.controller.js';
import { Schedules } from './schedules/schedules.js';
import { ScheduleStarter } from './starting/schedule-starter.js';

/** Schedules, and the tasks that they create at due times. */
@Module({
  imports: [TaskManagerModule],
  controllers: [SchedulesController],
  providers: [Schedules, ScheduleStarter],
  exports: [ScheduleStarter],
})
export class SchedulesModule {}
