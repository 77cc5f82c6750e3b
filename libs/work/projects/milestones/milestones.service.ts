import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { type IdempotencyRecord, storeAnswer } from '#lib/http';
import { type Caller, DroverError, newId, type Page, toPage } from '#lib/kernel';
import { versionMismatch, whyUnchanged } from '../shared/errors.js';
import { type Listing, pageOf } from '../shared/listing.js';
import { withoutSecrets } from '../shared/texts.js';
import { MILESTONE_FIELDS, type MilestoneDto } from '../shared/views.js';

export interface NewMilestone {
  name: string;
  description?: string | null;
  /** RFC 3339. */
  dueAt?: string | null;
}

export type MilestoneChange = Partial<NewMilestone>;

/** Milestones of projects. */
@Injectable()
export class MilestonesService {
  constructor(private readonly database: Database) {}

  /** @throws DroverError `project_not_found` */
  create(
    { workspaceId }: Caller,
    projectId: string,
    milestone: NewMilestone,
    record?: IdempotencyRecord,
  ): Promise<MilestoneDto> {
    const { name, ...texts } = withoutSecrets(milestone);
    const data = { ...withDate(texts), name, workspaceId, projectId };
    return this.database.tenant(workspaceId).prisma(async (tx, sql) => {
      const projects = await tx.project.count({ where: { workspaceId, id: projectId } });
      if (projects === 0) throw new DroverError('project_not_found');
      const body = await tx.milestone.create({
        data: { ...data, id: newId() },
        select: MILESTONE_FIELDS,
      });
      await storeAnswer(sql, workspaceId, record, { status: 201, body });
      return body;
    });
  }

  /** @throws DroverError `project_not_found` */
  async list(
    { workspaceId }: Caller,
    projectId: string,
    listing: Listing,
  ): Promise<Page<MilestoneDto>> {
    const { where, ...order } = pageOf(listing);
    const query = { where: { ...where, workspaceId, projectId }, ...order };
    const rows = await this.database.tenant(workspaceId).prisma(async (tx) => {
      const projects = await tx.project.count({ where: { workspaceId, id: projectId } });
      if (projects === 0) throw new DroverError('project_not_found');
      return tx.milestone.findMany({ ...query, select: MILESTONE_FIELDS });
    });
    return toPage(
      rows,
      listing.limit,
      ({ id }) => [id],
      (row) => row,
    );
  }

  /** @throws DroverError `milestone_not_found` */
  async get({ workspaceId }: Caller, id: string): Promise<MilestoneDto> {
    const where = { workspaceId_id: { workspaceId, id } };
    const row = await this.database
      .tenant(workspaceId)
      .prisma((tx) => tx.milestone.findUnique({ where, select: MILESTONE_FIELDS }));
    if (row === null) throw new DroverError('milestone_not_found');
    return row;
  }

  /** @throws DroverError `milestone_not_found` or `version_mismatch` */
  change(
    caller: Caller,
    id: string,
    change: MilestoneChange,
    version?: number,
  ): Promise<MilestoneDto> {
    return this.update(caller, { id, version }, withDate(withoutSecrets(change)));
  }

  /**
   * A repetition keeps the first time.
   *
   * @throws DroverError `milestone_not_found` or `version_mismatch`
   */
  async archive(caller: Caller, id: string, version?: number): Promise<MilestoneDto> {
    const milestone = await this.get(caller, id);
    if (version !== undefined && version !== milestone.version) throw versionMismatch(milestone);
    if (milestone.archivedAt !== null) return milestone;
    return this.update(caller, { id, version, archivedAt: null }, { archivedAt: new Date() });
  }

  private update(
    { workspaceId }: Caller,
    where: { id: string; version?: number; archivedAt?: null },
    change: Omit<MilestoneChange, 'dueAt'> & { dueAt?: Date | null; archivedAt?: Date },
  ): Promise<MilestoneDto> {
    return this.database.tenant(workspaceId).prisma(async (tx) => {
      const [row] = await tx.milestone.updateManyAndReturn({
        where: { ...where, workspaceId },
        data: { ...change, version: { increment: 1 }, updatedAt: new Date() },
        select: MILESTONE_FIELDS,
      });
      if (row !== undefined) return row;
      const now = await tx.milestone.findUnique({
        where: { workspaceId_id: { workspaceId, id: where.id } },
        select: MILESTONE_FIELDS,
      });
      // Somebody else archived it meanwhile.
      const isDone = where.archivedAt === null && where.version === undefined;
      if (isDone && now !== null) return now;
      throw whyUnchanged(now, 'milestone_not_found');
    });
  }
}

// An absent date stays absent. Null removes the date.
function withDate({ dueAt, ...rest }: MilestoneChange) {
  return { ...rest, ...(dueAt === undefined ? {} : { dueAt: dueAt && new Date(dueAt) }) } as Omit<
    MilestoneChange,
    'dueAt'
  > & { dueAt?: Date | null };
}
