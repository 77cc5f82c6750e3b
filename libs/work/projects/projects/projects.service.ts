import { Injectable } from '@nestjs/common';
import { Database, firstRow, type Prisma, type SqlRunner } from '#lib/database';
import { type IdempotencyRecord, storeAnswer } from '#lib/http';
import { covers, isAtLeast } from '#lib/identity';
import { type Caller, DroverError, type Network, newId, type Page, toPage } from '#lib/kernel';
import { ProjectSecrets, type SealedServers, showsSecret } from '#lib/secrets';
import { type McpServerSetting, readServers, withHidden } from '../domain/mcp-servers.js';
import { versionMismatch, whyUnchanged } from '../shared/errors.js';
import { type Listing, pageOf } from '../shared/listing.js';
import { withoutSecrets } from '../shared/texts.js';
import { PROJECT_FIELDS, type ProjectDto } from '../shared/views.js';
import { serversOfProject } from './projects.sql.js';

export interface NewProject {
  name: string;
  description?: string | null;
}

export type ProjectChange = Partial<NewProject> & {
  network?: Network;
  allowedHosts?: string[];
  instructions?: string | null;
  allowedModels?: string[];
  mcpServers?: McpServerSetting[];
};

/** The columns of a row whose JSON has a type. */
type ProjectRow = Omit<ProjectDto, 'mcpServers'> & { mcpServers: Prisma.JsonValue };

/** Projects, which group tasks. */
@Injectable()
export class ProjectsService {
  constructor(
    private readonly database: Database,
    private readonly secrets: ProjectSecrets,
  ) {}

  create(
    { workspaceId }: Caller,
    project: NewProject,
    record?: IdempotencyRecord,
  ): Promise<ProjectDto> {
    const data = { ...withoutSecrets(project), workspaceId, id: newId() };
    return this.database.tenant(workspaceId).prisma(async (tx, sql) => {
      const view = toView(await tx.project.create({ data, select: PROJECT_FIELDS }));
      await storeAnswer(sql, workspaceId, record, { status: 201, body: view });
      return view;
    });
  }

  async list({ workspaceId }: Caller, listing: Listing): Promise<Page<ProjectDto>> {
    const { where, ...order } = pageOf(listing);
    const query = { where: { ...where, workspaceId }, ...order, select: PROJECT_FIELDS };
    const rows = await this.database.tenant(workspaceId).prisma((tx) => tx.project.findMany(query));
    return toPage(rows, listing.limit, ({ id }) => [id], toView);
  }

  /** @throws DroverError `project_not_found` */
  async get({ workspaceId }: Caller, id: string): Promise<ProjectDto> {
    const where = { workspaceId_id: { workspaceId, id } };
    const row = await this.database
      .tenant(workspaceId)
      .prisma((tx) => tx.project.findUnique({ where, select: PROJECT_FIELDS }));
    if (row === null) throw new DroverError('project_not_found');
    return toView(row);
  }

  /**
   * @throws DroverError `project_not_found`, `version_mismatch`, `forbidden`, `validation_failed` or
   *   `secrets_unreadable`
   */
  async change(
    caller: Caller,
    id: string,
    change: ProjectChange,
    version?: number,
  ): Promise<ProjectDto> {
    if (!mayLoosen(caller)) refuseLoosening(change);
    const { mcpServers, ...rest } = change;
    const servers = mcpServers && readServers(mcpServers);
    return this.update(caller, { id, version }, { ...withoutSecrets(rest), servers });
  }

  /**
   * Archives a project. Its tasks stay, it accepts no more, and lists can omit it. A repetition
   * keeps the first time.
   *
   * @throws DroverError `project_not_found` or `version_mismatch`
   */
  async archive(caller: Caller, id: string, version?: number): Promise<ProjectDto> {
    const project = await this.get(caller, id);
    if (version !== undefined && version !== project.version) throw versionMismatch(project);
    if (project.archivedAt !== null) return project;
    return this.update(caller, { id, version, archivedAt: null }, { archivedAt: new Date() });
  }

  private update(
    { workspaceId }: Caller,
    where: { id: string; version?: number; archivedAt?: null },
    {
      servers,
      ...fields
    }: Omit<ProjectChange, 'mcpServers'> & {
      archivedAt?: Date;
      servers?: McpServerSetting[];
    },
  ): Promise<ProjectDto> {
    const place = { workspaceId, projectId: where.id };
    const written = this.database.tenant(workspaceId).prisma(async (tx, sql) => {
      const sealed = servers && (await this.seal(sql, place, servers));
      const mcpServers = sealed && { mcpServers: sealed.shown as unknown as Prisma.InputJsonArray };
      const [row] = await tx.project.updateManyAndReturn({
        where: { ...where, workspaceId },
        data: { ...fields, ...mcpServers, version: { increment: 1 }, updatedAt: new Date() },
        select: PROJECT_FIELDS,
      });
      if (row !== undefined) {
        if (sealed) await this.secrets.write(sql, place, sealed.inputs);
        return toView(row);
      }
      const now = await tx.project.findUnique({
        where: { workspaceId_id: { workspaceId, id: where.id } },
        select: PROJECT_FIELDS,
      });
      // Somebody else archived it meanwhile.
      const isDone = where.archivedAt === null && where.version === undefined;
      if (isDone && now !== null) return toView(now);
      throw whyUnchanged(now, 'project_not_found');
    });
    return this.secrets.written(written);
  }

  /** The row stays locked, so that the values of the same moment are kept. */
  private async seal(
    sql: SqlRunner,
    place: { workspaceId: string; projectId: string },
    given: readonly McpServerSetting[],
  ): Promise<SealedServers<McpServerSetting> | undefined> {
    const row = await firstRow(sql, serversOfProject, [place.workspaceId, place.projectId]);
    if (row === undefined) return undefined;
    const current = showsSecret(given) ? await this.secrets.open(sql, place, row.mcp_servers) : [];
    return this.secrets.seal(place, withHidden(given, current, row.mcp_servers));
  }
}

function toView({ mcpServers, ...row }: ProjectRow): ProjectDto {
  return { ...row, mcpServers: mcpServers as unknown as McpServerSetting[] };
}

/** @throws DroverError `forbidden` */
function refuseLoosening(change: ProjectChange): void {
  const { network = 'none', allowedHosts, allowedModels, mcpServers } = change;
  if (network !== 'none' || allowedHosts !== undefined) {
    throw new DroverError('forbidden', { detail: 'Only an OWNER or ADMIN allows the network.' });
  }
  if (allowedModels !== undefined) {
    throw new DroverError('forbidden', { detail: 'Only an OWNER or ADMIN allows models.' });
  }
  if (mcpServers !== undefined) {
    throw new DroverError('forbidden', { detail: 'Only an OWNER or ADMIN sets MCP servers.' });
  }
}

/** As for the network of the workspace: a key needs the scope, too. */
function mayLoosen(caller: Caller): boolean {
  if (caller.kind !== 'user' && caller.kind !== 'api_key') return false;
  const hasScope = caller.kind === 'user' || covers(caller.scopes, 'workspace:admin');
  return hasScope && isAtLeast(caller.role, 'ADMIN');
}
