import { Flag, PageQuery, Text, Timestamp } from '#lib/http';

export class ListQuery extends PageQuery {
  @Flag({
    optional: true,
    description:
      'true: only archived ones. false: only ones that are not archived. All by default.',
  })
  archived?: boolean;
}

export class CreateProjectDto {
  @Text({ max: 200 }) name!: string;
  @Text({ min: 0, max: 10_000, optional: true, nullable: true }) description?: string | null;
}

export class ChangeProjectDto {
  @Text({ max: 200, optional: true }) name?: string;
  @Text({ min: 0, max: 10_000, optional: true, nullable: true }) description?: string | null;
}

export class CreateMilestoneDto extends CreateProjectDto {
  @Timestamp({ optional: true, nullable: true }) dueAt?: string | null;
}

export class ChangeMilestoneDto extends ChangeProjectDto {
  @Timestamp({ optional: true, nullable: true }) dueAt?: string | null;
}
