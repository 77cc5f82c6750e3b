import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { randomUUID } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { SpawnRequest } from '../domain/spawn.js';

/** The stand-in's reaction to a spawn: an answer, or none at all. */
export type Behaviour =
  | { kind: 'spawn'; status?: 'RUNNING' | 'QUEUED'; afterMs?: number }
  | { kind: 'refuse'; status: number; code: string; retryAfter?: number }
  | { kind: 'hang' }
  /** It starts the session, and its answer is lost. */
  | { kind: 'spawn_and_hang' }
  | { kind: 'unproven' }
  /** Its answer never ends. */
  | { kind: 'endless'; proven: boolean };

export const GATEWAY_SECRET = 'a secret that server and gateway of the tests share';

/** Speaks a gateway's side of the protocol and runs nothing: for tests of the server's side. */
export class StandInGateway {
  id = aName();
  bootId = randomUUID();
  private startedAt = Date.now();
  private sequence = 0;
  behaviour: Behaviour = { kind: 'spawn' };
  /** Bytes sent in answers that do not end. */
  sentBytes = 0;
  /** All calls, in order. */
  readonly spawns: SpawnRequest[] = [];
  readonly stopped: string[] = [];
  readonly sessions = new Map<string, { id: string; sessionKey: string; status: string }>();
  private readonly heard = new Set<() => void>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<StandInGateway> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const gateway = new StandInGateway(server, `http://127.0.0.1:${port}`);
    server.on('request', (request, response) => void gateway.answer(request, response));
    return gateway;
  }

  /** The settings that the server needs for this gateway. */
  get env(): Record<string, string> {
    return { GATEWAY_URL: this.url, GATEWAY_SECRET };
  }

  /** The first fields of each heartbeat: the gateway's identity and the next number. */
  nextHeartbeat() {
    const { id: gatewayId, bootId } = this;
    const startedAt = new Date(this.startedAt).toISOString();
    return { gatewayId, bootId, startedAt, sequence: ++this.sequence };
  }

  /** Begins another life of the gateway. */
  restart(): void {
    this.bootId = randomUUID();
    this.startedAt = Math.max(Date.now(), this.startedAt + 1);
    this.sequence = 0;
  }

  /** Another gateway at the same address, without this one's sessions. */
  replace(): void {
    this.id = aName();
    this.sessions.clear();
    this.restart();
  }

  /** A token of the gateway, for its calls to the server. */
  token(claims: Record<string, unknown> = {}, secret = GATEWAY_SECRET): string {
    return jwt.sign({ typ: 'gateway', ...claims }, secret, {
      ...(claims.iss === undefined ? { issuer: 'drover-gateway' } : {}),
      ...(claims.aud === undefined ? { audience: 'drover:gateway' } : {}),
      ...(claims.sub === undefined ? { subject: this.id } : {}),
      ...(claims.exp === undefined ? { expiresIn: 60 } : {}),
      ...('jti' in claims ? {} : { jwtid: randomUUID() }),
    });
  }

  /** Resolves when the condition holds. It is checked after each call. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.heard.add(resolve));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const passport = this.passportOf(request);
    const text = await bodyOf(request);
    const send = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      const { behaviour } = this;
      const unproven =
        behaviour.kind === 'endless' ? !behaviour.proven : behaviour.kind === 'unproven';
      const proof = unproven ? {} : this.proof(passport.jti);
      response.writeHead(status, { 'content-type': 'application/json', ...proof, ...headers });
      if (behaviour.kind === 'endless') return this.sendForEver(response);
      response.end(JSON.stringify(body));
    };
    if (request.method === 'DELETE') {
      this.stopped.push((request.url ?? '').split('/').at(-1)?.split('?')[0] ?? '');
      send(202, {});
    } else {
      const spawn = JSON.parse(text) as SpawnRequest;
      this.spawns.push(spawn);
      this.answerSpawn(spawn, send);
    }
    this.tellAll();
  }

  private sendForEver(response: ServerResponse): void {
    const chunk = Buffer.alloc(65_536, ' ');
    const source = new Readable({
      read: () => {
        this.sentBytes += chunk.length;
        source.push(chunk);
      },
    });
    response.once('close', () => {
      source.destroy();
      this.tellAll();
    });
    source.pipe(response);
  }

  private tellAll(): void {
    for (const notify of this.heard) notify();
    this.heard.clear();
  }

  private answerSpawn(
    spawn: SpawnRequest,
    send: (status: number, body: unknown, headers?: Record<string, string>) => void,
  ): void {
    const { behaviour } = this;
    if (behaviour.kind === 'hang') return;
    if (behaviour.kind === 'refuse') {
      const { status, code, retryAfter } = behaviour;
      const headers = retryAfter === undefined ? undefined : { 'retry-after': String(retryAfter) };
      send(status, { code, title: 'No' }, headers);
      return;
    }
    const status = behaviour.kind === 'spawn' ? (behaviour.status ?? 'RUNNING') : 'RUNNING';
    const known = this.sessions.get(spawn.runId);
    const id = randomUUID();
    const session = known ?? { id, sessionKey: `gateway:${this.id}:${id}`, status };
    this.sessions.set(spawn.runId, session);
    if (behaviour.kind === 'spawn_and_hang') return;
    const gateway = { id: this.id, bootId: this.bootId, sequence: this.sequence };
    const answer = () => send(known ? 200 : 201, { session, gateway });
    const afterMs = behaviour.kind === 'spawn' ? behaviour.afterMs : undefined;
    if (afterMs === undefined) answer();
    else setTimeout(answer, afterMs);
  }

  private passportOf(request: IncomingMessage): jwt.JwtPayload {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    return jwt.verify(token, GATEWAY_SECRET, {
      algorithms: ['HS256'],
      issuer: 'drover-server',
      audience: 'drover-gateway',
    }) as jwt.JwtPayload;
  }

  private proof(subject: string | undefined): Record<string, string> {
    const claims = { issuer: 'drover-gateway', audience: 'drover-server', expiresIn: 60 };
    return { 'drover-gateway-proof': jwt.sign({ sub: subject }, GATEWAY_SECRET, claims) };
  }
}

const aName = () => `gateway-${randomUUID().slice(0, 8)}`;

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
