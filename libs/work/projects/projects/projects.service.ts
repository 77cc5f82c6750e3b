import { Injectable } from '@nestjs/common';
import { Database } from '#lib/database';
import { covers, isAtLeast } from '#lib/identity';
import { type Caller, DroverError, type Network, newId, type Page, toPage } from '#lib/kernel';
import { whyUnchanged } from '../shared/errors.js';
import { type Listing, pageOf } from '../shared/listing.js';
import { withoutSecrets } from '../shared/texts.js';
import { PROJECT_FIELDS, type ProjectDto } from '../shared/views.js';

export interface NewProject {
  name: string;
  description?: string | null;
}

export type ProjectChange = Partial<NewProject> & {
  network?: Network;
  allowedHosts?: string[];
  instructions?: string | null;
  allowedModels?: string[];
};

/** Projects, which group tasks. */
@Injectable()
export class ProjectsService {
  constructor(private readonly database: Database) {}

  create({ workspaceId }: Caller, project: NewProject): Promise<ProjectDto> {
    const data = { ...withoutSecrets(project), workspaceId, id: newId() };
    return this.database
      .tenant(workspaceId)
      .prisma((tx) => tx.project.create({ data, select: PROJECT_FIELDS }));
  }

  async list({ workspaceId }: Caller, listing: Listing): Promise<Page<ProjectDto>> {
    const { where, ...order } = pageOf(listing);
    const query = { where: { ...where, workspaceId }, ...order, select: PROJECT_FIELDS };
    const rows = await this.database.tenant(workspaceId).prisma((tx) => tx.project.findMany(query));
    return toPage(
      rows,
      listing.limit,
      ({ id }) => [id],
      (row) => row,
    );
  }

  /** @throws DroverError `project_not_found` */
  async get({ workspaceId }: Caller, id: string): Promise<ProjectDto> {
    const where = { workspaceId_id: { workspaceId, id } };
    const row = await this.database
      .tenant(workspaceId)
      .prisma((tx) => tx.project.findUnique({ where, select: PROJECT_FIELDS }));
    if (row === null) throw new DroverError('project_not_found');
    return row;
  }

  /** @throws DroverError `project_not_found`, `version_mismatch` or `forbidden` */
  async change(
    caller: Caller,
    id: string,
    change: ProjectChange,
    version?: number,
  ): Promise<ProjectDto> {
    if (!mayLoosen(caller)) refuseLoosening(change);
    return this.update(caller, { id, version }, withoutSecrets(change));
  }

  /**
   * Archives a project. Its tasks stay, it accepts no more, and lists can omit it. A repetition
   * keeps the first time.
   *
   * @throws DroverError `project_not_found` or `version_mismatch`
   */
  async archive(caller: Caller, id: string, version?: number): Promise<ProjectDto> {
    const project = await this.get(caller, id);
    if (version !== undefined && version !== project.version) {
      throw new DroverError('version_mismatch');
    }
    if (project.archivedAt !== null) return project;
    return this.update(caller, { id, version }, { archivedAt: new Date() });
  }

  private update(
    { workspaceId }: Caller,
    where: { id: string; version?: number },
    change: ProjectChange & { archivedAt?: Date },
  ): Promise<ProjectDto> {
    return this.database.tenant(workspaceId).prisma(async (tx) => {
      const [row] = await tx.project.updateManyAndReturn({
        where: { ...where, workspaceId },
        data: { ...change, version: { increment: 1 }, updatedAt: new Date() },
        select: PROJECT_FIELDS,
      });
      if (row !== undefined) return row;
      const exists = await tx.project.count({ where: { workspaceId, id: where.id } });
      throw whyUnchanged(exists > 0, 'project_not_found');
    });
  }
}

/** @throws DroverError `forbidden` */
function refuseLoosening({ network = 'none', allowedHosts, allowedModels }: ProjectChange): void {
  if (network !== 'none' || allowedHosts !== undefined) {
    throw new DroverError('forbidden', { detail: 'Only an OWNER or ADMIN allows the network.' });
  }
  if (allowedModels !== undefined) {
    throw new DroverError('forbidden', { detail: 'Only an OWNER or ADMIN allows models.' });
  }
}

/** As for the network of the workspace: a key needs the scope, too. */
function mayLoosen(caller: Caller): boolean {
  if (caller.kind !== 'user' && caller.kind !== 'api_key') return false;
  const hasScope = caller.kind === 'user' || covers(caller.scopes, 'workspace:admin');
  return hasScope && isAtLeast(caller.role, 'ADMIN');
}
