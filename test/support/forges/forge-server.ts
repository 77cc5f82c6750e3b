import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { askBackend, bodyOf } from '../../../libs/code/git/proxy/http-backend.js';
import { BOT, ForgeModel, Refused } from './forge-model.js';
import { API as GITEA, giteaRoutes } from './gitea-routes.js';
import { API as GITHUB, githubRoutes } from './github-routes.js';
import { type Routes, routeOf } from './routes.js';

export type ForgeKind = 'github' | 'gitea';

/** An answer in place of the forge's own. */
export interface Fault {
  status: number;
  headers?: Record<string, string>;
  message?: string;
}

/** A request to the API or to git: `POST /repos/team/shop/pulls`, `push refs/heads/main`. */
export type Watch = (request: string, when: 'before' | 'after') => Fault | 'drop' | undefined;

const KINDS = {
  github: { prefix: GITHUB, routes: githubRoutes, seesMerges: true },
  gitea: { prefix: GITEA, routes: giteaRoutes, seesMerges: false },
};

/**
 * A stand-in for a forge: its API over real git, which git's own server serves. It has one
 * repository, `team/shop`.
 */
export class ForgeServer {
  readonly token = 'token-of-the-forge';
  readonly requests: string[] = [];
  /** Sees each request. What it returns is the answer. */
  watch: Watch = () => undefined;

  private constructor(
    readonly kind: ForgeKind,
    readonly model: ForgeModel,
    private readonly server: Server,
    private readonly prefix: string,
    private readonly routes: Routes,
  ) {}

  /** @param gitDir a bare repository */
  static async start(kind: ForgeKind, gitDir: string): Promise<ForgeServer> {
    const { prefix, routes, seesMerges } = KINDS[kind];
    const model = new ForgeModel(gitDir, seesMerges);
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/team/shop`;
    const forge = new ForgeServer(kind, model, server, prefix, routes(model, { origin }));
    server.on('request', (request: IncomingMessage, answer: ServerResponse) => {
      void forge.serve(request, answer).catch(() => answer.destroy());
    });
    return forge;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/team/shop.git`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** An event as the forge sends it. @param delivery the same for a repetition */
  event(name: string, payload: object, secret: string, delivery: string): RequestInit {
    const repository = { full_name: 'team/shop', clone_url: this.url };
    const body = JSON.stringify({ ...payload, repository });
    const digest = createHmac('sha256', secret).update(body).digest('hex');
    const headers: Record<string, string> =
      this.kind === 'github'
        ? {
            'x-github-event': name,
            'x-github-delivery': delivery,
            'x-hub-signature-256': `sha256=${digest}`,
          }
        : { 'x-gitea-event': name, 'x-gitea-delivery': delivery, 'x-gitea-signature': digest };
    return { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } };
  }

  private async serve(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://forge');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    if (url.pathname.startsWith(this.prefix)) this.answer(request, answer, { url, bytes });
    else await this.serveGit(request, answer, { url, bytes });
  }

  private answer(
    { method = 'GET', headers }: IncomingMessage,
    answer: ServerResponse,
    { url, bytes }: { url: URL; bytes: Buffer },
  ): void {
    const path = url.pathname.slice(this.prefix.length);
    const name = `${method} ${path}`;
    this.requests.push(name);
    const send = (status: number, body: unknown, more: Record<string, string> = {}): void => {
      answer.writeHead(status, { 'content-type': 'application/json', ...more });
      answer.end(body === undefined ? '' : JSON.stringify(body));
    };
    const meddle = (when: 'before' | 'after'): boolean => {
      const fault = this.watch(name, when);
      if (fault === 'drop') answer.destroy();
      else if (fault) send(fault.status, { message: fault.message ?? 'A fault' }, fault.headers);
      return fault !== undefined;
    };
    if (!/^(?:token|bearer) token-of-the-forge$/i.test(headers.authorization ?? '')) {
      return send(401, { message: 'Bad credentials' });
    }
    if (meddle('before')) return;
    const route = routeOf(this.routes, method, path);
    if (route === undefined) return send(404, { message: 'Not Found' });
    try {
      const body: unknown = bytes.length === 0 ? {} : JSON.parse(bytes.toString());
      const { parts } = route;
      const asked = { path: parts, number: Number(parts['number']), query: url.searchParams };
      const data = this.routes[route.name]?.({ ...asked, body, login: BOT });
      if (meddle('after')) return;
      send(method === 'POST' && data !== undefined ? 201 : 200, data);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      send(error.status, { message: error.message });
    }
  }

  private async serveGit(
    request: IncomingMessage,
    answer: ServerResponse,
    { url, bytes }: { url: URL; bytes: Buffer },
  ): Promise<void> {
    const basic = Buffer.from(`x-access-token:${this.token}`).toString('base64');
    if (request.headers.authorization !== `Basic ${basic}`) {
      answer.writeHead(401, { 'www-authenticate': 'Basic' }).end();
      return;
    }
    const isPush = url.pathname.endsWith('/git-receive-pack');
    const [, ref = ''] = /(refs\/[^\0\s]+)/.exec(bytes.toString('latin1')) ?? [];
    const name = `push ${ref}`;
    if (isPush) this.requests.push(name);
    if (isPush && this.watch(name, 'before') !== undefined) return void answer.destroy();
    const found = await askBackend({
      gitDir: this.model.gitDir,
      path: url.pathname.replace(/^\/team\/shop\.git/, ''),
      query: url.search.slice(1),
      request,
      body: Readable.from([bytes]),
      config: [
        ['http.receivepack', 'true'],
        ['core.hooksPath', `${this.model.gitDir}/hooks`],
      ],
    });
    const body = await bodyOf(found);
    if (isPush && this.watch(name, 'after') !== undefined) return void answer.destroy();
    answer.writeHead(found.status, found.headers).end(body);
  }
}
