import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#lib/config';
import { Database, firstRow } from '#lib/database';
import type { Streamed } from '#lib/http';
import { DroverError, newId } from '#lib/kernel';
import { Logger } from '#lib/observability';
import { refuseReport, type Reporter } from '#lib/runs';
import { KeyRing, openStream, sealStream } from '#lib/secrets';
import { type Arrived, requireSize } from '../files/examine-upload.js';
import { StoreOfInstallation } from '../files/store-of-installation.js';
import { agentStateOfRun, roomOfAgentState, writeAgentState } from '../store/agent-states.sql.js';
import { lockArtifactUsage } from '../store/artifacts.sql.js';
import { ArtifactRoom, overQuota } from '../uploads/artifact-room.js';
import { discardRest, wholeBody } from '../uploads/whole-body.js';

/** The kept state of an agent on its way to a host. */
export interface StateDownload {
  /** In bytes. */
  size: number;
  content: Readable;
}

/**
 * The saved states of coding agents: of each task the last one. A state can hold each secret that its
 * agent has read. So its content is encrypted, and only the host of a live run gets it.
 */
@Injectable()
export class AgentStates {
  constructor(
    private readonly database: Database,
    private readonly installation: StoreOfInstallation,
    private readonly ring: KeyRing,
    private readonly room: ArtifactRoom,
    private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Pick<Config, 'artifacts'>,
  ) {}

  /**
   * Keeps the state of a live run in place of the earlier one of its task, or that of a run whose
   * question its task waits for. The earlier one counts until the whole new one is stored.
   *
   * @throws DroverError `artifacts_disabled`, `run_not_found`, `stale_run`, `artifact_too_large`,
   *   `artifact_quota`, `malformed_request`, `rate_limited`
   */
  async put(by: Reporter, body: Streamed): Promise<void> {
    this.installation.require();
    await this.room.during(by.workspaceId, () => this.take(by, body));
  }

  /**
   * The last state of a live run's task, else that of the task that it continues.
   *
   * @throws DroverError `run_not_found`, `stale_run`, `artifact_not_found`
   */
  async get(by: Reporter): Promise<StateDownload> {
    const { workspaceId, runId, agentId } = by;
    const tenant = this.database.tenant(workspaceId);
    const row = await firstRow(tenant, agentStateOfRun, [workspaceId, runId, agentId]);
    if (!row) return refuseReport(this.database, by);
    const { id, task_id: taskId, size_bytes: size, key_id: keyId } = row;
    if (id === null || taskId === null || size === null || keyId === null) throw notFound();
    const [key, sealed] = await Promise.all([
      this.ring.find(keyId),
      this.installation.store?.read(id),
    ]);
    if (key !== undefined && sealed !== undefined) {
      const opened = openStream(key, sealed as AsyncIterable<Buffer>, [workspaceId, taskId, id]);
      return { size, content: Readable.from(opened, { objectMode: false }) };
    }
    sealed?.destroy();
    const why = key === undefined ? 'its key was removed' : 'its file is missing';
    this.logger.warn('the state of an agent cannot be read', { workspaceId, taskId, why });
    throw notFound();
  }

  private async take(by: Reporter, { length = 0, content }: Streamed): Promise<void> {
    const store = this.installation.require();
    const { workspaceId, runId, agentId } = by;
    requireSize(length, this.config.artifacts.maxBytes);
    const tenant = this.database.tenant(workspaceId);
    const run = await firstRow(tenant, roomOfAgentState, [workspaceId, runId, agentId]);
    if (!run) return refuseReport(this.database, by);
    const quotaBytes = await this.room.require(workspaceId, run.kept_bytes + length, run.task_id);
    const [key, id] = [await this.ring.current(), newId()];
    const arriving = new Arriving(this.config.artifacts.maxBytes);
    const plain = arriving.measure(wholeBody(content));
    const sealed = sealStream(key, plain, [workspaceId, run.task_id, id]);
    await store.write(id, sealed).catch((error: unknown) => {
      discardRest(content);
      throw error;
    });
    await this.record(by, { id, keyId: key.id, quotaBytes, ...arriving.arrived() });
  }

  private async record(by: Reporter, { id, keyId, quotaBytes, size, sha256 }: Kept): Promise<void> {
    const { workspaceId, runId, agentId } = by;
    const params = [workspaceId, runId, agentId, id, size, sha256, quotaBytes, keyId];
    const [, [written]] = await this.database.tenant(workspaceId).pipeline([
      [lockArtifactUsage, [workspaceId]],
      [writeAgentState, params],
    ]);
    const { store } = this.installation;
    const useless = written?.id === id ? written.replaced_id : id;
    if (useless !== null) await store?.remove(useless);
    if (!written) return refuseReport(this.database, by);
    if (written.id === null) throw overQuota(quotaBytes);
  }
}

interface Kept extends Arrived {
  id: string;
  keyId: string;
  quotaBytes: number;
}

/** Measures bytes on their way. */
class Arriving {
  private readonly hash = createHash('sha256');
  private size = 0;

  constructor(private readonly limit: number) {}

  /** @throws DroverError `artifact_too_large` */
  async *measure(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of content) {
      this.size += chunk.length;
      requireSize(this.size, this.limit);
      this.hash.update(chunk);
      yield chunk;
    }
  }

  /** After the last byte. */
  arrived(): Arrived {
    return { size: this.size, sha256: this.hash.digest('hex') };
  }
}

function notFound(): DroverError {
  return new DroverError('artifact_not_found');
}
