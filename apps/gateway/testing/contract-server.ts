import { createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import jwt from 'jsonwebtoken';
import { waitFor } from '../../../test/support/wait-for.js';

export interface SeenReport {
  runId: string;
  sessionKey: string;
  event: string;
  at: string;
  pid?: number;
  exitCode?: number;
  signal?: string;
  oomKilled?: boolean;
  output?: string;
  error?: { class: string; message: string };
}

export interface SeenHeartbeat {
  gatewayId: string;
  bootId: string;
  sequence: number;
  draining: boolean;
  capacity: number;
  running: number;
  queued: number;
  sessions: { runId: string; sessionKey: string; status: string }[];
  ended: string[];
  /** The number of reports before it. */
  reportsBefore: number;
}

interface Order {
  runId: string;
  action: 'stop' | 'pause' | 'warn';
  reason: string;
  graceSeconds: number;
}

type Refusal = number | undefined;

/** A real HTTP server with the server's side of the contract. It records the calls. */
export class ContractServer {
  readonly heartbeats: SeenHeartbeat[] = [];
  readonly reports: SeenReport[] = [];
  readonly refused: string[] = [];
  /** Sent to the gateway, by long poll, until the session's end was reported. */
  readonly orders: Order[] = [];
  /** Sent to the gateway in the answers to its next heartbeats. */
  readonly stops: Omit<Order, 'action'>[] = [];
  /** The status of refused reports. A function decides by the reports, and can take its time. */
  refuseReports: (reports: SeenReport[]) => Refusal | Promise<Refusal> = () => undefined;
  /** Its proof for the token with this id. A test can replace it, or remove it. */
  proof: (tokenId: string) => string | undefined = (id) => this.proofFor(id);
  /** True if its answers never end. */
  endless = false;
  /** The number of calls for signals. */
  polls = 0;
  /** The number of answers that the gateway gave up before their end. */
  abandoned = 0;
  private server: Server | undefined;
  private port = 0;

  /**
   * @param secret the gateway's secret; a test can change it later
   */
  constructor(public secret: string) {}

  get apiUrl(): string {
    return `http://127.0.0.1:${this.port}/api/v1`;
  }

  /** Listens. After `stop` it uses the same port again. */
  async start(): Promise<void> {
    const server = createServer((request, response) => void this.answer(request, response));
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  async stop(): Promise<void> {
    const { server } = this;
    if (server === undefined) return;
    this.server = undefined;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  reportsOf(runId: string): SeenReport[] {
    return this.reports.filter((report) => report.runId === runId);
  }

  /** The report of the end of a run's session. */
  endOf(runId: string): Promise<SeenReport> {
    return waitFor(`the end of ${runId}`, () =>
      this.reportsOf(runId).find(({ event }) => event !== 'started'),
    );
  }

  proofFor(tokenId: string): string {
    const payload = { iss: 'drover-server', aud: 'drover:gateway-proof', sub: tokenId };
    return jwt.sign(payload, createSecretKey(Buffer.from(this.secret)), { expiresIn: 60 });
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: object): void => {
      const proof = this.proof(tokenIdOf(request));
      const headers = proof === undefined ? {} : { 'drover-server-proof': proof };
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      if (!this.endless) return void response.end(JSON.stringify(body));
      response.once('close', () => (this.abandoned += 1));
      Readable.from(spaces()).pipe(response);
    };
    const body: unknown = await json(request).catch(() => undefined);
    const why = this.whyRefused(request);
    if (why !== undefined) {
      this.refused.push(why);
      return send(401, { code: 'invalid_token' });
    }
    switch (request.url) {
      case '/api/v1/gateway/heartbeat':
        this.heartbeats.push({ ...(body as SeenHeartbeat), reportsBefore: this.reports.length });
        return send(200, {
          acknowledgedAt: new Date().toISOString(),
          restarted: false,
          stop: this.stops,
        });
      case '/api/v1/gateway/sessions': {
        const { reports } = body as { reports: SeenReport[] };
        const status = await this.refuseReports(reports);
        if (status !== undefined) return send(status, { code: 'refused' });
        this.reports.push(...reports);
        return send(200, { results: reports.map(({ runId }) => ({ runId, applied: true })) });
      }
      case '/api/v1/gateway/signals':
        this.polls += 1;
        return this.signal(body as { runIds: string[]; waitMs: number }, response, send);
      default:
        return send(404, { code: 'route_not_found' });
    }
  }

  private async signal(
    { runIds, waitMs }: { runIds: string[]; waitMs: number },
    response: ServerResponse,
    send: (status: number, body: object) => void,
  ): Promise<void> {
    const due = () => this.orders.filter(({ runId }) => runIds.includes(runId));
    await waitFor('an order', () => due().length > 0 || response.destroyed, waitMs).catch(() => {});
    if (!response.destroyed) send(200, { runs: due() });
  }

  private whyRefused({ headers }: IncomingMessage): string | undefined {
    try {
      const key = createSecretKey(Buffer.from(this.secret));
      const token = headers.authorization?.replace('Bearer ', '') ?? '';
      const claims = jwt.verify(token, key, {
        algorithms: ['HS256'],
        issuer: 'drover-gateway',
        audience: 'drover:gateway',
      }) as jwt.JwtPayload;
      const lasts = (claims.exp ?? 0) - (claims.iat ?? 0);
      return claims['typ'] === 'gateway' && lasts === 60 ? undefined : 'claims';
    } catch (error) {
      return (error as Error).message;
    }
  }
}

function tokenIdOf({ headers }: IncomingMessage): string {
  const claims = jwt.decode(headers.authorization?.replace('Bearer ', '') ?? '');
  return (claims as jwt.JwtPayload | null)?.jti ?? '';
}

/** JSON that never begins. */
function* spaces(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(65_536, ' ');
}
