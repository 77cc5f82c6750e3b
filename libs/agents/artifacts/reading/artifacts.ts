import { Inject, Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import { TokenService } from '#lib/identity';
import { type Caller, DroverError, idOfCursor, type Page, toPage } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { requireReadable } from '#lib/task-manager';
import { type Part, partOf } from '../domain/artifact-file.js';
import { StoreOfInstallation } from '../files/store-of-installation.js';
import {
  artifactById,
  artifactOfRun,
  type ArtifactRow,
  listArtifacts,
  lockArtifactUsage,
  removeArtifact,
  runOfArtifacts,
} from '../store/artifacts.sql.js';
import type { AttachmentRow } from '../uploads/attachments.sql.js';
import {
  type ArtifactView,
  type AttachmentView,
  toArtifactView,
  toAttachmentView,
} from './artifact-view.js';

export interface ArtifactList {
  runId?: string;
  name?: string;
  limit: number;
  cursor?: string;
}

/** A file on its way to a client. */
export interface ArtifactDownload {
  artifact: AttachmentRow;
  /** The part that the client asked for; `none` has no content. */
  part: Part | 'none' | undefined;
  content: Readable | undefined;
}

/** Artifacts of tasks: listed, downloaded by signed links, and removed. */
@Injectable()
export class Artifacts {
  constructor(
    private readonly database: Database,
    private readonly installation: StoreOfInstallation,
    private readonly tokens: TokenService,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'artifacts'>,
  ) {}

  /**
   * Lists the artifacts of a task that the caller can read, the newest first.
   *
   * @throws DroverError `task_not_found`, `run_not_found`, `malformed_cursor`
   */
  async list(
    caller: Caller,
    taskId: string,
    { runId, name, limit, cursor }: ArtifactList,
  ): Promise<Page<ArtifactView>> {
    const { workspaceId } = caller;
    const tenant = this.database.tenant(workspaceId);
    await requireReadable(tenant, caller, taskId);
    if (runId !== undefined && !(await this.hasRun(workspaceId, runId))) {
      throw new DroverError('run_not_found');
    }
    const filter = [runId ?? null, name ?? null];
    const params = [workspaceId, taskId, ...filter, idOfCursor(cursor), limit + 1];
    const rows = await tenant.rows(listArtifacts, params);
    return toPage(
      rows,
      limit,
      (row) => [row.id],
      (row) => this.view(workspaceId, row),
    );
  }

  /** @throws DroverError `artifact_not_found` */
  async get(caller: Caller, id: string): Promise<ArtifactView> {
    const { workspaceId } = caller;
    const tenant = this.database.tenant(workspaceId);
    const row = await firstRow(tenant, artifactById, [workspaceId, id]);
    // An attachment belongs to each task that names it, so nobody gets it by its own id.
    const runId = row?.run_id ?? null;
    if (!row || runId === null) throw new DroverError('artifact_not_found');
    await requireReadable(tenant, caller, row.task_id).catch(hideTask);
    return this.view(workspaceId, { ...row, run_id: runId });
  }

  /**
   * Opens a file of a run by its name, for other parts of the server.
   *
   * @throws DroverError `artifact_not_found`
   */
  async open(
    workspaceId: string,
    { runId, name }: { runId: string; name: string },
  ): Promise<ArtifactDownload & { content: Readable }> {
    const tenant = this.database.tenant(workspaceId);
    const artifact = await firstRow(tenant, artifactOfRun, [workspaceId, runId, name]);
    const content = artifact && (await this.installation.store?.read(artifact.id));
    if (!artifact || !content) throw new DroverError('artifact_not_found');
    return { artifact, part: undefined, content };
  }

  /** @throws DroverError `artifact_not_found` */
  async remove({ workspaceId }: Caller, id: string): Promise<void> {
    const tenant = this.database.tenant(workspaceId);
    // Before the lock, which writes a row.
    const known = await firstRow(tenant, artifactById, [workspaceId, id]);
    if (!known) throw new DroverError('artifact_not_found');
    const [, removed] = await tenant.pipeline([
      [lockArtifactUsage, [workspaceId]],
      [removeArtifact, [workspaceId, id]],
    ]);
    if (removed.length === 0) throw new DroverError('artifact_not_found');
    await this.installation.store?.remove(id);
  }

  /**
   * The content for the holder of a link.
   *
   * @throws DroverError `invalid_token`, `token_expired`, `artifact_not_found`
   */
  async download(id: string, token: string, range: string | undefined): Promise<ArtifactDownload> {
    const { workspaceId, id: named } = await this.tokens.verifyDownload(token);
    if (named !== id) throw new DroverError('invalid_token');
    const tenant = this.database.tenant(workspaceId);
    const artifact = await firstRow(tenant, artifactById, [workspaceId, id]);
    if (!artifact) throw new DroverError('artifact_not_found');
    const part = partOf(range, artifact.size_bytes);
    if (part === 'none') return { artifact, part, content: undefined };
    const content = await this.installation.store?.read(id, part);
    if (content) return { artifact, part, content };
    this.logger.error('the file of an artifact is missing from ARTIFACTS_DIR', { workspaceId, id });
    throw new DroverError('artifact_not_found');
  }

  private async hasRun(workspaceId: string, runId: string): Promise<boolean> {
    const tenant = this.database.tenant(workspaceId);
    return (await tenant.rows(runOfArtifacts, [workspaceId, runId])).length > 0;
  }

  /** Returns the artifact as clients see it, with a new link. */
  view(workspaceId: string, row: ArtifactRow): ArtifactView {
    return toArtifactView(row, this.shownOf(workspaceId, row));
  }

  /** The same for an attachment. */
  attachment(workspaceId: string, row: AttachmentRow): AttachmentView {
    return toAttachmentView(row, this.shownOf(workspaceId, row));
  }

  private shownOf(workspaceId: string, { id }: { id: string }) {
    const { retentionDays } = this.config.artifacts;
    return { retentionDays, token: this.tokens.issueDownload({ workspaceId, id }) };
  }
}

function hideTask(error: unknown): never {
  const isHidden = error instanceof DroverError && error.code === 'task_not_found';
  throw isHidden ? new DroverError('artifact_not_found') : error;
}
