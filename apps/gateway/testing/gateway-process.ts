import { createSecretKey } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import jwt from 'jsonwebtoken';
import { newId } from '#lib/kernel';
import { BuiltProcess } from '../../../test/support/processes.js';
import type { SessionRecord, SessionView } from '../sessions/domain/session.js';

export const SECRET = 'a-gateway-secret-of-more-than-32-characters';

export interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown> & { session?: SessionView; sessions?: SessionView[] };
}

/** The built gateway as a process that a test can restart. */
export class TestGateway {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'drover-gateway-test-'));
  private process: BuiltProcess | undefined;
  url = '';
  gatewayId = '';
  bootId = '';

  constructor(private readonly env: Record<string, string>) {}

  async start(more: Record<string, string> = {}): Promise<this> {
    const gateway = BuiltProcess.start('apps/gateway/main.js', {
      GATEWAY_SECRET: SECRET,
      GATEWAY_DATA_DIR: this.dataDir,
      GATEWAY_HEARTBEAT_SECONDS: '1',
      PORT: '0',
      ...this.env,
      ...more,
    });
    this.process = gateway;
    const line = await gateway.said('listening');
    this.url = line['address'] as string;
    this.gatewayId = line['gatewayId'] as string;
    this.bootId = line['bootId'] as string;
    return this;
  }

  kill(signal: NodeJS.Signals): void {
    this.running.kill(signal);
  }

  said(message: string): Promise<Record<string, unknown>> {
    return this.running.said(message);
  }

  /** The number of its log lines with this message. */
  count(message: string): number {
    return this.running.count(message);
  }

  ended(): Promise<number | NodeJS.Signals | null> {
    return this.running.ended();
  }

  async crash(): Promise<void> {
    this.kill('SIGKILL');
    await this.ended();
  }

  /** The number of reports that the server has not acknowledged, read from the records. */
  pendingReports(): number {
    const dir = join(this.dataDir, 'records');
    const files = readdirSync(dir).filter((name) => name.endsWith('.json'));
    const records = files.map((name) => JSON.parse(readFileSync(join(dir, name), 'utf8')));
    return (records as SessionRecord[]).reduce((sum, { reports }) => sum + reports.length, 0);
  }

  /** Ends the gateway and its sessions, and removes its folder. */
  async dispose(): Promise<void> {
    const gateway = this.process;
    if (gateway !== undefined) {
      gateway.kill('SIGTERM');
      // Two signals at once arrive as one.
      const asked = gateway.said('Shutting down').then(() => gateway.kill('SIGTERM'));
      await Promise.all([gateway.ended(), asked.catch(() => undefined)]);
    }
    rmSync(this.dataDir, { recursive: true, force: true, maxRetries: 5 });
  }

  async ask(method: string, path: string, body?: unknown, token = serverToken()): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: typeof body === 'string' || body === undefined ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const parsed = text === '' ? {} : (JSON.parse(text) as Answer['body']);
    return { status: response.status, headers: response.headers, body: parsed };
  }

  spawn(body: object): Promise<Answer> {
    return this.ask('POST', '/api/agents/spawn', body);
  }

  async session(id: string): Promise<SessionView> {
    const { body } = await this.ask('GET', `/api/sessions/${id}`);
    if (body.session === undefined) throw new Error(JSON.stringify(body));
    return body.session;
  }

  private get running(): BuiltProcess {
    if (this.process === undefined) throw new Error('the gateway was not started');
    return this.process;
  }
}

/** The token of a server. A test can change its claims. */
export function serverToken(claims: object = {}, secret = SECRET, algorithm = 'HS256'): string {
  const iat = Math.floor(Date.now() / 1000);
  const payload = {
    iss: 'drover-server',
    aud: 'drover-gateway',
    jti: newId(),
    iat,
    exp: iat + 60,
    ...claims,
  };
  const key = algorithm === 'none' ? '' : createSecretKey(Buffer.from(secret));
  // JSON drops undefined claims.
  return jwt.sign(JSON.parse(JSON.stringify(payload)) as object, key, {
    algorithm: algorithm as jwt.Algorithm,
  });
}

/** A script that sleeps, with a mark in its command line. */
export const sleeper = (seconds: string) => `exec sleep ${seconds}`;

/** A request for a session of an unknown run. */
export function aSpawn(script: string, more: object = {}) {
  return {
    workspaceId: newId(),
    agentId: newId(),
    taskId: newId(),
    runId: newId(),
    generation: 1,
    label: 'task:test',
    context: {
      taskTitle: 'A test',
      taskDescription: null,
      inputContext: { apiKey: 'input-secret-value', depth: 3 },
      checkpointData: { page: 7 },
    },
    runToken: 'run-token-that-nobody-may-read',
    apiUrl: 'http://127.0.0.1:1/api/v1',
    command: ['sh', '-c', script],
    ...more,
  };
}
