import { Flag, OneOf, PageQuery, Text, Timestamp } from '#lib/http';
import { type Network, NETWORKS } from '#lib/kernel';

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

class ChangeTextsDto {
  @Text({ max: 200, optional: true }) name?: string;
  @Text({ min: 0, max: 10_000, optional: true, nullable: true }) description?: string | null;
}

export class ChangeProjectDto extends ChangeTextsDto {
  @OneOf(NETWORKS, {
    optional: true,
    description:
      'The most that sessions of the project get. `host` counts only if the workspace has it, too, ' +
      'and only an OWNER or ADMIN sets it.',
  })
  network?: Network;
}

export class CreateMilestoneDto extends CreateProjectDto {
  @Timestamp({ optional: true, nullable: true }) dueAt?: string | null;
}

export class ChangeMilestoneDto extends ChangeTextsDto {
  @Timestamp({ optional: true, nullable: true }) dueAt?: string | null;
}
