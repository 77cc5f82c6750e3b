import { bearer, createClient, type Credentials, type DroverClient } from '#lib/api-client';
import { Contexts, type Context } from './contexts/contexts.js';
import { storedTokens } from './contexts/credentials.js';
import { LOCAL } from './contexts/local.js';
import { EXIT } from './exit-codes.js';
import { Failure } from './failure.js';
import { Output } from './output/output.js';

export interface CliOptions {
  json: boolean;
  colour: boolean;
  context: string | undefined;
  workspaceId: string | undefined;
}

/** About seven minutes, with the client's pauses. */
const PATIENT_RETRIES = 30;

/** What a command works with: where its words go, and the server of its context. */
export class Cli {
  readonly contexts = Contexts.ofPerson();
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

  /** @throws Failure when no context says which server */
  get drover(): DroverClient {
    return (this.client ??= this.connect());
  }

  /** For what somebody follows: a server that restarts does not end it, and it is said once that one waits. */
  get patient(): DroverClient {
    let isTold = false;
    const onRetry = ({ message }: Error): void => {
      if (!isTold) this.out.note(`drover: ${message}. Trying again.`);
      isTold = true;
    };
    return this.drover.with({ retries: PATIENT_RETRIES, onRetry });
  }

  /** The workspace that the path of a request must name. */
  async workspaceId(): Promise<string> {
    const given = this.options.workspaceId ?? this.access().workspaceId;
    return given ?? (await this.drover.get('/api/v1/auth/caller')).workspaceId;
  }

  /** The environment comes first, then `--context`, then the context in use. */
  access(): Access {
    const given = this.accessOfEnvironment();
    if (given) return given;
    const name = this.options.context ?? this.contexts.currentName();
    if (name === undefined) throw noContext();
    const context = this.contexts.get(name);
    return { name, ...context, credentials: this.credentialsOf(name, context) };
  }

  /** Whether what `drover up` starts here is asked, if anything is. */
  isLocal(): boolean {
    if (this.accessOfEnvironment()) return false;
    return (this.options.context ?? this.contexts.currentName() ?? LOCAL) === LOCAL;
  }

  private accessOfEnvironment(): Access | undefined {
    const { env } = process;
    const url = env['DROVER_API_URL'];
    // Of several credentials those of a run count: they are good for less.
    const token =
      env['DROVER_RUN_TOKEN'] || env['DROVER_AGENT_TOKEN'] || env['DROVER_API_KEY'] || undefined;
    if ((!url && !token) || this.options.context !== undefined) return undefined;
    if (!url || !token) throw halfSaid(url === undefined || url === '');
    const workspaceId = env['DROVER_WORKSPACE_ID'] || undefined;
    return { name: undefined, url: serverOf(url), workspaceId, credentials: bearer(token) };
  }

  private connect(): DroverClient {
    const { url, credentials, ...access } = this.access();
    const workspaceId = this.options.workspaceId ?? access.workspaceId;
    return createClient({ baseUrl: url, credentials, workspaceId });
  }

  private credentialsOf(name: string, { apiKey, tokens }: Context): Credentials {
    if (apiKey !== undefined) return bearer(apiKey);
    if (tokens !== undefined) return storedTokens(this.contexts, name);
    throw noContext();
  }
}

/** Processes of runs are told the address with the path of the API. */
function serverOf(address: string): string {
  return address.replace(/\/$/, '').replace(/\/api\/v1$/, '');
}

export interface Access {
  /** The context's name; undefined when the environment says it all. */
  name: string | undefined;
  url: string;
  workspaceId?: string | undefined;
  credentials: Credentials;
}

/** A command for one server must not go to another, because a variable was forgotten. */
function halfSaid(isUrlMissing: boolean): Failure {
  return new Failure(
    isUrlMissing
      ? 'A key or token is set, and DROVER_API_URL is not.'
      : 'DROVER_API_URL is set, and no DROVER_API_KEY.',
    'Set both, or name a context with --context.',
    EXIT.signIn,
  );
}

function noContext(): Failure {
  return new Failure(
    'No server is known.',
    'Start one here with `drover up`, or sign in to one with `drover login URL`.',
    EXIT.signIn,
  );
}
