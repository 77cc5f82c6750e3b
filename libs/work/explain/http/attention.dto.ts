import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { type AttentionCounts, MAX_COUNT } from '../domain/attention-counts.js';

const count = (description: string): ApiPropertyOptions => ({
  type: 'integer',
  minimum: 0,
  maximum: MAX_COUNT,
  description: `${description}. ${MAX_COUNT} means at least so many`,
});

export class AttentionDto implements AttentionCounts {
  @ApiProperty(count('Tasks of the dead letter')) failedTasks!: number;
  @ApiProperty(count('Ready tasks with capabilities that no agent has')) unclaimableTasks!: number;
  @ApiProperty(count('Questions of agents without an answer')) openQuestions!: number;
  @ApiProperty(count('Changes that wait for a review')) changesInReview!: number;
  @ApiProperty(count('Changes whose proof or merge failed on something that somebody can mend'))
  obstructedChanges!: number;
  @ApiProperty(count('Active budgets that are used up')) usedUpBudgets!: number;
  @ApiProperty(count('Active budgets of which 90% are used')) endingBudgets!: number;
  @ApiProperty(count('Schedules whose latest due time could not create its tasks'))
  failedSchedules!: number;
  @ApiProperty(count('Agents whose heartbeats stopped')) silentAgents!: number;
  @ApiProperty(count('Providers that refuse requests now')) refusingProviders!: number;
  @ApiProperty(count('Webhooks whose deliveries fail')) failingWebhooks!: number;
  @ApiProperty(count('Notices whose deliveries fail')) failingNotices!: number;
}
