import type { LimitFunction } from 'p-limit';
import { hasCode, type Log, messageOf, retrying } from '#lib/agent-host';
import { TRANSCRIPT_FOLDER } from '#lib/api-client';
import { cut } from '#lib/kernel';
import type { Redactor } from '#lib/session-runtime';
import type { DroverApi } from '../api/drover-api.js';
import { unlessBroken } from '../runs/kept-files.js';

const MIB = 1_048_576;
/** The maximum of one text, in characters: redaction reads all of it. */
const MAX_TEXT = 4 * MIB;
/** The maximum of all texts of a run, in characters, and their number. */
const MAX_TOTAL = 50 * MIB;
const MAX_PARTS = 200;
/** The time for the last ones after the end of the session, in ms. */
const CLOSE_MS = 30_000;
/** The run keeps no further files at this server. */
const CLOSED = ['artifacts_disabled', 'artifact_quota', 'artifact_limit', 'stale_run'] as const;

export interface LargePartsOptions {
  api: Pick<DroverApi, 'saveArtifact'>;
  runId: string;
  redactor: Pick<Redactor, 'redact'>;
  /** Bounds the files that this worker holds in memory. */
  limit: LimitFunction;
  log: Log;
}

/** Keeps the texts of a conversation that are too long for the log, each as an artifact of the run. */
export class LargeParts {
  private readonly stop = new AbortController();
  private readonly sending: Promise<void>[] = [];
  private total = 0;
  private isOff = false;

  constructor(private readonly options: LargePartsOptions) {}

  /** @returns the name of the artifact; undefined if the run has no room for it */
  keep(text: string): string | undefined {
    const content = cut(text, MAX_TEXT);
    const isFull = this.sending.length >= MAX_PARTS || this.total + content.length > MAX_TOTAL;
    if (this.isOff || isFull) return undefined;
    this.total += content.length;
    const name = `${TRANSCRIPT_FOLDER}${this.sending.length + 1}.txt`;
    this.sending.push(this.send(name, content));
    return name;
  }

  /** Waits for those under way, for half a minute at most. Never rejects. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.stop.abort(), CLOSE_MS);
    await Promise.all(this.sending);
    clearTimeout(timer);
  }

  private async send(name: string, text: string): Promise<void> {
    const { api, runId, redactor, limit, log } = this.options;
    const { signal } = this.stop;
    try {
      // Each attempt waits for its turn: between attempts, other runs send their files.
      const save = async (): Promise<void> => {
        if (this.isOff || signal.aborted) return;
        const content = Buffer.from(redactor.redact(text));
        const file = { name, content, type: 'text/plain; charset=utf-8' };
        await api.saveArtifact(runId, file, signal).catch(unlessBroken);
      };
      await retrying('transcript', () => limit(save), { log, signal });
    } catch (error) {
      this.isOff ||= hasCode(error, ...CLOSED);
      log.warn('Part of a transcript not kept', { name, error: messageOf(error) });
    }
  }
}
