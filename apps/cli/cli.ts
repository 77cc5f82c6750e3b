import { bearer, type Credentials, type DroverClient } from '#lib/api-client';
import { droverHome } from '#lib/kernel';
import { connectTo, splitAddresses } from './connect.js';
import { Contexts, type Context } from './contexts/contexts.js';
import { storedTokens } from './contexts/credentials.js';
import { LOCAL, startCommand } from './contexts/local.js';
import { EXIT } from './exit-codes.js';
import { Failure } from './failure.js';
import { Output } from './output/output.js';

export interface CliOptions {
  json: boolean;
  colour: boolean;
  context: string | undefined;
  workspaceId: string | undefined;
}

/** With the client's pauses, this number of retries takes about 7 minutes. */
const PATIENT_RETRIES = 30;

/** The environment of a command: its output, its contexts and the client of its server. */
export class Cli {
  readonly contexts = Contexts.ofUser();
  readonly out: Output;
  private client: DroverClient | undefined;

  constructor(readonly options: CliOptions) {
    const { json, colour } = options;
    const terminal = process.stdout.isTTY === true;
    this.out = new Output(
      {
        json,
        terminal,
        colour: colour && terminal && !process.env['NO_COLOR'],
        width: process.stdout.columns ?? Number(process.env['COLUMNS'] ?? 80),
      },
      (text) => process.stdout.write(text),
      (text) => process.stderr.write(text),
    );
  }

  /** @throws Failure if no context names a server */
  get drover(): DroverClient {
    return (this.client ??= this.connect());
  }

  /** A client for commands that follow something. It survives a restart, with one note. */
  get patient(): DroverClient {
    let hasNoted = false;
    const onRetry = ({ message }: Error): void => {
      if (!hasNoted) this.out.note(`drover: ${message}. Retrying.`);
      hasNoted = true;
    };
    return this.drover.with({ retries: PATIENT_RETRIES, onRetry });
  }

  /** The workspace ID for request paths. */
  async workspaceId(): Promise<string> {
    const id = this.options.workspaceId ?? this.access().workspaceId;
    return id ?? (await this.drover.get('/api/v1/auth/caller')).workspaceId;
  }

  /**
   * Stores the workspace of the context if the context names none. A user of one workspace needs no
   * name for it, until there is another one.
   */
  async keepWorkspace(): Promise<void> {
    const { name, workspaceId } = this.access();
    if (name === undefined || workspaceId !== undefined) return;
    const caller = await this.drover.get('/api/v1/auth/caller').catch(() => undefined);
    if (caller === undefined) return;
    this.contexts.put(name, { ...this.contexts.get(name), workspaceId: caller.workspaceId });
  }

  /** Resolves the server: `--context`, then the environment, then the current context. */
  access(): Access {
    const access = this.readEnvironment();
    if (access) return access;
    const name = this.options.context ?? this.contexts.currentName();
    if (name === undefined) throw noContext();
    const context = this.contexts.get(name);
    return { name, ...context, credentials: this.toCredentials(name, context) };
  }

  /** Whether commands go to the server of `drover up`, or to no server. */
  isLocal(): boolean {
    if (this.readEnvironment()) return false;
    return (this.options.context ?? this.contexts.currentName() ?? LOCAL) === LOCAL;
  }

  private readEnvironment(): Access | undefined {
    const { env } = process;
    const url = env['DROVER_API_URL'];
    // The run token comes first, because it has the fewest rights.
    const token =
      env['DROVER_RUN_TOKEN'] || env['DROVER_AGENT_TOKEN'] || env['DROVER_API_KEY'] || undefined;
    if ((!url && !token) || this.options.context !== undefined) return undefined;
    if (!url || !token) throw incompleteEnvironment(url === undefined || url === '');
    const workspaceId = env['DROVER_WORKSPACE_ID'] || undefined;
    return { name: undefined, url: stripApiPath(url), workspaceId, credentials: bearer(token) };
  }

  private connect(): DroverClient {
    const { url, credentials, ...access } = this.access();
    const workspaceId = this.options.workspaceId ?? access.workspaceId;
    return connectTo({ baseUrl: url, credentials, workspaceId });
  }

  private toCredentials(name: string, { apiKey, tokens }: Context): Credentials {
    if (apiKey !== undefined) return bearer(apiKey);
    if (tokens !== undefined) return storedTokens(this.contexts, name);
    throw noContext();
  }
}

/** Removes the API path, which the environment of a run includes, from each address. */
function stripApiPath(addresses: string): string {
  return splitAddresses(addresses)
    .map((address) => address.replace(/\/$/, '').replace(/\/api\/v1$/, ''))
    .join();
}

export interface Access {
  /** The context's name. It is undefined if the environment names the server. */
  name: string | undefined;
  /** The address of the server, or several of one installation with commas between them. */
  url: string;
  workspaceId?: string | undefined;
  credentials: Credentials;
}

/** A missing variable must not send a command to another server. */
function incompleteEnvironment(isUrlMissing: boolean): Failure {
  return new Failure(
    isUrlMissing
      ? 'A key or token is set, but DROVER_API_URL is not.'
      : 'DROVER_API_URL is set, but there is no DROVER_API_KEY.',
    'Set both variables, or choose a context with --context.',
    EXIT.signIn,
  );
}

function noContext(): Failure {
  return new Failure(
    `No server is configured. There is none in ${droverHome()}.`,
    `Start one with \`${startCommand()}\`, name its folder in DROVER_HOME, or sign in to one with \`drover login URL\`.`,
    EXIT.signIn,
  );
}
