import { Id, Int, JsonObject, OneOf, Text, TextList } from '#lib/http';
import type { TaskUpdate } from '../../domain/task-update.js';
import { REQUESTED_STATUSES, type RequestedStatus } from '../../updates/task-updates.js';

/** Absent fields stay; null empties a field. */
export class UpdateTaskDto implements TaskUpdate {
  @Text({ max: 255, optional: true })
  title?: string;

  @Text({ min: 0, max: 20_000, optional: true, nullable: true })
  description?: string | null;

  @Int(1, 10, { optional: true, description: '10 first' })
  priority?: number;

  @TextList({ item: { max: 100 }, maxItems: 50, optional: true, description: 'Replaces all' })
  tags?: string[];

  @JsonObject({
    optional: true,
    description: 'Replaces the whole object; a "[redacted]" that was shown keeps what it hid',
  })
  metadata?: Record<string, unknown>;

  @Int(1, 525_600, { optional: true, nullable: true })
  estimatedDurationMinutes?: number | null;

  @Int(0, 100, { optional: true })
  maxRetries?: number;

  @Int(0, 86_400, { optional: true })
  retryBackoffSeconds?: number;

  @Int(1, 2_592_000, { optional: true, nullable: true, description: 'From the next run on' })
  timeoutSeconds?: number | null;

  @Id({ optional: true, nullable: true })
  projectId?: string | null;

  @Id({ optional: true, nullable: true, description: 'A milestone of the project of the task' })
  milestoneId?: string | null;

  @OneOf(REQUESTED_STATUSES, {
    optional: true,
    description:
      'PAUSED pauses, PENDING resumes (or retries a task that failed or was aborted), ABORTED cancels, ARCHIVED archives',
  })
  status?: RequestedStatus;

  @Text({ max: 1000, optional: true, description: 'Why the status changes' })
  reason?: string;
}
