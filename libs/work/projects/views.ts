import { ApiProperty } from '@nestjs/swagger';

/** A project as the API shows one; Prisma's row has the same members. */
export class ProjectView {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty() name!: string;
  @ApiProperty({ type: String, nullable: true }) description!: string | null;
  @ApiProperty({ type: Date, nullable: true }) archivedAt!: Date | null;
  @ApiProperty() version!: number;
  @ApiProperty() createdAt!: Date;
  @ApiProperty() updatedAt!: Date;
}

export class MilestoneView extends ProjectView {
  @ApiProperty({ format: 'uuid' }) projectId!: string;
  @ApiProperty({ type: Date, nullable: true }) dueAt!: Date | null;
}

export class ProjectPage {
  @ApiProperty({ type: [ProjectView] }) items!: ProjectView[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class MilestonePage {
  @ApiProperty({ type: [MilestoneView] }) items!: MilestoneView[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

/** The shown columns of a row; the workspace is the request's own. */
export const PROJECT_FIELDS = {
  id: true,
  name: true,
  description: true,
  archivedAt: true,
  version: true,
  createdAt: true,
  updatedAt: true,
} as const;

export const MILESTONE_FIELDS = { ...PROJECT_FIELDS, projectId: true, dueAt: true } as const;
