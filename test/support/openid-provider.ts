import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export const CLIENT = { id: 'drover', secret: 'the secret of a client of the tests' };

/** The claims of the person who signs in next. */
export interface Person {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
  groups?: string[];
}

/**
 * A real OpenID provider on this machine. It signs in `person` without asking, and confirms codes of
 * devices.
 */
export class TestOpenIdProvider {
  person: Person = { sub: 'nobody' };
  /** Answers 503 to everything. */
  down = false;
  private readonly people = new Map<string, Person>();
  private provider!: Provider;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /**
   * @param publicUrl the address of the Drover server, to which users come back
   * @param options.fullIdTokens ID tokens have all claims, not only the subject
   */
  static async start(
    publicUrl: string,
    { fullIdTokens = false } = {},
  ): Promise<TestOpenIdProvider> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const made = new TestOpenIdProvider(server, `http://127.0.0.1:${port}`);
    made.provider = made.create(publicUrl, fullIdTokens);
    const callback = made.provider.callback();
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (made.down) response.writeHead(503).end();
      else if (request.url?.startsWith('/interaction/')) void made.interact(request, response);
      else void callback(request, response);
    });
    return made;
  }

  /** The settings of a server that uses the provider. */
  settings(publicUrl: string): Record<string, string> {
    return {
      OIDC_ISSUER: this.url,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
      PUBLIC_URL: publicUrl,
    };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Follows an address as the browser of `person` does, up to the one outside of the provider. */
  async follow(address: string, cookies = new Map<string, string>()): Promise<string> {
    let next = address;
    while (next.startsWith(this.url)) {
      const { headers } = await this.ask(next, cookies);
      const location = headers.get('location');
      if (location === null) throw new Error(`${next} ended the sign-in`);
      next = new URL(location, next).href;
    }
    return next;
  }

  /** The ID token of `person`, for an authorization code that a server's sign-in asked for. */
  async idToken({ url, codeVerifier }: { url: string; codeVerifier: string }): Promise<string> {
    const back = new URL(await this.follow(url));
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code: back.searchParams.get('code') ?? '',
      code_verifier: codeVerifier,
      redirect_uri: `${back.origin}${back.pathname}`,
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
    });
    const answer = await fetch(`${this.url}/token`, { method: 'POST', body: form });
    return ((await answer.json()) as { id_token: string }).id_token;
  }

  /** Confirms the code of a device as `person`. */
  async confirmDevice(address: string): Promise<void> {
    const cookies = new Map<string, string>();
    const page = await (await this.ask(address, cookies)).text();
    const form = new URLSearchParams();
    for (const [, name = '', value = ''] of page.matchAll(/name="(xsrf)" value="([^"]+)"/g)) {
      form.set(name, value);
    }
    form.set('user_code', new URL(address).searchParams.get('user_code') ?? '');
    form.set('confirm', 'yes');
    const target = new URL('/device', this.url).href;
    let answer = await this.ask(target, cookies, form);
    for (let location = answer.headers.get('location'); location !== null;) {
      answer = await this.ask(new URL(location, this.url).href, cookies);
      location = answer.headers.get('location');
    }
    const text = await answer.text();
    if (!text.includes('Sign-in Success')) throw new Error(`Not confirmed: ${text.slice(0, 300)}`);
  }

  private async ask(
    address: string,
    cookies: Map<string, string>,
    form?: URLSearchParams,
  ): Promise<Response> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(address, {
      redirect: 'manual',
      headers: { cookie, accept: 'text/html' },
      ...(form && { method: 'POST', body: form }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  }

  private create(publicUrl: string, fullIdTokens: boolean): Provider {
    return new Provider(this.url, {
      conformIdTokenClaims: !fullIdTokens,
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          token_endpoint_auth_method: 'client_secret_post',
          redirect_uris: [`${publicUrl}/sign-in/callback`],
          post_logout_redirect_uris: [`${publicUrl}/`],
          grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
          response_types: ['code'],
        },
      ],
      claims: {
        openid: ['sub'],
        email: ['email', 'email_verified'],
        profile: ['name', 'groups'],
      },
      features: { devInteractions: { enabled: false }, deviceFlow: { enabled: true } },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      pkce: { required: () => true },
      ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
      cookies: { keys: ['a key of the tests'] },
      findAccount: (_, id) => ({
        accountId: id,
        claims: () => Promise.resolve({ ...this.people.get(id), sub: id }),
      }),
    });
  }

  private async interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { params } = await this.provider.interactionDetails(request, response);
    const accountId = this.person.sub;
    this.people.set(accountId, this.person);
    const grant = new this.provider.Grant({ accountId, clientId: String(params['client_id']) });
    grant.addOIDCScope('openid email profile');
    const result = { login: { accountId }, consent: { grantId: await grant.save() } };
    await this.provider.interactionFinished(request, response, result);
  }
}
